"""The panel beside the scene: what can be chosen, and what is told."""

from __future__ import annotations

from typing import Any

from wayfold.agent import Agent, Motion
from wayfold.view.viewer.agents import AGENTS, CUSTOM
from wayfold.view.viewer.gate import Control, all_within, one_of, within, yes_or_no
from wayfold.view.viewer.session import AUTO, MODES, SEARCHES
from wayfold.view.viewer.things import Colour

LEVEL, MAP, PATH, TOUCHED = "level", "map", "path", "touched"
_LARGEST_SIZE = 1000.0  # metres
_MOST_WALKERS = 20_000


class Panel:
    """The controls of the viewer, made in a viser server's GUI; `Page` wires them.

    Parameters
    ----------
    server : viser.ViserServer
    title : str
        What is being looked at.
    maps : tuple of str
        Maps to choose from.
    box : (x, y, z), metres
        Size of the boxes that block, at first.
    top : (low, high), metres
        Heights between which the level can be cut off.
    """

    def __init__(
        self,
        server: Any,
        title: str,
        maps: tuple[str, ...],
        box: tuple[float, float, float],
        top: tuple[float, float],
    ) -> None:
        gui = server.gui
        gui.configure_theme(
            control_width="medium", show_logo=False, show_share_button=False, brand_color=(43, 110, 180)
        )
        gui.set_panel_label("Wayfold")
        self.title = gui.add_markdown(f"**{title}**")
        self.status = gui.add_markdown("starting")
        self.progress = gui.add_progress_bar(0.0, visible=False, animated=True)
        self.report = gui.add_markdown("")
        with gui.add_folder("Who and how"):
            self.agent = gui.add_dropdown("agent", (*AGENTS, CUSTOM), hint="Who is walking, climbing or flying.")
            self._add_custom(gui)
            self.map = gui.add_dropdown("map", maps, hint="auto chooses by what the agent can do.")
            self.accelerator = gui.add_dropdown("accelerator", (AUTO,))
            self.search = gui.add_dropdown("search", SEARCHES)
        with gui.add_folder("Click"):
            self.mode = gui.add_dropdown(
                "puts", MODES, hint="Start and goal in turns; boxes that block; ctrl-click blocks at any time."
            )
            self.box = gui.add_vector3("box (m)", box, min=(0.1, 0.1, 0.1), step=0.5, hint="Size of a blocking box.")
            self.lift = gui.add_number("fly at (m)", 3.0, min=0.0, step=0.5, hint="A flyer's height over the click.")
            self.unblock_all = gui.add_button("Unblock all", color="gray")
            self.clear = gui.add_button("Clear start and goal", color="gray")
        with gui.add_folder("Crowd"):
            self.crowd_size = gui.add_number("agents", 500, min=1, max=_MOST_WALKERS, step=1)
            self.send = gui.add_button("Send the crowd to the goal")
            self.crowd = gui.add_markdown("")
        with gui.add_folder("Show"):
            self.shown = {
                LEVEL: gui.add_checkbox("the level", True),
                MAP: gui.add_checkbox("the map", True),
                PATH: gui.add_checkbox("the path", True),
                TOUCHED: gui.add_checkbox("touched nodes", True, hint="Nodes that the search settled."),
            }
            self.colouring = gui.add_dropdown("colours", ("plain",), hint="What the map's parts are coloured by.")
            low, high = top
            self.below = gui.add_slider("cut above (m)", low, high, max((high - low) / 100, 0.01), high)
            self.notes = gui.add_markdown("")
        with gui.add_folder("Why", expand_by_default=False):
            self.explanation = gui.add_markdown("")

    def controls(self) -> dict[str, Control]:
        """What a client may set each control to, by the control's id."""
        low, high = self.below.min, self.below.max
        buttons = (self.unblock_all, self.clear, self.send, self.apply)
        boxes = (*self.shown.values(), *self.motions.values())
        menus = (self.agent, self.map, self.accelerator, self.search, self.mode, self.colouring)
        limits: list[tuple[Any, Control]] = [
            (self.box, all_within(0.1, _LARGEST_SIZE, 3)),
            (self.lift, within(0.0, _LARGEST_SIZE)),
            (self.crowd_size, within(1, _MOST_WALKERS, whole=True)),
            (self.below, within(low, high)),
            (self.radius, within(0.0, _LARGEST_SIZE)),
            (self.height, within(0.05, _LARGEST_SIZE)),
            (self.climb, within(0.0, _LARGEST_SIZE)),
            (self.slope, within(0.0, 90.0)),
            *((button, yes_or_no) for button in buttons),
            *((box, yes_or_no) for box in boxes),
            *((menu, one_of(lambda menu=menu: menu.options)) for menu in menus),  # type: ignore[misc]
        ]
        return {handle._impl.uuid: control for handle, control in limits}

    def _add_custom(self, gui: Any) -> None:
        usual = Agent()
        self.custom = gui.add_folder("sizes", visible=False)
        with self.custom:
            self.radius = gui.add_number("radius (m)", usual.radius, min=0.0, step=0.05)
            self.height = gui.add_number("height (m)", usual.height, min=0.05, step=0.05)
            self.climb = gui.add_number("climb (m)", usual.climb, min=0.0, step=0.05)
            self.slope = gui.add_number("slope (°)", usual.slope, min=0.0, max=90.0, step=1.0)
            self.motions = {motion: gui.add_checkbox(_named(motion), motion in usual.motions) for motion in Motion}
            self.apply = gui.add_button("Use these sizes")

    def custom_agent(self) -> Agent:
        """The agent whose sizes are set; raises a `ParameterError` where they are impossible."""
        motions = sum(int(motion) for motion, box in self.motions.items() if box.value)
        sizes = (self.radius.value, self.height.value, self.climb.value, self.slope.value)
        return Agent(*sizes, motions=motions)  # type: ignore[arg-type]

    def busy(self, what: str) -> None:
        """Say what is being done, or that nothing is."""
        self.status.content = f"{what} …" if what else "ready"
        self.progress.visible = bool(what)
        self.progress.animated = True
        self.progress.value = 100.0 if what else 0.0

    def step(self, what: str, done: int, total: int) -> None:
        """Say how far a build is."""
        share = 100.0 * done / max(1, total)
        # Tiles come by the thousand: the browser is told of whole percents only.
        if int(share) != int(self.progress.value) or not self.status.content.startswith(what):
            self.progress.animated = False
            self.progress.value = share
            self.status.content = f"{what} … {int(share)} %"

    def say_notes(self, notes: tuple[str, ...], legend: tuple[tuple[str, Colour], ...]) -> None:
        """Say what is left out and what colours mean."""
        key = "  ".join(f'<span style="color: rgb{colour}">●</span> {name}' for name, colour in legend)
        self.notes.content = "\n\n".join([*([key] if key else []), *(f"*{note}*" for note in notes)])


def _named(motion: Motion) -> str:
    return str(motion.name).lower()
