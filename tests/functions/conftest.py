from ..engine.calls.conftest import _plain, compilation, model, public  # noqa: F401 - fixtures
