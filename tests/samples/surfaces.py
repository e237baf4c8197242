"""A rough walker, independent of the package: sampled heights of up-facing triangles, joined by small steps."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


@dataclass
class Layers:
    """Sampled ground: one row for each grid point and surface over it, sorted by point and height."""

    cells: np.ndarray  # (n, 2) int
    heights: np.ndarray  # (n,)
    triangles: np.ndarray  # (n,) the triangle that was hit
    labels: np.ndarray  # (n,) connected component
    spacing: float

    @property
    def main(self):
        """Samples in the largest component."""
        return self.labels == np.bincount(self.labels).argmax()

    def label_at(self, point):
        """Component of the sample nearest to a point (x, y, z) within two metres."""
        place = np.column_stack([(self.cells + 0.5) * self.spacing, self.heights])
        away = np.abs(place - point).max(axis=1)
        assert away.min() < 2.0, f"no ground near {point}"
        return self.labels[away.argmin()]


def sample(mesh, spacing=0.5, step=0.5, slope=45.0):
    """Layers of the surfaces flatter than `slope`; neighbours join when their heights differ by at most `step`."""
    flat = np.flatnonzero(mesh.normals[:, 2] > np.cos(np.radians(slope)))
    corners = mesh.vertices[mesh.triangles[flat]]
    low = np.floor(corners[:, :, :2].min(axis=1) / spacing - 0.5).astype(int)
    high = np.ceil(corners[:, :, :2].max(axis=1) / spacing - 0.5).astype(int) + 1
    wide, tall = (high - low).T
    count = wide * tall
    owner = np.repeat(np.arange(len(flat)), count)
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    cell = low[owner] + np.column_stack([rank % wide[owner], rank // wide[owner]])
    point = (cell + 0.5) * spacing
    a, b, c = (corners[owner, k] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    beta = ((point[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (point[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])) / area
    gamma = ((b[:, 0] - a[:, 0]) * (point[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (point[:, 0] - a[:, 0])) / area
    inside = (beta >= -1e-9) & (gamma >= -1e-9) & (beta + gamma <= 1 + 1e-9)
    height = a[:, 2] + beta * (b[:, 2] - a[:, 2]) + gamma * (c[:, 2] - a[:, 2])
    cell, height, owner = cell[inside], height[inside], flat[owner[inside]]
    order = np.lexsort([height, cell[:, 1], cell[:, 0]])
    cell, height, owner = cell[order], height[order], owner[order]
    labels = _join(cell, height, step)
    return Layers(cell, height, owner, labels, spacing)


def _join(cell, height, step):
    """Component of each sample over its eight neighbours, and over coincident samples of one point."""
    stride = int(cell[:, 1].max() - cell[:, 1].min()) + 3
    key = (cell[:, 0] - cell[:, 0].min()) * stride + (cell[:, 1] - cell[:, 1].min())
    links = []
    for shift in (0, 1, stride - 1, stride, stride + 1):
        first = np.searchsorted(key, key + shift, side="left")
        last = np.searchsorted(key, key + shift, side="right")
        for k in range(int((last - first).max())):
            here = np.flatnonzero(first + k < last)
            there = first[here] + k
            near = np.abs(height[here] - height[there]) <= (step if shift else 0.01)
            links.append(np.column_stack([here[near], there[near]]))
    a, b = np.concatenate(links).T
    size = len(key)
    return connected_components(coo_matrix((np.ones(len(a), bool), (a, b)), (size, size)), directed=False)[1]
