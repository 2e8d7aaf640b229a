"""
How the cost of whole-cluster questions grows, one JSON object a point, and the fitted exponents.

    python benchmarks/curves.py [--curve nodes|claims|devices] [--rounds 3]

Every point is a fresh process that loads a dump and places pods: `first_s` is the
first answer, with the index of the cluster; `again_s` the same question on what is
known by then. Processor seconds, the best of the rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fleet_cases import whatif

Json = dict[str, Any]


class Curve(NamedTuple):
    """A sweep: (nodes, devices a node, pods) by point, and the largest exponents allowed."""

    points: dict[int, tuple[int, int, int]]
    limits: dict[str, float]


CURVES: Final = {
    "nodes": Curve(
        {nodes: (nodes, 8, 1_000) for nodes in (100, 500, 1_000, 2_000, 5_000, 10_000, 15_000)},
        {"load_s": 1.1, "first_s": 1.0, "again_s": 0.5},
    ),
    "claims": Curve({pods: (2_000, 8, pods) for pods in (10, 100, 1_000, 10_000)}, {"first_s": 1.0, "again_s": 1.0}),
    "devices": Curve(
        {devices: (500, devices, 300) for devices in (4, 8, 16, 32, 64, 128)},
        {"load_s": 1.1, "first_s": 1.1, "again_s": 1.1},
    ),
}


def measure(dump: Path, asked: Path) -> Json:
    """Load, answer, answer again."""
    from dra_alloc.api import ResourceClaim  # noqa: PLC0415 - the writing process needs none of it
    from dra_alloc.cluster.cluster import Cluster  # noqa: PLC0415
    from dra_alloc.manifest import load  # noqa: PLC0415

    pods = [[ResourceClaim.from_wire(claim) for claim in pod] for pod in json.loads(asked.read_bytes())]
    times = [time.process_time()]
    documents = load([dump])
    times.append(time.process_time())
    cluster = Cluster.of(documents)
    placements = cluster.place(pods)
    times.append(time.process_time())
    cluster.place(pods)
    times.append(time.process_time())
    names = ("load_s", "first_s", "again_s")
    spent = {name: round(times[number + 1] - times[number], 4) for number, name in enumerate(names)}
    return {**spent, "placed": placements.placed, **cluster.known.survey.counts()}


def point(size: tuple[int, int, int], rounds: int) -> Json:
    """Return the best of some rounds."""
    nodes, devices, pods = size
    case = whatif(nodes, devices, pods, together=True)
    with tempfile.TemporaryDirectory() as folder:
        dump, asked = Path(folder) / "dump.json", Path(folder) / "asked.json"
        dump.write_text(json.dumps(case.dump(), separators=(",", ":")), encoding="utf-8")
        asked.write_text(json.dumps(case.pods), encoding="utf-8")
        command = [sys.executable, __file__, "--measure", str(dump), str(asked)]
        done = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(rounds)]
    lines = [json.loads(each.stdout) for each in done]
    return {name: min(line[name] for line in lines) for name in lines[0]}


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the power of x that fits y best, by least squares of their logarithms."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(max(y, 1e-6)) for _, y in points]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - middle_x) ** 2 for x in xs)


def run(name: str, rounds: int) -> Iterator[Json]:
    """Yield the points of a curve, and its exponents."""
    curve = CURVES[name]
    found = {}
    for x, size in curve.points.items():
        found[x] = point(size, rounds)
        yield {"curve": name, "x": x, **found[x]}
    for measured, limit in curve.limits.items():
        fitted = exponent([(x, line[measured]) for x, line in found.items()])
        yield {"curve": name, "measure": measured, "exponent": round(fitted, 2), "limit": limit}


def main() -> int:
    """Print the lines; 1 if an exponent is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curve", choices=sorted(CURVES), action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--measure", nargs=2, type=Path, metavar=("DUMP", "ASKED"), help="one point, for the runs above"
    )
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(*given.measure)))
        return 0
    beyond = 0
    for name in given.curve or list(CURVES):
        for line in run(name, given.rounds):
            beyond += line.get("exponent", 0) > line.get("limit", 1)
            print(json.dumps(line), flush=True)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
