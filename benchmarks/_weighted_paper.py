"""The figures of Tibboel 2012, section 7 as it prints them."""

from __future__ import annotations

EPSILONS = (1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)

# Tables 1 and 2: cell side -> (cost, A* ms, Dijkstra ms); one dictionary for each query. Table 3: construction.
GRID = (
    {1: (241, 140, 144), 2: (242, 8.1, 8.2), 4: (244, 1.4, 1.3)},
    {1: (236, 135, 167), 2: (222, 7.8, 9.0), 4: (230, 0.63, 0.67)},
)
GRID_CONSTRUCTION = {1: 0.90, 2: 0.86, 4: 0.68}

# Tables 4 and 5: (cost, A* ms, Dijkstra ms). Construction and sizes stand in the text.
DUAL = (
    {"dual": (392, 0.92, 0.96), "dual-extra": (356, 0.13, 0.22)},
    {"dual": (266, 0.07, 0.12), "dual-extra": (243, 0.12, 0.22)},
)
DUAL_CONSTRUCTION = {"dual": 19.3, "dual-extra": 18.5}

# Tables 6 and 7: (cost, A* ms, Dijkstra ms, BUSHWHACK ms) for each epsilon. Table 8: construction.
STEINER = (
    dict(
        zip(
            EPSILONS,
            (
                (232, 1318, 1274, 4817),
                (232, 201, 197, 813),
                (233, 37, 36, 174),
                (234, 8.0, 8.7, 52),
                (233, 4.9, 4.7, 27),
                (242, 2.2, 2.0, 17.3),
                (238, 1.4, 1.3, 11.4),
                (234, 0.94, 0.88, 7.8),
                (232, 0.70, 0.67, 6.2),
                (237, 0.54, 0.51, 4.9),
                (236, 0.40, 0.38, 3.8),
                (252, 0.33, 0.33, 4.2),
            ),
            strict=True,
        )
    ),
    dict(
        zip(
            EPSILONS,
            (
                (227, 1159, 1167, 5514),
                (228, 171, 174, 815),
                (230, 28, 28, 150),
                (238, 6.5, 6.4, 42),
                (231, 3.23, 3.21, 26),
                (234, 1.86, 1.77, 14.5),
                (235, 1.21, 1.21, 11.2),
                (241, 0.86, 0.83, 7.7),
                (240, 0.61, 0.58, 5.4),
                (236, 0.51, 0.48, 4.7),
                (236, 0.38, 0.35, 3.7),
                (241, 0.31, 0.30, 3.2),
            ),
            strict=True,
        )
    ),
)
STEINER_CONSTRUCTION = dict(zip(EPSILONS, (5962, 1755, 608, 261, 175, 135, 107, 88, 77, 66, 57, 53), strict=True))

# Tables 9 to 11: (graph, cell or epsilon) -> (construction ms, cost, search ms).
SCENES = {
    "forest child": {
        ("grid", 2): (6.2, 1155, 140),
        ("grid", 4): (6.2, 1180, 24),
        ("dual", None): (26, 1581, 0.63),
        ("dual-extra", None): (26, 1348, 3.85),
        ("steiner", 64): (15315, 1112, 266),
        ("steiner", 128): (11153, 1118, 169),
        ("steiner", 256): (8526, 1125, 114),
        ("steiner", 512): (6817, 1123, 83),
        ("steiner", 1024): (5335, 1131, 60),
        ("steiner", 2048): (4439, 1132, 46),
        ("steiner", 4096): (3864, 1139, 39),
        ("steiner", 8192): (3445, 1138, 34),
        ("steiner", 16384): (3185, 1141, 30),
    },
    "forest adult": {
        ("grid", 2): (6.2, 1834, 145),
        ("grid", 4): (6.1, 1844, 23),
        ("dual", None): (26, 2173, 0.60),
        ("dual-extra", None): (27, 2019, 3.85),
        ("steiner", 64): (14052, 1742, 233),
        ("steiner", 128): (10149, 1751, 141),
        ("steiner", 256): (7859, 1752, 100),
        ("steiner", 512): (6155, 1746, 71),
        ("steiner", 1024): (4869, 1762, 52),
        ("steiner", 2048): (4091, 1760, 41),
        ("steiner", 4096): (3613, 1756, 35),
        ("steiner", 8192): (3278, 1762, 31),
        ("steiner", 16384): (3037, 1759, 28),
    },
    "zigzag": {
        ("grid", 1): (0.91, 788, 323),
        ("grid", 2): (0.91, 1228, 18.3),
        ("dual", None): (20, 2498, 0.19),
        ("dual-extra", None): (20, 2370, 0.57),
        ("steiner", 64): (1058, 1272, 16.0),
        ("steiner", 128): (789, 1305, 10.3),
        ("steiner", 256): (628, 1299, 7.6),
        ("steiner", 512): (491, 1274, 5.2),
        ("steiner", 1024): (414, 1292, 4.1),
        ("steiner", 2048): (364, 1291, 3.4),
        ("steiner", 4096): (303, 1353, 2.7),
        ("steiner", 8192): (285, 1351, 2.5),
        ("steiner", 16384): (259, 1350, 2.2),
    },
}
