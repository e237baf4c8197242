"""What queries leave behind for the next ones, within limits: graphs, grown maps, costs, what is derived from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from itertools import count
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary


class BoundedCache:
    """Values by key; the ones that were used longest ago are dropped when there are too many, or too many bytes.

    Whatever is kept by the arguments of queries (costs, radii, kinds of ground) is kept here, so that no number of
    different arguments takes more and more memory. Any number of threads may ask. A value that has been dropped is made
    again when it is asked for, unless somebody else has kept it.

    Parameters
    ----------
    limit : int, bytes, >= 0, optional
        Of all values together, which then have `nbytes`; the value that was used last stays even if it alone is larger.
    most : int, >= 1, optional
        Number of values.
    """

    # Keys may have a hash in Python, where a Ctrl-C may strike: an OrderedDict turns that into a KeyError. And nothing
    # is taken from where it is before it is where it goes.

    def __init__(self, limit: int | None = None, most: int | None = None) -> None:
        self.limit = limit
        self.most = most
        self._values: dict[Hashable, Any] = {}
        self._used: dict[Hashable, int] = {}  # when each was used last
        self._clock = count()
        self._dropped: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._lock = Lock()
        self.last: Any = None
        """What was made last of several values together; not counted."""

    def __reduce__(self) -> tuple[type, tuple[int | None, int | None]]:
        return BoundedCache, (self.limit, self.most)  # what is kept here is made again where it is asked for

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key, made (while others may go on) where there is none."""
        value = self.find(key)
        if value is not None:
            return value
        made = make()
        with self._lock:
            return self._use(key, self._values.get(key, made))

    def find(self, key: Hashable) -> Any:
        """The value of a key, None where there is none."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._used[key] = next(self._clock)
                return value
            value = self._dropped.get(key)
            return None if value is None else self._use(key, value)

    def _use(self, key: Hashable, value: Any) -> Any:
        self._used[key] = next(self._clock)
        self._values[key] = value
        self._dropped.pop(key, None)
        self._drop()
        return value

    def _drop(self) -> None:
        while self.most is not None and len(self._values) > self.most:
            self._drop_oldest()
        if self.limit is None:
            return
        # Values grow while they are used, so all are measured again.
        sizes = {name: int(other.nbytes) for name, other in self._values.items()}
        total = sum(sizes.values())
        while total > self.limit and len(self._values) > 1:
            total -= sizes[self._drop_oldest()]

    def _drop_oldest(self) -> Hashable:
        oldest = self._by_use()[0]
        with suppress(TypeError):  # not everything can be referred to weakly
            self._dropped[oldest] = self._values[oldest]
        del self._values[oldest]
        self._used.pop(oldest, None)
        return oldest

    def _by_use(self) -> list[Hashable]:
        """The keys, those that were used longest ago first."""
        return sorted(self._values, key=lambda key: self._used.get(key, -1))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._used.clear()
            self._dropped.clear()

    def items(self) -> list[tuple[Hashable, Any]]:
        """Keys and values that are kept here, or by somebody else; those that were used longest ago first."""
        with self._lock:
            dropped = [(key, value) for key, value in self._dropped.items() if key not in self._values]
            return [*dropped, *((key, self._values[key]) for key in self._by_use())]

    def __len__(self) -> int:
        """Number of values that are kept here."""
        return len(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        with self._lock:
            return sum(int(value.nbytes) for value in self._values.values())
