from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled kernels go to a folder of this run: the user's is neither read nor written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield
