"""Where calls go straight to native code."""

import sys
import sysconfig

import pytest

on_cpython = pytest.mark.skipif(
    sys.implementation.name != "cpython"
    or sys.platform != "linux"
    or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="another interpreter",
)
"""Tests of what must work there, rather than of what may be left to Python."""
