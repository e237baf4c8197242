"""Former names of arguments, methods and properties: taken for one version, with a warning that says the new one."""

from __future__ import annotations

import inspect

import pytest

from wayfold.core import checks
from wayfold.errors import ParameterError


@checks.checked
class Map:
    """A class whose names have changed."""

    @checks.renamed(quick=("exact", checks.opposite("quick")), reach="max_distance")
    def path(self, start: int, *, exact: bool = True, max_distance: float = 1.0) -> tuple[int, bool, float]:
        return start, exact, max_distance

    route = checks.moved("route", "path")

    @property
    def areas(self) -> int:
        return 3

    kinds = checks.moved_property("kinds", "areas")


@pytest.mark.parametrize(
    ("former", "result", "said"),
    [
        ({"quick": True}, (1, False, 1.0), "path: quick= is now exact="),
        ({"quick": False}, (1, True, 1.0), "path: quick= is now exact="),
        ({"reach": 4.0}, (1, True, 4.0), "path: reach= is now max_distance="),
    ],
)
def test_former_arguments_work_and_warn_where_they_are_written(former, result, said):
    with pytest.warns(DeprecationWarning, match=f"^{said}$") as warned:
        assert Map().path(1, **former) == result
    assert warned[0].filename == __file__


def test_new_arguments_do_not_warn(recwarn):
    assert Map().path(1, exact=False, max_distance=2.0) == (1, False, 2.0)
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore:path")
def test_former_arguments_are_checked_like_new_ones():
    with pytest.raises(ParameterError, match="quick must be"):
        Map().path(1, quick="yes")
    with pytest.raises(TypeError, match="both were given"):
        Map().path(1, reach=1.0, max_distance=2.0)


def test_former_methods_and_properties_warn_where_they_are_written():
    with pytest.warns(DeprecationWarning, match="^route is now path$") as warned:
        assert Map().route(2, exact=False) == (2, False, 1.0)
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="^kinds is now areas$") as warned:
        assert Map().kinds == 3
    assert warned[0].filename == __file__


def test_signatures_show_the_new_names_alone():
    assert list(inspect.signature(Map.path).parameters) == ["self", "start", "exact", "max_distance"]
