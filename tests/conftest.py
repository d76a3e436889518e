import gc
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import pytest

from knuckle.engine.native import machine_code

from .seeds import Together, sample
from .shares import Seconds, evenly, seconds_per_case

OPTIMIZED = ("engine", "bound", "test_rollout.py")
"""Whose subject is compiled code: it is optimized as for users. In `make test-all` all code is."""


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled kernels go to a folder of this run, one for all its workers: the user's is neither read nor written."""
    of_this_process = tmp_path_factory.getbasetemp()
    of_the_run = of_this_process.parent if "PYTEST_XDIST_WORKER" in os.environ else of_this_process
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNUCKLE_CACHE_DIR", str(of_the_run / "kernels"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell has what runs in the background ignore Ctrl-C, and so would all that the tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-seconds", action="store_true", help="put what cases take into seconds_per_case.tsv")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.write_seconds and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow are the cases of a `sampled` test that are not in its sample, and those beyond the share of their test."""
    listed = seconds_per_case()
    cases: defaultdict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and "slow" not in item.keywords:
            cases[item.nodeid.partition("[")[0]].append(item)
    for name, group in cases.items():
        if group[0].get_closest_marker("sampled"):
            chosen = sample([{name: id(value) for name, value in item.callspec.params.items()} for item in group])
            group = _slow_but(group, chosen)
        if name in listed:
            _slow_but(group, evenly(len(group), listed[name]))


def _slow_but(group: list[pytest.Function], chosen: set[int]) -> list[pytest.Function]:
    """The chosen cases; the others are marked."""
    for k in set(range(len(group))) - chosen:
        group[k].add_marker(pytest.mark.slow)
    return [group[k] for k in sorted(chosen)]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test once for each of the values that come together, in all combinations; an error says for which."""
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    together = {name: value for name, value in arguments.items() if isinstance(value, Together)}
    if not together:
        return None
    for values in product(*together.values()):
        these = dict(zip(together, values, strict=True))
        try:
            pyfuncitem.obj(**arguments | these)
        except Exception as error:
            error.add_note(f"with {these}")
            raise
    return True


def pytest_collection_finish() -> None:
    """Modules and tests stay, and programs have many nodes: the collector of garbage need not visit them so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def _quickly_compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `make test` LLVM leaves code as it is printed, which takes a quarter of the time."""
    if request.config.option.markexpr and not {*OPTIMIZED}.intersection(request.path.parts):
        monkeypatch.setattr(machine_code, "LEVEL", 0)
