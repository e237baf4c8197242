# mypy: ignore-errors
"""Chains over triangles: points that coincide, legs along edges."""

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.geometry._chain_kernels import place


@inline
def copy_point(source, i, out, j):
    """Copy one point and the triangle of its leg."""
    out.a[j] = source.a[i]
    out.b[j] = source.b[i]
    out.share[j] = source.share[i]
    out.tri[j] = source.tri[i]
    out.x[j] = source.x[i]
    out.y[j] = source.y[i]
    out.fresh[j] = source.fresh[i]


@inline
def same_place(chain, i, j, near):
    """Whether two points are one: within `near` of each other, and on the same edge or at the same vertex.

    Points of different edges may be as near to each other in a thin triangle, and are two crossings all the same.
    """
    gap = np.hypot(chain.x[i] - chain.x[j], chain.y[i] - chain.y[j])
    if chain.a[i] < 0 or chain.a[j] < 0:
        return gap <= 0.01 * near
    straight = chain.a[i] == chain.a[j] and chain.b[i] == chain.b[j]
    return gap <= near and (straight or (chain.a[i] == chain.b[j] and chain.b[i] == chain.a[j]))


@inline
def lighten(mesh, weights, chain, i, j):
    """Give the leg from point i to point j, if it runs along an edge, to the lighter triangle beside that edge."""
    p, q = chain.a[i], chain.b[i]
    if p < 0 or chain.a[j] < 0:
        return
    if p == q:
        q = chain.a[j] if chain.a[j] != p else chain.b[j]
    for v in (chain.a[j], chain.b[j]):
        if v != p and v != q:
            return
    t = chain.tri[i]
    for k in range(3):
        a, b = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        if (a == p and b == q) or (a == q and b == p):
            twin = mesh.twins[3 * t + k]
            if twin >= 0 and weights[twin // 3] < weights[t]:
                chain.tri[i] = twin // 3
            return


@helper
def tidy(mesh, weights, chain, count, near):
    """Put points within `near` of a vertex on it; drop legs without length and points between two legs of one triangle.

    Returns the number of points left.
    """
    vertices = mesh.vertices
    kept = 1
    for i in range(1, count):
        a, b = chain.a[i], chain.b[i]
        if a != b:
            length = np.hypot(vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1])
            if chain.share[i] * length <= near:
                chain.b[i] = a
                chain.share[i] = 0.0
            elif (1.0 - chain.share[i]) * length <= near:
                chain.a[i] = b
                chain.share[i] = 0.0
            place(vertices, chain, i)
        if i < count - 1 and same_place(chain, i, kept - 1, near):
            chain.tri[kept - 1] = chain.tri[i]
            continue
        lighten(mesh, weights, chain, kept - 1, i)
        while kept > 1 and chain.tri[kept - 2] == chain.tri[kept - 1]:
            kept -= 1  # a straight line through the triangle is at least as cheap
            lighten(mesh, weights, chain, kept - 1, i)
        copy_point(chain, i, chain, kept)
        kept += 1
    # The last point is the goal: an intermediate point on top of it goes.
    while kept > 2 and same_place(chain, kept - 1, kept - 2, near):
        copy_point(chain, kept - 1, chain, kept - 2)
        kept -= 1
    return kept
