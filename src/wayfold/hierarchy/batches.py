"""Making the arcs of parts, in batches that threads share, and putting them into the pool."""

from __future__ import annotations

from collections import deque

import numpy as np

from wayfold import _threads
from wayfold.graph.workspace import Workspaces
from wayfold.hierarchy import _customise_kernels, _eliminate_kernels, _level_kernels
from wayfold.hierarchy.topology import LevelParts

_SPARE = 16  # a sixteenth of the pool is kept free for parts that grow in an update


class Maker:
    """Makes the arcs of parts; keeps its scratch memory for the next time.

    Parameters
    ----------
    portals : int
        Number of all portals.
    largest : list of (int, int)
        For each level the most portals and the most members of a part.
    """

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
