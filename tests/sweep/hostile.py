"""Values that nobody means, each made anew for every call."""

from __future__ import annotations

import numpy as np

import wayfold
from wayfold import Agent, Box


class Odd:
    """Something of no use to anybody, with a representation that no message has room for."""

    def __repr__(self):
        return "<odd>" * 3000


class Unprintable:
    """Something that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("there is nothing to show")


def _read_only(values):
    array = np.array(values, float)
    array.setflags(write=False)
    return array


def _itself():
    values = []
    values.append(values)
    return values


NAN, INFINITY = float("nan"), float("inf")

HOSTILE = {
    "nan": lambda: NAN,
    "infinity": lambda: INFINITY,
    "minus infinity": lambda: -INFINITY,
    "huge": lambda: 1e308,
    "minus huge": lambda: -1e308,
    "tiny": lambda: 5e-324,
    "huge int": lambda: 2**70,
    "minus huge int": lambda: -(10**400),
    "minus one": lambda: -1,
    "zero": lambda: 0,
    "int32 and one": lambda: 2**31,
    "large int": lambda: 2**40,
    "half": lambda: 0.5,
    "numpy float": lambda: np.float32(0.7),
    "numpy int": lambda: np.int8(-3),
    "numpy uint64": lambda: np.uint64(2**64 - 1),
    "none": lambda: None,
    "text": lambda: "abc",
    "number as text": lambda: "1.0",
    "long text": lambda: "x" * 9000,
    "text with a null": lambda: "a\0b",
    "bytes": lambda: b"abc",
    "true": lambda: True,
    "complex": lambda: 1j,
    "odd": Odd,
    "unprintable": Unprintable,
    "class": lambda: int,
    "function": lambda: len,
    "dict": lambda: {"a": 1},
    "dict of nan": lambda: {"grass": NAN, 1: -1.0},
    "dict of huge": lambda: {"grass": 1e308, 0: 1e308},
    "set": lambda: {1, 2},
    "range": lambda: range(2),
    "generator": lambda: (x for x in ()),
    "itself": _itself,
    "empty list": list,
    "empty tuple": tuple,
    "nested empty": lambda: [[]],
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "list of text": lambda: ["a", "b"],
    "list of none": lambda: [None, None],
    "list of huge ints": lambda: [2**70, 2**70, 1],
    "pairs of huge ints": lambda: [(2**70, 0)],
    "one float": lambda: [0.5],
    "twice the same": lambda: [(0, 0), (0, 0)],
    "point of nan": lambda: (NAN, 0.0, 0.0),
    "point of infinity": lambda: (INFINITY, 0.0, 0.0),
    "point of huge": lambda: (1e308, -1e308, 1e308),
    "far point": lambda: (1e9, 1e9, 1e9),
    "point of one": lambda: (1.0,),
    "point of four": lambda: (1.0, 2.0, 3.0, 4.0),
    "point of text": lambda: ("1", "2", "3"),
    "points of nan": lambda: [(NAN, 0.0, 0.0)],
    "points of huge": lambda: [(1e308, -1e308, 1e308)],
    "points of 1e200": lambda: [(1e200, 0.0), (0.0, 1e200), (-1e200, 0.0)],
    "three times one point": lambda: [(1.0, 1.0)] * 3,
    "three dimensions": lambda: np.zeros((2, 2, 2)),
    "zero-dimensional": lambda: np.array(1.0),
    "zero-dimensional object": lambda: np.array(None),
    "empty array": lambda: np.empty(0),
    "empty points": lambda: np.empty((0, 3)),
    "not contiguous": lambda: np.ones((6, 6))[::2, ::2],
    "fortran": lambda: np.asfortranarray(np.ones((3, 3))),
    "read only": lambda: _read_only([(3.0, 3.0, 0.0)]),
    "read only point": lambda: _read_only((3.0, 3.0, 0.0)),
    "objects": lambda: np.array([object(), None], dtype=object),
    "numbers as objects": lambda: np.array([[1, 2.5, 0]], dtype=object),
    "float16": lambda: np.ones((2, 3), np.float16),
    "float32 point": lambda: np.array([3.0, 3.0, 0.0], np.float32),
    "longdouble": lambda: np.ones((2, 3), np.longdouble),
    "big endian": lambda: np.ones((2, 3), ">f8"),
    "bools": lambda: np.ones((2, 3), bool),
    "complexes": lambda: np.full((2, 3), 1 + 2j),
    "masked": lambda: np.ma.masked_array([[3.0, 3.0, 0.0]], [[False, True, False]]),
    "matrix": lambda: np.ones((2, 2)).view(np.matrix),
    "int8": lambda: np.array([0, 1], np.int8),
    "uint64": lambda: np.full(3, 2**63 + 5, np.uint64),
    "negative ints": lambda: np.array([-1, -5]),
    "large ints": lambda: np.array([2**40, 2**50]),
    "pair of negative ints": lambda: np.array([[-1, -5]]),
    "dates": lambda: np.array(["2024-01-01"], "M8[D]"),
    "structured": lambda: np.zeros(2, [("a", "i4")]),
    "texts": lambda: np.array(["a", "b"]),
    "long array": lambda: np.zeros(5000),
    "ellipsis": lambda: ...,
    "agent": Agent,
    "box": lambda: Box((0, 0, 0), (1, 1, 1)),
    "mesh": lambda: wayfold.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]),
    "graph": lambda: wayfold.Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]),
    "path": lambda: wayfold.Path(wayfold.Status.UNREACHABLE),
}
