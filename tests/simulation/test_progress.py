"""How far a run is: the bar, the function, and nothing where nothing is wanted."""

import io
import signal
import threading

import knuckle as kn
from knuckle.simulation.long_runs import progress
from knuckle.simulation.long_runs.progress import Reporter, interruptible

PENDULUM = kn.robots.load("double_pendulum")


def test_a_function_hears_how_far_it_is(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    heard = []
    kn.simulate(PENDULUM, [1.0, 0.0], None, 0.05, controller=lambda model, v: -v, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    assert len(heard) == 50


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, wanted, patience=0.0):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    reporter = Reporter(wanted, "simulating arm")
    for k in range(1, 6):
        reporter.report(k / 5)
    reporter.close()
    return stream.getvalue()


def test_a_bar_appears_in_a_terminal_only_and_only_on_long_runs(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert "simulating arm" in shown(monkeypatch, Terminal(), None)
    assert shown(monkeypatch, io.StringIO(), None) == ""
    assert shown(monkeypatch, Terminal(), None, patience=100.0) == ""
    assert shown(monkeypatch, Terminal(), False) == ""
    assert "simulating arm" in shown(monkeypatch, io.StringIO(), True)


def test_the_first_ctrl_c_sets_a_flag_and_the_second_interrupts():
    with interruptible() as interrupt:
        assert not interrupt.pressed
        signal.raise_signal(signal.SIGINT)
        assert interrupt.pressed
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            second = True
        else:
            second = False
    assert second
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_other_handlers_are_left_alone():
    seen = []

    def inside():
        with interruptible():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    own = lambda number, frame: None  # noqa: E731
    before = signal.signal(signal.SIGINT, own)
    try:
        inside()
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.default_int_handler, own]
