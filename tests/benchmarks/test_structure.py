"""What tells how large the package is, on a small package whose figures are known."""

from __future__ import annotations

import ast

from benchmarks import structure

FILES = {
    "__init__.py": '"""A package of two packages."""\n',
    "upper/__init__.py": "from small.upper.front import Front\n",
    "upper/front.py": """
'''What users see.'''
from small.lower.back import Back
from small.upper import helper


class Front:
    '''Holds a `Back`.'''

    _own = 1

    def ask(self, back: Back):
        # Two of these three names belong to the other package.
        return (
            back._inside,
            back._other._own,
        )
""",
    "upper/helper.py": "from small.lower._hidden import help\n",
    "lower/__init__.py": "",
    "lower/back.py": """from small.lower._hidden import help
class Back:
    def __init__(self):
        self._inside = self._other = help
""",
    "lower/_hidden.py": "def help(pair):\n    return pair._replace(first=0)\n\n\nclass Front: ...\n",
}


def test_a_small_package_has_the_figures_that_one_counts_by_hand(tmp_path):
    folder = tmp_path / "small"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert structure.measure(folder) == {
        "files": 7,
        "lines of code": 1 + 9 + 1 + 4 + 3,
        "modules that one sibling imports": 1,  # helper: front is what its package exports, _hidden has two
        "accesses to other packages' private names": 3,
        "class names that occur twice": 1,
    }
    trees = {file: ast.parse(file.read_text()) for file in sorted(folder.rglob("*.py"))}
    assert structure.private_accesses(trees, folder) == [
        "upper/front.py:15 _inside",
        "upper/front.py:16 _other",
        "upper/helper.py:1 small.lower._hidden",
    ]


def test_a_trace_counts_the_calls_of_the_package_alone():
    from wayfold.core.text import show

    assert structure.trace(lambda: sorted([3, 1, 2])) == {"calls": 0, "files": 0, "changes of file": 0}
    found = structure.trace(lambda: show(1234.5))
    assert found["calls"] >= 1
    assert found["files"] == 1
    assert found["changes of file"] == 0
