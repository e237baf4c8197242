# mypy: ignore-errors
"""Predicates that are exact in sign: on which side of a line a point lies.

Every decision of geometry that branches (turn left or right, inside or outside, seen or hidden) asks `orientation` of
points that were given, never of points that were computed on the way. Then no tolerance is needed, and the answer is
the same wherever the world lies. The method is Shewchuk 1997, *Adaptive precision floating-point arithmetic*: the
float64 determinant where its error bound allows, and the exact sum of its 16 partial products where it does not.
"""

from wayfold.core.jit import helper, inline, tuple_setitem

_SPLITTER = 134217729.0  # 2**27 + 1 cuts a float64 into two halves whose products are exact
_ERROR = 3.3306690738754716e-16  # (3 + 16 eps) eps: above it the sign of the float64 determinant is right
_NOTHING = (0.0,) * 16
_SMALL, _UP = 2.0**100, 2.0**400  # numbers below the one are scaled by the other, exactly, before they are multiplied


@inline
def two_sum(a, b):
    """``a + b`` as the rounded sum and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inline
def two_product(a, b):
    """``a * b`` as the rounded product and its exact error, below 2**970."""
    product = a * b
    wide = _SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = _SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@helper
def _exact_orientation(ax, ay, bx, by, cx, cy):
    """Sign of ``(a - c) x (b - c)``: the 16 partial products summed without error, largest part last."""
    if max(abs(ax), abs(ay), abs(bx), abs(by), abs(cx), abs(cy)) < _SMALL:  # lest products vanish below 5e-324
        ax, ay, bx, by, cx, cy = _UP * ax, _UP * ay, _UP * bx, _UP * by, _UP * cx, _UP * cy
    adx, adx_low = two_sum(ax, -cx)
    ady, ady_low = two_sum(ay, -cy)
    bdx, bdx_low = two_sum(bx, -cx)
    bdy, bdy_low = two_sum(by, -cy)
    if adx_low == 0.0 and ady_low == 0.0 and bdx_low == 0.0 and bdy_low == 0.0:  # soon done, as on a grid
        left, left_low = two_product(adx, bdy)
        right, right_low = two_product(ady, bdx)
        if left == right:
            return (1 if left_low > right_low else 0) - (1 if left_low < right_low else 0)
    factors = (adx, bdy, adx, bdy_low, adx_low, bdy, adx_low, bdy_low, ady, -bdx, ady, -bdx_low, ady_low, -bdx,
               ady_low, -bdx_low)  # fmt: skip
    # A non-overlapping expansion, from small to large, to which one part after the other is added (Shewchuk, figure 6).
    expansion = _NOTHING
    size = 0
    for pair in range(8):
        product, error = two_product(factors[2 * pair], factors[2 * pair + 1])
        for part in (error, product):
            carry = part
            for k in range(size):
                carry, rest = two_sum(carry, expansion[k])
                expansion = tuple_setitem(expansion, k, rest)
            expansion = tuple_setitem(expansion, size, carry)
            size += 1
    for k in range(15, -1, -1):
        if expansion[k] != 0.0:
            return 1 if expansion[k] > 0.0 else -1
    return 0


@inline
def orientation(ax, ay, bx, by, cx, cy):
    """1 when a, b, c turn left (counter-clockwise), -1 when they turn right, 0 when they lie on a line.

    Exact in sign for coordinates below 1e30. Where two differences of coordinates are both below 1e-250, but not 0,
    their product vanishes even when they are scaled, and a turn may look straight.
    """
    left = (ax - cx) * (by - cy)
    right = (ay - cy) * (bx - cx)
    determinant = left - right
    if abs(determinant) > _ERROR * (abs(left) + abs(right)):
        return 1 if determinant > 0.0 else -1
    if (ax == cx or by == cy) and (ay == cy or bx == cx):  # along an axis
        return 0
    return _exact_orientation(ax, ay, bx, by, cx, cy)
