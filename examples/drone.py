"""A drone in a city: it flies over the roofs where a person walks around the blocks, and keeps out of closed airspace.

Run it: ``python examples/drone.py [picture.png [CITY.obj [y]]]``; y is for cities that are y-up. Without a file a city
district is made up.
"""

from __future__ import annotations

import sys

from wayfold import Agent, Box, Motion, World
from wayfold.view import oblique, pictures

DRONE = Agent(radius=0.5, height=0.6, motions=Motion.VOLUMETRIC)
PERSON = Agent()


def main(picture: str | None = None, file: str | None = None, up: str | None = None, *, size=160.0) -> dict[str, float]:
    print("opening", file or f"a made-up district of {size:g} x {size:g} m")
    world = World.open(file, up=up) if file else World.sample("city", size=(size, size), seed=3, river=False)
    (x, y, _), (far_x, far_y, high) = world.bounds
    print("building the drone's waypoints and the person's navigation mesh (kept for the next time)")
    drone, person = world.planner(DRONE), world.planner(PERSON)
    print(drone.explain())
    # From one end of the district to the other: both begin and end on the ground, the drone a little above it.
    ground = person.random_points(200, seed=1)
    ends = [ground[ground[:, :2].sum(axis=1).argmin()], ground[ground[:, :2].sum(axis=1).argmax()]]
    places = [drone.nearest((*end[:2], end[2] + 1.5)) for end in ends]
    paths = {"person": person.path(*ends, exact=True), "drone": drone.path(*places).smooth()}
    # Airspace is closed over the middle of the district, from the roofs up.
    low, top = [x + 0.4 * (far_x - x), y + 0.4 * (far_y - y)], high + 50
    closed = world.block(Box((*low, 6.0), (far_x - low[0] + x, far_y - low[1] + y, top)))
    paths["drone, airspace closed"] = drone.path(*places).smooth()
    for name, path in paths.items():
        says = f"{path.length:.0f} m, at most {path.points[:, 2].max():.1f} m high" if path else "there is no way"
        print(f"{name}: {says}")
    world.unblock(closed)
    if picture is not None:
        pictures.save(oblique.draw_characters(world.mesh, paths), picture)
        print("drawn:", picture)
    return {name: path.length for name, path in paths.items()}


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:4])
