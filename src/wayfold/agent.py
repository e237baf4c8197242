"""Who is moving: the size of a character and the motions it is capable of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntFlag
from typing import Any

from wayfold.core import checks
from wayfold.core.schema import Value
from wayfold.errors import ParameterError

__all__ = [
    "ALL_MOTIONS",
    "CHARACTERS",
    "CHARACTER_NOTES",
    "Agent",
    "Motion",
    "agent_named",
    "check_motions",
    "parse_motions",
]


class Motion(IntFlag):
    """Ways to move (Wardhana et al. 2015, section 3); combine them with ``|``.

    >>> spider = Motion.SURFACE | Motion.ADHESIVE
    >>> Motion.ADHESIVE in spider, Motion.VOLUMETRIC in spider
    (True, False)
    """

    SURFACE = 1
    """Along up-facing ground."""
    ADHESIVE = 2
    """Clinging to walls and ceilings."""
    VOLUMETRIC = 4
    """Through free space."""


ALL_MOTIONS = Motion.SURFACE | Motion.ADHESIVE | Motion.VOLUMETRIC


def parse_motions(text: str) -> Motion:
    """Motions named by a text such as ``"surface+adhesive"`` or ``"S+V"`` (the paper's short form)."""
    checks.text(text, "text")
    motions = Motion(0)
    for word in text.replace(",", "+").replace("|", "+").split("+"):
        name = word.strip().upper()
        match = [motion for motion in Motion if name and motion.name and motion.name.startswith(name)]
        if len(match) != 1:
            names = ", ".join(str(motion.name).lower() for motion in Motion)
            raise ParameterError(f"unknown motion {checks.shown(word.strip())}: choose from {names}, joined by '+'")
        motions |= match[0]
    return motions


@dataclass(frozen=True, slots=True)
class Agent:
    """An upright cylinder that moves: the size of a character and what it is capable of.

    Agents are immutable, and equal when all their numbers are, so they serve as dictionary keys.

    Parameters
    ----------
    radius : float, metres, >= 0
        Distance that the axis keeps from obstacles; a larger one keeps the agent out of narrow gaps.
    height : float, metres, > 0
        Free height that the agent needs.
    climb : float, metres, >= 0
        Highest step that it takes without jumping.
    slope : float, degrees, 0 to 90
        Steepest ground that it walks on.
    motions : Motion, or a str such as "surface+adhesive"
        Ways it can move, at least one. Walkers have `Motion.SURFACE` only.

    Raises
    ------
    ParameterError
        When a value is outside its limits.

    Examples
    --------
    >>> child = Agent(radius=0.25, height=1.2, climb=0.3)
    >>> child.slope, child.motions.name
    (45.0, 'SURFACE')
    >>> Agent(height=0.5, motions="surface+adhesive").motions == Motion.SURFACE | Motion.ADHESIVE
    True
    >>> Agent(slope=100)
    Traceback (most recent call last):
        ...
    wayfold.errors.ParameterError: slope must be from 0 to 90 degrees, not 100.0
    """

    radius: float = 0.4
    height: float = 1.8
    climb: float = 0.5
    slope: float = 45.0
    motions: Motion = Motion.SURFACE

    def __post_init__(self) -> None:
        for name in ("radius", "height", "climb", "slope"):
            value = checks.number(getattr(self, name), name, low=-checks.LARGEST, high=checks.LARGEST)
            object.__setattr__(self, name, value)
        if self.radius < 0:
            raise ParameterError(f"radius must be at least 0 metres, not {self.radius}")
        if self.height <= 0:
            raise ParameterError(f"height must be above 0 metres, not {self.height}")
        if self.climb < 0:
            raise ParameterError(f"climb must be at least 0 metres, not {self.climb}")
        if not 0 <= self.slope <= 90:
            raise ParameterError(f"slope must be from 0 to 90 degrees, not {self.slope}")
        object.__setattr__(self, "motions", check_motions(self.motions))


def check_motions(motions: int | str) -> Motion:
    """Motion bits from a number or a name, or a `ParameterError` that says what is wrong with them."""
    if isinstance(motions, str):
        return parse_motions(motions)
    if isinstance(motions, bool) or not isinstance(motions, int):
        raise ParameterError(f"motions must be Motion flags, not {checks.shown(motions)}")
    if not 0 < motions <= int(ALL_MOTIONS):
        raise ParameterError(
            f"motions must name at least one known motion (1 to {int(ALL_MOTIONS)}), not {checks.shown(motions)}"
        )
    return Motion(motions)


CHARACTERS: dict[str, Agent] = {
    "person": Agent(),
    "cart": Agent(radius=0.9, height=1.6, climb=0.2, slope=20.0),
    "spider": Agent(radius=0.25, height=0.5, climb=0.25, motions=Motion.SURFACE | Motion.ADHESIVE),
    "bird": Agent(radius=0.3, height=0.6, climb=0.3, motions=Motion.VOLUMETRIC),
}
"""Ready-made agents by name, one of each kind: the demo, the viewer and ``--agent`` of the commands offer these."""

CHARACTER_NOTES: dict[str, str] = {
    "person": "An adult who walks, takes stairs and fits through doors.",
    "cart": "A wide cart that needs ramps: it takes low steps and gentle slopes only.",
    "spider": "A small climber that walks on the ground, on walls and on ceilings.",
    "bird": "A small flyer that moves through free space.",
}
"""One sentence about each of `CHARACTERS`."""


def agent_named(name: str) -> Agent:
    """Return one of `CHARACTERS`.

    >>> agent_named("cart").radius
    0.9
    """
    checks.text(name, "name")
    if name not in CHARACTERS:
        raise ParameterError(f"unknown agent {checks.shown(name)}: choose from {', '.join(CHARACTERS)}")
    return CHARACTERS[name]


AGENT_VALUES = {
    "radius": Value(float, "metres", 0.0, checks.LARGEST),
    "height": Value(float, "metres", 0.0, checks.LARGEST),
    "climb": Value(float, "metres", 0.0, checks.LARGEST),
    "slope": Value(float, "degrees", 0.0, 90.0),
    "motions": Value(int, "Motion bits", 1, int(ALL_MOTIONS)),
}
"""What the `meta` of a saved map says of its agent."""


def agent_to_meta(agent: Agent) -> dict[str, Any]:
    """The entries of `AGENT_VALUES`."""
    return {**asdict(agent), "motions": int(agent.motions)}


def agent_from_meta(meta: Mapping[str, Any]) -> Agent:
    """The agent that `agent_to_meta` wrote down."""
    return Agent(**{**meta, "motions": Motion(meta["motions"])})
