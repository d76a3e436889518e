"""Printed functions say what they were printed for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn

from .mechanisms import arm


@pytest.mark.parametrize(
    ("options", "said"), [({}, ""), ({"expressed_in": "world"}, ", expressed_in='world'")], ids=["plain", "world"]
)
def test_c_names_its_mechanism_and_options(options: dict[str, Any], said: str) -> None:
    text = kn.jacobian.source(arm(), language="c", frame="tool", **options)
    assert text.splitlines()[1] == f" * jacobian: for {arm().name}, frame='tool'{said}"


def test_c_of_a_kernel_names_its_mechanism() -> None:
    @kn.kernel
    def doubled(model: kn.Model, q: Any) -> Any:
        return q + q

    assert doubled.source(arm(), language="c").splitlines()[1] == f" * doubled: for {arm().name}"


def test_a_name_cannot_end_the_comment() -> None:
    text = kn.gravity_force.source(arm().replace(name="*/ int x; /*"), language="c")
    assert text.count("*/") == text.count("/*") == 1


def test_a_mechanism_without_a_name() -> None:
    assert "gravity_force: for a mechanism\n" in kn.gravity_force.source(arm().replace(name=""), language="c")


def test_the_comment_has_the_order_of_joints_and_the_frame() -> None:
    model = kn.robots.load("quadruped")
    text = " ".join(kn.jacobian.source(model, language="c", frame="trunk", expressed_in="aligned").split(" * "))
    places = [text.index(f"{name} [") for name in model.joint_names[1:]]
    assert places == sorted(places)
    assert "floating_base.w [1]" in text
    assert "floating_base.px" in text
    words = " ".join(text.split())
    assert "The frame trunk is on trunk" in words
    assert "in the axes of the base, at the origin of the frame" in words
    assert "own coordinates" in words


def test_functions_of_several_models_are_linked_together(tmp_path: Path) -> None:
    """Two mechanisms in one program of C, each by its header; the sizes in the headers are those of the arrays."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    sources, calls = list[str](), list[str]()
    for name in ("pendulum", "cart_pole"):
        model, word = kn.robots.load(name), f"{name}_gravity_force"
        (tmp_path / f"{name}.c").write_text(kn.gravity_force.source(model, language="c", prefix=f"{name}_"))
        (tmp_path / f"{name}.h").write_text(kn.gravity_force.header(model, prefix=f"{name}_"))
        sources.append(str(tmp_path / f"{name}.c"))
        size = f"{word.upper()}_Q_SIZE"
        calls.append(
            f"{{ double q[{size}], out[{word.upper()}_OUT_SIZE]; for (int i = 0; i < {size}; i++) q[i] = 0.3 + i; "
            f'{word}(q, out); for (int i = 0; i < {size}; i++) printf("%.17g\\n", out[i]); }}'
        )
    heads = "".join(f'#include "{name}.h"\n#include "{name}.h"\n' for name in ("pendulum", "cart_pole"))
    main = tmp_path / "main.c"
    main.write_text(f"#include <stdio.h>\n{heads}int main(void) {{ {' '.join(calls)} return 0; }}\n")
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([compiler, *flags, str(main), *sources, "-o", str(tmp_path / "main"), "-lm"], check=True)
    printed = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True).stdout
    models = [kn.robots.load(name) for name in ("pendulum", "cart_pole")]
    expected = np.concatenate([kn.gravity_force(model, 0.3 + np.arange(model.nq)) for model in models])
    np.testing.assert_allclose(np.array(printed.split(), float), expected, rtol=1e-14, atol=1e-14)
