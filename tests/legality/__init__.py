"""Whether a path can be walked, climbed or flown, judged by the triangles alone. Shares no code with the package.

The judge knows triangles, an agent and a path. It cuts the path into samples, looks at all triangles near each of them
with plain numpy, and lists what is wrong, where, and by how much. There are two kinds of paths:

* `walk`: over the ground, as navigation meshes give them. The judge follows the ground on foot, sample by sample.
* `move`: of a body's middle through space, as waypoint graphs give them, by surface, adhesive or volumetric motion.

Every tolerance follows from a setting of the map; `Voxels` and `move` say from which one and why. Two rules were
widened after first runs: ground that is missing over less than a radius is stepped over (the paper samples an edge once
a radius; ours test a climb twice as often), and blocks are obstacles but nothing to hold on to.
"""

from tests.legality.level import Level, Violation
from tests.legality.moving import ADHESIVE, SURFACE, VOLUMETRIC, move
from tests.legality.walking import Voxels, walk

__all__ = ["ADHESIVE", "SURFACE", "VOLUMETRIC", "Level", "Violation", "Voxels", "move", "walk"]
