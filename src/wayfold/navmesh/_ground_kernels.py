# mypy: ignore-errors
"""Questions to a finished mesh: heights, where a point is, how far one can walk straight.

Polygons are convex and counter-clockwise from above. Edge k of the mesh leads from ``corners[k]`` to the next corner of
its polygon; ``neighbours[k]`` is the polygon beyond it, -1 for none.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.navmesh._interval_kernels import following, preceding

FULL = -2  # a scratch array is too small: the caller enlarges it and asks again


class PolyMesh(NamedTuple):
    """A navigation mesh as kernels see it (all C-contiguous)."""

    vertices: np.ndarray  # (n, 3) float64
    offsets: np.ndarray  # (p + 1,) int64
    corners: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32
    surface_points: np.ndarray  # (k, 3) float64
    surface_offsets: np.ndarray  # (p + 1,) int64; an empty row: the corners are surface enough
    surface_triangles: np.ndarray  # (t, 3) int32


class PolygonGrid(NamedTuple):
    """A grid over the plane, with the polygons whose boxes reach into each cell in ascending order."""

    x: float
    y: float
    size: float
    columns: int
    rows: int
    offsets: np.ndarray  # (cells + 1,) int64
    polygons: np.ndarray  # (k,) int32


@inline
def next_edge(ground, polygon, edge):
    """The edge after `edge` around its polygon."""
    return edge + 1 if edge + 1 < ground.offsets[polygon + 1] else ground.offsets[polygon]


@inline
def _weigh(points, a, b, c, x, y):
    """How deep a point lies in a triangle (smallest barycentric weight), and the height of its plane there."""
    ux, uy = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1]
    vx, vy = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1]
    area = ux * vy - uy * vx
    if not area > 0.0:
        return -np.inf, 0.0
    px, py = x - points[a, 0], y - points[a, 1]
    second = (px * vy - py * vx) / area
    third = (ux * py - uy * px) / area
    deep = min(second, min(third, 1.0 - second - third))
    height = points[a, 2] + second * (points[b, 2] - points[a, 2]) + third * (points[c, 2] - points[a, 2])
    return deep, height


@inline
def height_at(ground, polygon, x, y):
    """Height of a polygon's surface at a point inside it (beside it: of the surface's nearest triangle's plane)."""
    best, height = -np.inf, 0.0
    first, last = ground.surface_offsets[polygon], ground.surface_offsets[polygon + 1]
    if first < last:
        for t in range(first, last):
            a, b, c = ground.surface_triangles[t, 0], ground.surface_triangles[t, 1], ground.surface_triangles[t, 2]
            deep, z = _weigh(ground.surface_points, a, b, c, x, y)
            if deep > best:
                best, height = deep, z
            if deep >= 0.0:
                break
    else:
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        hub = ground.corners[first]
        height = ground.vertices[hub, 2]
        for k in range(first + 1, last - 1):
            deep, z = _weigh(ground.vertices, hub, ground.corners[k], ground.corners[k + 1], x, y)
            if deep > best:
                best, height = deep, z
            if deep >= 0.0:
                break
    return height


@inline
def side(ground, polygon, edge, x, y):
    """Signed distance of a point from an edge's line, times the edge's length; positive inside."""
    a = ground.corners[edge]
    b = ground.corners[next_edge(ground, polygon, edge)]
    ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
    return (ground.vertices[b, 0] - ax) * (y - ay) - (ground.vertices[b, 1] - ay) * (x - ax)


@inline
def contains(ground, polygon, x, y, near):
    """Whether a point lies in a polygon or on its rim, or would do so if points were moved by `near`.

    Far from a short edge that moves its line by more than `near`.
    """
    for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
        a = ground.corners[edge]
        b = ground.corners[next_edge(ground, polygon, edge)]
        ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
        length = abs(ground.vertices[b, 0] - ax) + abs(ground.vertices[b, 1] - ay)
        if side(ground, polygon, edge, x, y) < -near * max(length, abs(x - ax) + abs(y - ay)):
            return False
    return True


