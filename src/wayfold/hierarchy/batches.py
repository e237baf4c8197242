"""Making the arcs of parts, in batches that threads share, and putting them into the pool."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches as _threads
from wayfold.core.locks import Portable
from wayfold.graph.workspace import Workspaces
from wayfold.hierarchy import _customise_kernels, _eliminate_kernels, _level_kernels
from wayfold.hierarchy.topology import LevelParts

_SPARE = 16  # a sixteenth of the pool is kept free for parts that grow in an update


class Maker(Portable):
    """Makes the arcs of parts; keeps its scratch memory for the next time.

    Parameters
    ----------
    portals : int
        Number of all portals.
    largest : list of (int, int)
        For each level the most portals and the most members of a part.
    """

    _OWN = (("_free", deque),)

    def __init__(self, portals: int, largest: list[tuple[int, int]]) -> None:
        self._portals = portals
        self._most_portals = max((most for most, _ in largest), default=1)
        self._most_members = max((most for _, most in largest), default=1)
        # append and pop of a deque are atomic, so threads need no lock of ours
        self._free: deque[tuple[Workspaces, _customise_kernels.Scratch]] = deque()

    def all(
        self, overlay: _level_kernels.Overlay, level: int, parts: _customise_kernels.Parts, workers: int | None
    ) -> list[_customise_kernels.Batch]:
        """The arcs of some parts of a level, in batches."""
        count = len(parts.ranges)
        threads = _threads.worker_count(workers)
        # Small enough to keep all threads busy to the end.
        chunk = max(1, count if threads == 1 else -(-count // (8 * threads)))
        batches: dict[int, _customise_kernels.Batch] = {}

        def work(first: int, last: int) -> None:
            some = _customise_kernels.Parts(*(pairs[first:last] for pairs in parts))
            batches[first] = self.batch(overlay, level, some)

        _threads.run_chunks(work, count, workers=workers, chunk=chunk)
        return [batches[first] for first in sorted(batches)]

    def batch(
        self, overlay: _level_kernels.Overlay, level: int, parts: _customise_kernels.Parts
    ) -> _customise_kernels.Batch:
        """The arcs of some parts of a level, made by the calling thread."""
        try:
            workspaces, scratch = self._free.pop()
        except IndexError:
            workspaces = Workspaces(self._most_members)
            scratch = _customise_kernels.Scratch(
                ordinals=np.zeros(self._portals, np.uint16),
                own=np.empty(self._most_portals, np.int32),
                direct=np.empty((self._most_portals, self._most_portals)),
                between=np.empty((self._most_portals, self._most_portals)),
                needed=np.empty(self._most_portals, np.bool_),
                # memory that is never written takes no room: either the parents or the rest
                parents=np.empty((self._most_portals, self._most_members), np.uint16),
                reduced=_reduced(min(self._most_members, _eliminate_kernels.MOST_MEMBERS)),
            )
        portals = int(np.diff(parts.portals).sum())
        room = 64 + 16 * portals
        batch = _customise_kernels.Batch(
            targets=np.empty(room, np.int32),
            costs=np.empty(room, np.float32),
            subs=np.empty(room, np.int32),
            steps=np.empty(8 * room, np.uint16),
            row_sizes=np.empty(portals, np.int32),
            ends=np.zeros((len(parts.ranges) + 1, 3), np.int64),
            done=np.zeros(1, np.int64),
        )
        state = workspaces.take()
        while True:
            status = _customise_kernels.customise(overlay, level, parts, state, scratch, batch)
            if status == _customise_kernels.MORE_ARCS:
                arrays = {name: np.resize(getattr(batch, name), 2 * room) for name in ("targets", "costs", "subs")}
                room *= 2
                batch = batch._replace(**arrays)
            elif status == _customise_kernels.MORE_STEPS:
                batch = batch._replace(steps=np.resize(batch.steps, 2 * batch.steps.size))
            elif status == _customise_kernels.MORE_HEAP:
                state = workspaces.larger(state)
            else:
                break
        workspaces.give(state)
        self._free.append((workspaces, scratch))
        return batch


def _reduced(members: int) -> _eliminate_kernels.Reduced:
    return _eliminate_kernels.Reduced(
        costs=np.empty(members * members),
        via=np.empty(members * members, np.int16),
        joined=np.empty(members * members, np.int16),
        degrees=np.empty(members, np.int32),
        done=np.empty(members, np.bool_),
        stack=np.empty((members + 2, 2), np.int32),
    )


def append(
    overlay: _level_kernels.Overlay, level: int, level_parts: LevelParts, batches: list[_customise_kernels.Batch]
) -> _level_kernels.Overlay:
    """Put the arcs of a whole level at the end of the pool."""
    targets, costs, subs, steps = [overlay.targets], [overlay.costs], [overlay.subs], [overlay.steps]
    arc, step, part = overlay.targets.size, overlay.steps.size, 0
    sizes = []
    for batch in batches:
        ends = batch.ends
        arcs, length = int(ends[-1, 1]), int(ends[-1, 2])
        targets.append(batch.targets[:arcs])
        costs.append(batch.costs[:arcs])
        moved = batch.subs[:arcs]
        subs.append(np.where(moved >= 0, moved + step, -1).astype(np.int32))
        steps.append(batch.steps[:length])
        sizes.append(batch.row_sizes)
        blocks = level_parts.blocks[part : part + len(ends) - 1]
        blocks[:, 0], blocks[:, 1] = arc + ends[:-1, 1], np.diff(ends[:, 1])
        blocks[:, 2], blocks[:, 3] = step + ends[:-1, 2], np.diff(ends[:, 2])
        arc, step, part = arc + arcs, step + length, part + len(ends) - 1
    if sizes:
        own = level_parts.parts.portals
        rows = overlay.rows[overlay.members[own[0, 0] : own[-1, 1]]] + level - 1
        arcs_of = np.concatenate(sizes)
        ends_of = overlay.targets.size + np.cumsum(arcs_of)
        overlay.row_last[rows] = ends_of
        overlay.row_first[rows] = ends_of - arcs_of
    return overlay._replace(
        targets=np.concatenate(targets),
        costs=np.concatenate(costs),
        subs=np.concatenate(subs),
        steps=np.concatenate(steps),
    )


def compacted(
    overlay: _level_kernels.Overlay, levels: Sequence[LevelParts], used: NDArray[np.int64], arcs: int, steps: int
) -> _level_kernels.Overlay:
    """The overlay without what parts left behind when they moved in the pool, with room for more arcs and steps.

    Parts that were set aside lose their place, as nobody reads it. `blocks` of the levels, rows of the overlay and
    `used` (2,) are changed in place.
    """
    edges = int(overlay.offsets[-1])
    arc, step = edges, 0
    sources, places, step_sources, step_places, ways = ([np.empty(0, np.int64)] for _ in range(5))
    for level, level_parts in enumerate(levels, start=1):
        blocks, spans = level_parts.blocks, level_parts.parts.portals.astype(np.int64)
        if not len(blocks):
            continue
        rows = overlay.rows[overlay.members[_ranges(spans[:, 0], spans[:, 1] - spans[:, 0])]] + level - 1
        portals = spans[:, 1] - spans[:, 0]
        part = np.repeat(np.arange(len(blocks)), portals)
        sizes = (overlay.row_last[rows] - overlay.row_first[rows]).astype(np.int64)
        begins = np.cumsum(portals) - portals
        first = overlay.row_first[rows[begins]].astype(np.int64)  # the arcs of a part lie row behind row
        there = first >= 0
        count = np.where(there, np.bincount(part, sizes, len(blocks)).astype(np.int64), 0)
        room = np.minimum(np.maximum(blocks[:, 1], count), count + count // 4) * there
        own = _ranges(first, count)
        needed = _steps_needed(overlay, own - edges, np.repeat(np.arange(len(blocks)), count), blocks[:, 2])
        step_room = np.minimum(np.maximum(blocks[:, 3], needed), needed + needed // 4) * there
        place, step_place = arc + np.cumsum(room) - room, step + np.cumsum(step_room) - step_room
        sources.append(own)
        places.append(_ranges(place, count))
        step_sources.append(_ranges(blocks[:, 2], needed))
        step_places.append(_ranges(step_place, needed))
        ways.append(np.repeat(step_place - blocks[:, 2], count))
        shift = np.where(there, place - first, 0).astype(np.int32)[part]
        overlay.row_first[rows] += shift
        overlay.row_last[rows] += shift
        blocks[:] = np.column_stack([place, room, step_place, step_room])
        arc, step = arc + int(room.sum()), step + int(step_room.sum())
    old, new = np.concatenate(sources), np.concatenate(places)
    size, step_size = arc + arcs + (arc - edges) // _SPARE, step + steps + step // _SPARE
    targets, costs = np.zeros(size, np.int32), np.full(size, np.inf, np.float32)
    subs, all_steps = np.full(size - edges, -1, np.int32), np.zeros(step_size, np.uint16)
    targets[:edges], costs[:edges] = overlay.targets[:edges], overlay.costs[:edges]
    targets[new], costs[new] = overlay.targets[old], overlay.costs[old]
    inner = overlay.subs[old - edges]
    subs[new - edges] = np.where(inner >= 0, inner + np.concatenate(ways), -1)
    all_steps[np.concatenate(step_places)] = overlay.steps[np.concatenate(step_sources)]
    used[:] = arc, step
    return overlay._replace(targets=targets, costs=costs, subs=subs, steps=all_steps)


def _steps_needed(
    overlay: _level_kernels.Overlay, arcs: NDArray[np.int64], part: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many steps from the `first` of each part on its arcs use; `arcs` are places in `subs`, each of a `part`."""
    subs = overlay.subs[arcs].astype(np.int64)
    known = subs >= 0
    subs, part = subs[known], part[known]
    needed = np.zeros(len(first), np.int64)
    # The number of steps of an arc stands before them.
    np.maximum.at(needed, part, subs + 1 + overlay.steps[subs] - first[part])
    return needed


def _ranges(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of ranges one after the other."""
    ends = np.cumsum(sizes)
    return np.asarray(np.repeat(first - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0))


def with_room(overlay: _level_kernels.Overlay, arcs: int, steps: int) -> _level_kernels.Overlay:
    """The overlay with room at the end of its pool for so many arcs and steps, and some to spare."""
    arcs += (overlay.targets.size - int(overlay.offsets[-1])) // _SPARE
    steps += overlay.steps.size // _SPARE
    return overlay._replace(
        targets=np.concatenate([overlay.targets, np.zeros(arcs, np.int32)]),
        costs=np.concatenate([overlay.costs, np.full(arcs, np.inf, np.float32)]),
        subs=np.concatenate([overlay.subs, np.full(arcs, -1, np.int32)]),
        steps=np.concatenate([overlay.steps, np.zeros(steps, np.uint16)]),
    )
