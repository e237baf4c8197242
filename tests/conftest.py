from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, core, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers


def pytest_addoption(parser):
    parser.addoption("--data", default=os.environ.get("WAYFOLD_DATA"), help="folder with the real maps and meshes")
    parser.addoption(
        "--seed",
        type=int,
        default=int(os.environ.get("WAYFOLD_SEED", "0")),
        help="draw other random worlds than `make test` does (0)",
    )


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: tests of Ctrl-C need it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    seed = config.getoption("--seed")
    os.environ["WAYFOLD_SEED"] = str(seed)  # for tests/draws.py, here and in the workers of a parallel run
    # Kernels compile inside the first example, so no example has a deadline. No database: a run depends on its seed
    # alone, not on what failed on this machine before.
    settings.register_profile(
        "wayfold",
        deadline=None,
        derandomize=seed == 0,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile("wayfold")
    # Hypothesis also draws numbers that it finds in the modules that happen to be loaded: with those, what a test draws
    # would depend on which tests ran before it in the same process.
    providers._get_local_constants = lambda: providers._local_constants
    if seed:
        core.global_force_seed = seed  # what --hypothesis-seed sets


def pytest_collection_modifyitems(items):
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")


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


@pytest.fixture
def counted(record_property):
    """Counts changed worlds and compared answers of a map, for the summary of the metamorphic suite."""

    def count(name, worlds, answers):
        record_property("metamorphic", (name, worlds, answers))

    return count


def pytest_terminal_summary(terminalreporter):
    """One line for each map of the metamorphic suite: on how many changed worlds it was asked how much."""
    totals = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, value in getattr(report, "user_properties", ()):
                if key == "metamorphic" and report.when == "call":
                    name, worlds, answers = value
                    before = totals.get(name, (0, 0))
                    totals[name] = (before[0] + worlds, before[1] + answers)
    if totals:
        terminalreporter.section("metamorphic suite")
        for name, (worlds, answers) in sorted(totals.items()):
            terminalreporter.write_line(f"{name}: {worlds:,} changed worlds, {answers:,} answers compared")
