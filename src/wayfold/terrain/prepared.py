"""What queries leave behind for the next ones, up to so many bytes: graphs, grown maps, cut triangles."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

LIMIT = 256 * 2**20
"""Bytes of graphs and grown grounds that a terrain keeps for all its weights and radii, besides the one used last."""

CUTS = 16 * 2**20
"""Bytes that it keeps of what painted polygons have cut."""


class Prepared:
    """Values by key; the ones that were used longest ago are dropped when all together take more than `limit` bytes.

    Any number of threads may ask. A value that has been dropped is made again when it is asked for, unless somebody
    else has kept it.

    Parameters
    ----------
    limit : int, bytes, >= 0
        The value that was used last stays even if it alone is larger.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._dropped: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._lock = Lock()
        self.last: Any = None
        """What was made last of several values together; not counted."""

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return Prepared, (self.limit,)  # what is kept here is made again where it is asked for

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key, made (while others may go on) where there is none; it has `nbytes`."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            kept = self._dropped.get(key)
        made = make() if kept is None else kept
        with self._lock:
            value = self._values.setdefault(key, made)
            self._values.move_to_end(key)
            # Values grow while they are used, so all are measured again.
            sizes = {name: int(other.nbytes) for name, other in self._values.items()}
            total = sum(sizes.values())
            while total > self.limit and len(self._values) > 1:
                oldest, dropped = self._values.popitem(last=False)
                total -= sizes[oldest]
                with suppress(TypeError):  # not everything can be referred to weakly
                    self._dropped[oldest] = dropped
        return value

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        with self._lock:
            return sum(int(value.nbytes) for value in self._values.values())
