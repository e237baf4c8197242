"""Who can be chosen in the viewer."""

from __future__ import annotations

from wayfold.agent import Agent, Motion

AGENTS: dict[str, Agent] = {
    "person": Agent(),
    "cart": Agent(radius=0.9, height=1.6, climb=0.2, slope=20.0),
    "spider": Agent(radius=0.25, height=0.5, climb=0.25, slope=50.0, motions=Motion.SURFACE | Motion.ADHESIVE),
    "bird": Agent(radius=0.3, height=0.6, motions=Motion.VOLUMETRIC),
}
"""By name; `CUSTOM` stands for one whose sizes the user sets."""

CUSTOM = "custom"