@inline
def nearest_on_edge(ground, polygon, edge, x, y):
    """The point of an edge nearest to a point, and its squared distance."""
    a = ground.corners[edge]
    b = ground.corners[next_edge(ground, polygon, edge)]
    ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
    ux, uy = ground.vertices[b, 0] - ax, ground.vertices[b, 1] - ay
    t = ((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy)
    t = min(1.0, max(0.0, t))
    nx, ny = ax + t * ux, ay + t * uy
    return nx, ny, (x - nx) * (x - nx) + (y - ny) * (y - ny)


@kernel
def fill_cells(ground, cells, chosen, counts, polygons):
    """Sort chosen polygons to cells: with an empty `polygons` only count them, else fill from the slots `counts` on."""
    for polygon in chosen:
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        for k in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
            vertex = ground.corners[k]
            low_x, high_x = min(low_x, ground.vertices[vertex, 0]), max(high_x, ground.vertices[vertex, 0])
            low_y, high_y = min(low_y, ground.vertices[vertex, 1]), max(high_y, ground.vertices[vertex, 1])
        for row in range(
            _cell(cells.y, cells.size, cells.rows, low_y), _cell(cells.y, cells.size, cells.rows, high_y) + 1
        ):
            first = _cell(cells.x, cells.size, cells.columns, low_x)
            last = _cell(cells.x, cells.size, cells.columns, high_x)
            for column in range(first, last + 1):
                at = row * cells.columns + column
                if polygons.size > 0:
                    polygons[counts[at]] = polygon
                counts[at] += 1


@inline
def _cell(low, size, count, value):
    """The row or column of cells that a coordinate falls into, the outermost ones reaching on for ever."""
    return min(count - 1, max(0, int(min(2e9, max(-2e9, np.floor((value - low) / size))))))


@inline
def _around(cells, x, y, reach):
    """First and last row, first and last column of the cells within `reach` of a point."""
    return (
        _cell(cells.y, cells.size, cells.rows, y - reach),
        _cell(cells.y, cells.size, cells.rows, y + reach),
        _cell(cells.x, cells.size, cells.columns, x - reach),
        _cell(cells.x, cells.size, cells.columns, x + reach),
    )


@kernel
def locate(ground, cells, shut, points, near, tolerance, reach, in_space, first, last, polygons, places):
    """The polygon of each point `first` to `last` - 1, -1 for none, and the place on it.

    Of the polygons that hold a point seen from above (up to `near`, the rounding of points) the one nearest in height
    wins, if it is within `reach`; else the nearest polygon within `tolerance`. With `in_space` a polygon beside the
    point wins where it is nearer than one below or above it. A height of NaN matches any. Ties go to the lower number.
    Polygons of `shut` (p,) uint8 are left out; it may be empty.
    """
    for q in range(first, last):
        x, y, z = points[q, 0], points[q, 1], points[q, 2]
        best, nearest = -1, np.inf
        low_row, high_row, low_column, high_column = _around(cells, x, y, near)
        for row in range(low_row, high_row + 1):
            for column in range(low_column, high_column + 1):
                at = row * cells.columns + column
                for k in range(cells.offsets[at], cells.offsets[at + 1]):
                    polygon = cells.polygons[k]
                    if (shut.size and shut[polygon]) or not contains(ground, polygon, x, y, near):
                        continue
                    height = height_at(ground, polygon, x, y)
                    off = 0.0 if np.isnan(z) else abs(height - z)
                    if off <= reach and (off < nearest or (off == nearest and polygon < best)):
                        best, nearest = polygon, off
                        places[q, 0], places[q, 1], places[q, 2] = x, y, height
        if (best < 0 or in_space) and tolerance > 0.0:
            nearest = np.inf if best < 0 else nearest * nearest
            low_row, high_row, low_column, high_column = _around(cells, x, y, tolerance)
            for row in range(low_row, high_row + 1):
                for column in range(low_column, high_column + 1):
                    at = row * cells.columns + column
                    for k in range(cells.offsets[at], cells.offsets[at + 1]):
                        polygon = cells.polygons[k]
                        if shut.size and shut[polygon]:
                            continue
                        for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
                            nx, ny, off = nearest_on_edge(ground, polygon, edge, x, y)
                            if off > tolerance * tolerance or off > nearest:
                                continue
                            height = height_at(ground, polygon, nx, ny)
                            rise = 0.0 if np.isnan(z) else height - z
                            if abs(rise) > reach:
                                continue
                            off += rise * rise
                            if off < nearest or (off == nearest and polygon < best):
                                best, nearest = polygon, off
                                places[q, 0], places[q, 1], places[q, 2] = nx, ny, height
        polygons[q] = best


@inline
def _same_ground(ground, one, two, place, near):
    """Whether two polygons that both hold a place seen from above meet there, and are not two floors."""
    x, y = place[0], place[1]
    if abs(height_at(ground, two, x, y) - place[2]) <= near:
        return True
    for edge in range(ground.offsets[one], ground.offsets[one + 1]):
        a, b = ground.corners[edge], ground.corners[next_edge(ground, one, edge)]
        length = abs(ground.vertices[b, 0] - ground.vertices[a, 0]) + abs(ground.vertices[b, 1] - ground.vertices[a, 1])
        if ground.neighbours[edge] == two and side(ground, one, edge, x, y) <= near * length:
            return True
        if max(abs(ground.vertices[a, 0] - x), abs(ground.vertices[a, 1] - y)) <= near:
            for k in range(ground.offsets[two], ground.offsets[two + 1]):
                if ground.corners[k] == a:
                    return True
    return False


@inline
def _piece_holds(plane, piece, x, y, near):
    first, last = plane.offsets[piece], plane.offsets[piece + 1]
    for edge in range(first, last):
        a, b = plane.corners[edge], plane.corners[edge + 1 if edge + 1 < last else first]
        ax, ay = plane.vertices[a, 0], plane.vertices[a, 1]
        ux, uy = plane.vertices[b, 0] - ax, plane.vertices[b, 1] - ay
        if ux * (y - ay) - uy * (x - ax) < -near * max(abs(ux) + abs(uy), abs(x - ax) + abs(y - ay)):
            return False
    return True


@kernel
def surround(ground, plane, cells, closed, areas, polygons, places, near, pieces, counts):
    """All open pieces that each place is in: several where it is on a border, none where all of them are closed.

    Parameters
    ----------
    closed, areas : (256,) and (p,) uint8
        Which kinds of area are closed, and the kind of each polygon.
    polygons, places : (q,) int32, (q, 3) float64
        What `locate` found; there is none for polygon -1.
    near : float
        Rounding of places.
    pieces : (q, k) int32
        Overwritten with the pieces, those of the found polygon first.
    counts : (q,) int64
        Overwritten with their number, which may be more than k.
    """
    for q in range(len(places)):
        counts[q] = 0
        if polygons[q] < 0:
            continue
        x, y = places[q, 0], places[q, 1]
        count = _add_pieces(plane, closed, areas, polygons[q], x, y, near, pieces[q], 0)
        low_row, high_row, low_column, high_column = _around(cells, x, y, near)
        for row in range(low_row, high_row + 1):
            for column in range(low_column, high_column + 1):
                at = row * cells.columns + column
                for k in range(cells.offsets[at], cells.offsets[at + 1]):
                    polygon = cells.polygons[k]
                    if polygon == polygons[q] or closed[areas[polygon]] or not contains(ground, polygon, x, y, near):
                        continue
                    if _same_ground(ground, polygons[q], polygon, places[q], near):
                        count = _add_pieces(plane, closed, areas, polygon, x, y, near, pieces[q], count)
        counts[q] = count


@inline
def _add_pieces(plane, closed, areas, polygon, x, y, near, pieces, count):
    if closed[areas[polygon]]:
        return count
    first, last = plane.firsts[polygon], plane.lasts[polygon]
    some = False
    for piece in range(first, last):
        some |= last - first > 1 and _piece_holds(plane, piece, x, y, near)
    for piece in range(first, last):
        if some and not _piece_holds(plane, piece, x, y, near):
            continue
        known = False
        for k in range(min(count, pieces.size)):
            known |= pieces[k] == piece
        if not known:
            if count < pieces.size:
                pieces[count] = piece
            count += 1
    return count


@kernel
def heights(ground, polygons, points):
    """Put each point (its third column) onto the surface of its polygon."""
    for q in range(len(points)):
        points[q, 2] = height_at(ground, polygons[q], points[q, 0], points[q, 1])


@kernel
def scatter(ground, polygons, draws, points):
    """A point in each listed polygon, evenly spread over it, from three draws in [0, 1) each."""
    for q in range(polygons.size):
        polygon = polygons[q]
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        hub = ground.corners[first]
        total = 0.0
        for k in range(first + 1, last - 1):
            total += _area2(ground.vertices, hub, ground.corners[k], ground.corners[k + 1])
        left = draws[q, 0] * total
        picked = first + 1
        for k in range(first + 1, last - 1):
            area = _area2(ground.vertices, hub, ground.corners[k], ground.corners[k + 1])
            if area > 0.0:
                picked = k
                if left < area:
                    break
            left -= area
        b, c = ground.corners[picked], ground.corners[picked + 1]
        root = np.sqrt(draws[q, 1])
        one, two = root * (1.0 - draws[q, 2]), root * draws[q, 2]
        for k in range(2):
            points[q, k] = (
                (1.0 - one - two) * ground.vertices[hub, k] + one * ground.vertices[b, k] + two * ground.vertices[c, k]
            )
        points[q, 2] = height_at(ground, polygon, points[q, 0], points[q, 1])


@inline
def _area2(vertices, a, b, c):
    return (vertices[b, 0] - vertices[a, 0]) * (vertices[c, 1] - vertices[a, 1]) - (vertices[b, 1] - vertices[a, 1]) * (
        vertices[c, 0] - vertices[a, 0]
    )


@kernel
def polygon_areas(ground, first_polygon, last_polygon, out):
    """Area of the polygons `first_polygon` to `last_polygon` - 1 seen from above."""
    for polygon in range(first_polygon, last_polygon):
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        total = 0.0
        for k in range(first + 1, last - 1):
            total += _area2(ground.vertices, ground.corners[first], ground.corners[k], ground.corners[k + 1])
        out[polygon] = 0.5 * total


@kernel
def centres(ground, out):
    """Mean of each polygon's corners, put onto its surface."""
    for polygon in range(len(out)):
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        x, y = 0.0, 0.0
        for k in range(first, last):
            x += ground.vertices[ground.corners[k], 0]
            y += ground.vertices[ground.corners[k], 1]
        x, y = x / (last - first), y / (last - first)
        out[polygon, 0], out[polygon, 1], out[polygon, 2] = x, y, height_at(ground, polygon, x, y)


@inline
def _beside(x, y, dx, dy, span, near, vertex_x, vertex_y):
    """Side of a ray that a vertex lies on: 1 left, -1 right, 0 on it, or if points were moved by `near`.

    Beyond the target, `span` away, that moves the ray by more than `near`: a target on an edge up to rounding is on it,
    however far on the edge ends.
    """
    ux, uy = vertex_x - x, vertex_y - y
    turn = dx * uy - dy * ux
    if abs(turn) <= near * max(span, abs(ux) + abs(uy)):
        return 0
    return 1 if turn > 0.0 else -1


@inline
def _on_edge(ax, ay, ux, uy, x, y, near):
    """Whether a point lies on the edge that leads from a along u, as `contains` takes it: if points moved by `near`."""
    px, py = x - ax, y - ay
    reach = near * max(abs(ux) + abs(uy), abs(px) + abs(py))
    along = ux * px + uy * py
    return abs(ux * py - uy * px) <= reach and -reach <= along <= ux * ux + uy * uy + reach


@inline
def _note(tried, count, piece):
    """Put a piece on the list of those to walk through, once; returns the list's new length, -1 when it is full."""
    for k in range(count):
        if tried[k] == piece:
            return count
    if count == tried.size:
        return -1
    tried[count] = piece
    return count + 1


@inline
def _pass(plane, piece, corner, x, y, dx, dy, span, near, tried, count):
    """List the pieces around a corner of a piece that a ray through it goes on in; returns (length, a wall there).

    Only pieces that open edges at the corner join are looked at: where corners only touch nobody gets through.
    """
    wall = -1
    for direction in range(2):
        here, at = piece, corner
        while True:
            before, after = plane.corners[preceding(plane, here, at)], plane.corners[following(plane, here, at)]
            right = _beside(x, y, dx, dy, span, near, plane.vertices[after, 0], plane.vertices[after, 1])
            left = _beside(x, y, dx, dy, span, near, plane.vertices[before, 0], plane.vertices[before, 1])
            if right <= 0 and left >= 0:
                count = _note(tried, count, here)
                if count < 0:
                    return count, wall
            edge = preceding(plane, here, at) if direction == 0 else at
            ahead = plane.ahead[edge]
            if ahead < 0:
                wall = edge
                break
            if ahead == piece:
                return count, wall
            at = plane.twins[edge] if direction == 0 else following(plane, ahead, plane.twins[edge])
            here = ahead
    return count, wall


@kernel
def walk(plane, piece, x, y, to_x, to_y, near, tried):
    """Walk straight from a point of a piece until a wall; returns (fraction walked, last piece, wall edge or -1).

    Through a vertex and along a border the walk goes on on every side that is open. What is no farther than `near`
    from the ray is on it: the rounding of points (`_beside`). `tried` is scratch; the piece is FULL where it is too
    small.
    """
    dx, dy = to_x - x, to_y - y
    span2 = dx * dx + dy * dy
    span = np.sqrt(span2)
    if span <= near:
        return 1.0, piece, -1
    enough = 1.0 - near / span
    best, best_piece, best_wall = -1.0, piece, -1
    # Where the start is on a border, it may begin in any piece around.
    count, at = 0, -1
    for edge in range(plane.offsets[piece], plane.offsets[piece + 1]):
        a, b = plane.corners[edge], plane.corners[following(plane, piece, edge)]
        ax, ay = plane.vertices[a, 0] - x, plane.vertices[a, 1] - y
        if ax * ax + ay * ay <= near * near:
            at = edge
            break
        ux, uy = plane.vertices[b, 0] - plane.vertices[a, 0], plane.vertices[b, 1] - plane.vertices[a, 1]
        along = -(ax * ux + ay * uy)
        if plane.ahead[edge] >= 0 and abs(ux * ay - uy * ax) <= near * np.sqrt(ux * ux + uy * uy):
            if 0.0 <= along <= ux * ux + uy * uy and count >= 0:
                count = _note(tried, count, plane.ahead[edge])
    if at >= 0:
        count, best_wall = _pass(plane, piece, at, x, y, dx, dy, span, near, tried, 0)
        if best_wall >= 0:
            best = 0.0
    elif count >= 0:
        count = _note(tried, count, piece)
    if count < 0:
        return 0.0, FULL, -1
    done = 0
    while done < count:
        here = tried[done]
        done += 1
        passed = 0.0
        for _ in range(plane.corners.size + 1):
            through, corner, farthest = -1, -1, -np.inf
            first, last = plane.offsets[here], plane.offsets[here + 1]
            v = plane.corners[last - 1]
            before = _beside(x, y, dx, dy, span, near, plane.vertices[v, 0], plane.vertices[v, 1])
            for edge in range(first, last):
                v = plane.corners[edge]
                vx, vy = plane.vertices[v, 0], plane.vertices[v, 1]
                now = _beside(x, y, dx, dy, span, near, vx, vy)
                if before < 0 and now > 0:
                    through = edge - 1 if edge > first else last - 1
                if now == 0:
                    part = ((vx - x) * dx + (vy - y) * dy) / span2
                    if part > farthest:
                        corner, farthest = edge, part
                before = now
            if through >= 0:
                a, b = plane.corners[through], plane.corners[following(plane, here, through)]
                ax, ay = plane.vertices[a, 0], plane.vertices[a, 1]
                ux, uy = plane.vertices[b, 0] - ax, plane.vertices[b, 1] - ay
                farthest = (ux * (y - ay) - uy * (x - ax)) / (dx * uy - dy * ux)
            elif corner < 0:
                break  # the ray passes beside this piece
            if farthest >= enough:
                return 1.0, here, -1
            passed = max(passed, farthest)
            if through >= 0:
                ahead = plane.ahead[through]
                if ahead >= 0:
                    here = ahead
                    continue
                # Aslant, a target on the wall up to rounding may be farther than `near` beyond where the ray meets it.
                if _on_edge(ax, ay, ux, uy, to_x, to_y, near):
                    return 1.0, here, -1
                if passed > best:
                    best, best_piece, best_wall = passed, here, through
                break
            count, wall = _pass(plane, here, corner, x, y, dx, dy, span, near, tried, count)
            if count < 0:
                return 0.0, FULL, -1
            if passed > best and wall >= 0:
                best, best_piece, best_wall = passed, here, wall
            break
    if best_wall < 0:
        best_wall = plane.offsets[best_piece]
    return min(1.0, max(0.0, best)), best_piece, best_wall


@inline
def _same_fan(plane, one, two, x, y, near):
    """Whether open edges around a point join two pieces that touch it; where they only touch nobody gets through."""
    if one == two:
        return True
    for edge in range(plane.offsets[one], plane.offsets[one + 1]):
        v = plane.corners[edge]
        ax, ay = plane.vertices[v, 0] - x, plane.vertices[v, 1] - y
        if ax * ax + ay * ay <= near * near:
            for direction in range(2):
                here, at = one, edge
                while True:
                    side_edge = preceding(plane, here, at) if direction == 0 else at
                    ahead = plane.ahead[side_edge]
                    if ahead < 0 or ahead == one:
                        break
                    if ahead == two:
                        return True
                    twin = plane.twins[side_edge]
                    at = twin if direction == 0 else following(plane, ahead, twin)
                    here = ahead
            return False
    return True  # inside, or on an edge that both share


@kernel
def shortcuts(ground, plane, starts, pieces, points, ahead, floor, near, tried, kept):
    """Leave out corners of a path that a straight walk from an earlier one passes by; returns how many are kept.

    From each corner the farthest of the next `ahead` is taken that a walk ends at, and not more than `floor` above or
    below. `points` are those of the path, `starts` the pieces that the first of them is in. `pieces` (k,) int32, one
    at each point, become those that the path itself comes through: a walk must end beside them, not on the other side
    of a vertex where pieces only touch. `near` and `tried` are those of `walk`. `kept` (k,) int64 gets their numbers.
    """
    kept[0] = 0
    count, here, last = 1, 0, len(points) - 1
    for k in range(last):
        for choice in range(starts.size if k == 0 else 1):
            piece = starts[choice] if k == 0 else pieces[k]
            part, end, _ = walk(
                plane, piece, points[k, 0], points[k, 1], points[k + 1, 0], points[k + 1, 1], near, tried
            )
            if part >= 1.0 and end >= 0:
                pieces[k], pieces[k + 1] = piece, end
                break
    while here < last:
        at = min(here + ahead, last)
        while at > here + 1:  # the farthest first: a corner may be hidden while one behind it is seen
            x, y = points[at, 0], points[at, 1]
            part, end, _ = walk(plane, pieces[here], points[here, 0], points[here, 1], x, y, near, tried)
            if part >= 1.0 and end >= 0 and (at == last or _same_fan(plane, end, pieces[at], x, y, near)):
                if abs(height_at(ground, plane.owners[end], x, y) - points[at, 2]) <= floor:
                    break
            at -= 1
        here = at
        kept[count] = here
        count += 1
    return count


@kernel
def slide(ground, closed, areas, starts, x, y, to_x, to_y, near, queue):
    """The reachable point nearest to a target not far away: (polygon, x, y), polygon FULL when scratch is too small.

    Polygons within half the way of its middle are searched from `starts`, those of the start, outwards; `queue` (k,)
    int32 is scratch. `near` is the rounding of points.
    """
    middle_x, middle_y = 0.5 * (x + to_x), 0.5 * (y + to_y)
    limit = 0.5 * np.sqrt((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)) + near
    head, tail = 0, min(starts.size, queue.size)
    for k in range(tail):
        queue[k] = starts[k]
    best, best_x, best_y = starts[0], x, y
    nearest = (x - to_x) * (x - to_x) + (y - to_y) * (y - to_y)
    while head < tail:
        here = queue[head]
        head += 1
        if contains(ground, here, to_x, to_y, near):
            return here, to_x, to_y
        for edge in range(ground.offsets[here], ground.offsets[here + 1]):
            ahead = ground.neighbours[edge]
            if ahead < 0 or closed[areas[ahead]]:
                nx, ny, off = nearest_on_edge(ground, here, edge, to_x, to_y)
                if off < nearest:
                    best, best_x, best_y, nearest = here, nx, ny, off
                continue
            _, _, off = nearest_on_edge(ground, here, edge, middle_x, middle_y)
            if off > limit * limit:
                continue
            known = False
            for k in range(tail - 1, -1, -1):
                if queue[k] == ahead:
                    known = True
                    break
            if known:
                continue
            if tail == queue.size:
                return FULL, x, y
            queue[tail] = ahead
            tail += 1
    return best, best_x, best_y
