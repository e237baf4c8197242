from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Kernels compile inside the first example, so no example has a deadline; runs are repeatable from the database alone.
settings.register_profile(
    "wayfold",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("wayfold")


def pytest_addoption(parser):
    parser.addoption("--data", default=os.environ.get("WAYFOLD_DATA"), help="folder with the real maps and meshes")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A folder of the tests' own for what worlds keep on disk."""
    os.environ["WAYFOLD_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def data(request):
    """The folder of real data; tests that need it skip when it is not named."""
    folder = request.config.getoption("--data")
    if not folder:
        pytest.skip("needs real data: pass --data DIR or set WAYFOLD_DATA")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"the data folder {path} does not exist")
    return path
