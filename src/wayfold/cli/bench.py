"""`wayfold bench`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from wayfold.bench import harness, navmesh, peers, world
from wayfold.cli._output import check_writable, print_facts, print_json, print_table, progress
from wayfold.cli.journey import agent_named
from wayfold.errors import ParameterError


def run_peers(
    data: Path, rounds: int, names: tuple[str, ...], dao: str, out: Path | None, json: bool, quiet: bool
) -> None:
    """Run the comparison with graph libraries and report it."""
    for name in names:
        if name not in peers.PEERS:
            raise ParameterError(f"unknown peer {name!r}: choose from {', '.join(peers.PEERS)}")
    if not data.is_dir():
        raise ParameterError(f"the data folder {data} does not exist")
    if out is not None:
        check_writable(out, (".json",))
    chosen = names or peers.PEERS
    # A step each for building a peer's graph, and one for each run of each contender, warm-up included.
    steps = 2 * (len(chosen) + (rounds + 1) * (len(chosen) + 1))
    tasks = (peers.city(data), peers.dao(data, dao))
    with progress("bench", steps, quiet) as step:
        comparisons = [peers.run(task, peers=chosen, rounds=rounds, progress=step) for task in tasks]
    where = harness.machine(*peers.PEERS)
    if out is not None:
        out.write_text(harness.to_json(comparisons, where) + "\n", encoding="utf-8")
    if json:
        print_json({"machine": asdict(where), "comparisons": [comparison.as_dict() for comparison in comparisons]})
        return
    for comparison in comparisons:
        report(comparison)
    print(f"{where.processor}, {where.cores} cores, Python {where.python}, {rounds} rounds, all answers checked")


def run_navmesh(data: Path, rounds: int, json: bool, quiet: bool) -> None:
    """Build and query the shared meshes and report it beside Recast's and Detour's figures."""
    if not data.is_dir():
        raise ParameterError(f"the data folder {data} does not exist")
    with progress("bench", 3 + 5 * (rounds + 1), quiet) as step:
        step("sample meshes")
        built = navmesh.samples(data)
        comparisons = [navmesh.any_angle(data, rounds=rounds, progress=step)]
        step("the city")
        mesh, facts = navmesh.city(data)
        comparisons.append(navmesh.city_paths(mesh, data, rounds=rounds, progress=step))
    where = harness.machine()
    if json:
        parts = [comparison.as_dict() for comparison in comparisons]
        print_json({"machine": asdict(where), "samples": built, "city": facts, "comparisons": parts})
        return
    print_table("sample meshes", tuple(built[0]), [tuple(row.values()) for row in built])
    print_facts("city, tiles of 48 columns", facts)
    for comparison in comparisons:
        rows = [(timing.name, f"{timing.median * 1e3:.3f}", f"{timing.ratio:.2f}x") for timing in comparison.timings]
        print_table(comparison.title, ("", "ms a query", "ratio"), rows)
        if comparison.facts:
            print_facts("lengths", comparison.facts)
    print(f"{where.processor}, {where.cores} cores, Python {where.python}, {rounds} rounds, all answers checked")


def run_world(
    size: tuple[float, float], agent: str, agents: int, rounds: int, edits: int, json: bool, quiet: bool
) -> None:
    """Measure a crowd in the generated city and report it."""
    who = agent_named(agent)
    with progress("bench", 2 + 7 * (rounds + 1) + edits, quiet) as step:
        facts, comparisons = world.measure(size, who, agents, rounds=rounds, changes=edits, progress=step)
    where = harness.machine()
    if json:
        parts = [comparison.as_dict() for comparison in comparisons]
        print_json({"machine": asdict(where), "world": facts, "comparisons": parts})
        return
    print_facts(f"a generated city of {size[0]:g} x {size[1]:g} m, {agent}", facts)
    for comparison in comparisons:
        rows = [
            (timing.name, f"{timing.median * 1e6:.1f}", f"{1 / timing.median:,.0f}", f"{1 / timing.ratio:.1f}x")
            for timing in comparison.timings
        ]
        print_table(comparison.title, ("", "us each", "a second", "rate / one by one"), rows)
    print(f"{where.processor}, {where.cores} cores, Python {where.python}, {rounds} rounds, all answers checked")


def report(comparison: harness.Comparison) -> None:
    """Print one comparison as a table."""
    facts = comparison.facts
    title = (
        f"{comparison.title}: {facts['nodes']:,} nodes, {facts['edges']:,} edges, mean cost {facts['mean_cost']:.2f}"
    )
    rows = [
        (
            timing.name,
            f"{timing.median * 1e3:.3f}",
            f"{timing.ratio:.2f}x",
            f"{min(timing.ratios):.2f} to {max(timing.ratios):.2f}",
        )
        for timing in comparison.timings
    ]
    print_table(title, ("", "ms a query", f"time / {comparison.timings[0].name}", "range"), rows)
    extra = {name.removesuffix("_us"): value for name, value in facts.items() if name.endswith("_us")}
    print("  " + ", ".join(f"{name.replace('_', ' ')} {value:.1f} us" for name, value in extra.items()) + "\n")
