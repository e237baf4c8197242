"""`wayfold bench papers --paper decomposition`."""

from __future__ import annotations

import json as json_text
from pathlib import Path

import numpy as np

from wayfold.bench import decomposition
from wayfold.cli._output import print_json, print_table, progress
from wayfold.floorplan import METHODS


def report(data: Path, full: bool, out: Path | None, json: bool, quiet: bool) -> None:
    """Measure the decompositions as the paper does, and report them."""
    quick = not full
    steps = len(decomposition.levels(data, quick)) + (3 if quick else 7)
    with progress("bench", steps, quiet) as step:
        found = decomposition.run(data, quick=quick, progress=step)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "decomposition.json").write_text(json_text.dumps(found.as_dict(), indent=2) + "\n", encoding="utf-8")
        from wayfold.view import decompositions, pictures

        plans = {name: make() for name, make in list(decomposition.levels(data, True).items())[:5]}
        cuts = {method: [plan.decompose(method) for plan in plans.values()] for method in METHODS}
        pictures.save(decompositions.figure_2(plans, cuts), out / "decomposition.png")
        _plot_scaling(found, out / "decomposition-scaling.png")
    if json:
        print_json(found.as_dict())
        return
    _print(found)


def _print(report: decomposition.Report) -> None:
    rows = [
        (
            f"{row.level}, {row.method}",
            row.regions,
            f"{row.coverage:.4%}",
            f"{row.overlap:.0e}",
            row.distance,
            row.turns,
            f"{row.crossed:.1f}",
            f"{row.smooth:.4g}",
            f"{row.shortest:.4g}",
            f"{row.area_quartiles[1]:.3g} / {row.area_quartiles[2]:.3g} / {row.area_quartiles[3]:.3g}",
            f"{row.width_quartiles[1]:.3g} / {row.width_quartiles[2]:.3g} / {row.width_quartiles[3]:.3g}",
            f"{row.sharp:.0%}",
            f"{row.seconds:.3f}",
        )
        for row in report.rows
    ]
    head = ("level, method", "regions", "coverage", "overlap", "distance", "turns", "crossed", "pulled", "shortest")
    print_table(
        "Decompositions of paper 004", (*head, "area 1/4 1/2 3/4", "width 1/4 1/2 3/4", "sharp", "seconds"), rows
    )
    table = []
    for method, paper in decomposition.PAPER.items():
        mine = [row for row in report.rows if row.method == method]
        other = [row for row in report.rows if row.method == "hertel-mehlhorn"]
        ratio = float(np.mean([a.regions / b.regions for a, b in zip(mine, other, strict=True)]))
        coverage = float(np.mean([row.coverage for row in mine]))
        table.append(
            (
                method,
                f"{paper['distance']} ({paper['distance'] / 442.7:.2f}x)",
                f"{np.mean(report.distances[method]):.1f} "
                f"({np.mean(report.distances[method]) / np.mean(report.distances['deaccon']):.2f}x)",
                f"{np.mean(report.excess[method]):.3f}",
                f"{paper['turns']}",
                f"{np.mean(report.turns[method]):.2f}",
                f"{paper['coverage']:.0%}",
                f"{coverage:.2%}",
                f"{paper['regions'] / 42:.2f}x",
                f"{ratio:.2f}x",
            )
        )
    columns = ("", "distance, paper", "here", "/ shortest", "turns, paper", "here", "coverage, paper", "here")
    routes = len(report.distances["deaccon"]) * len(METHODS) // len(report.rows)
    print_table(f"Table 1 ({routes} routes a level)", (*columns, "regions / HM, paper", "here"), table)
    for what, test in report.tests.items():
        pairs = "; ".join(f"{name} {pair['mean']:+.2f} (p {pair['p']:.1e})" for name, pair in test["pairs"].items())
        print(f"repeated measures, {what}: F{tuple(test['freedom'])} = {test['F']:.1f}, p = {test['p']:.1e}; {pairs}")
    for text in report.exceptions():
        print(f"not ahead: {text}")
    if report.exceptions():
        print(
            "Why: an agent turns where it enters and leaves regions, so turns follow the regions that it crosses. "
            "DEACCON's cuts run along x or y and end one protruding corner each, Hertel-Mehlhorn's join two corners, "
            "so among scattered slanted obstacles and in mazes it has more regions to cross. Distance is lost on the "
            "way to the centre of a long region and back, where both gateways lie near one of its ends. Space-filling "
            "volumes that need many seeds to connect a level have so many small regions that their centres lie near "
            "every straight line: short ways, for two to three times the turns."
        )
    timing = [(row["obstacles"], *(f"{row[method]:.3f}" for method in METHODS)) for row in report.scaling]
    print_table("Seconds against the number of obstacles", ("obstacles", *METHODS), timing)


def _plot_scaling(report: decomposition.Report, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for method in METHODS:
        axes.loglog(
            [row["obstacles"] for row in report.scaling], [row[method] for row in report.scaling], "o-", label=method
        )
    axes.set_xlabel("obstacles")
    axes.set_ylabel("seconds")
    axes.legend()
    figure.savefig(file, dpi=130)
