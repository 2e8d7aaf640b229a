"""
Times questions to whole clusters against upstream's Go, in turns, one JSON object a line.

    python benchmarks/fleet.py                       # every case at full size
    python benchmarks/fleet.py --small --rounds 1
    python benchmarks/fleet.py --case whatif_5k

Every measurement is a fresh process, and the runners take turns. Ratios are of
processor time, so that other work on the machine is in neither; where upstream
does not finish within its time, of processor time per pod. Without Go the peer
is left out, and the last line says so.

`ours` times, after the dump is loaded: `answer` (the index of the cluster, every
pod's node and devices), `again` (the same on what is known by then), `results`
(putting all allocations together). Upstream's time is that of making one
allocator a pod and asking it node by node; decoding is in neither.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fleet_cases import CASES, fleet_case
from benchmarks.peak import peak_mb
from fuzz.oracle_build import OracleUnavailable, build

if TYPE_CHECKING:
    from dra_alloc.api import ResourceClaim
    from dra_alloc.cluster.cluster import Cluster

T = TypeVar("T")
RELEASE = "1.36.6"
Json = dict[str, Any]


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of a call, and its value."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def ours(name: str, folder: Path) -> Json:
    """Load a case and answer it."""
    from dra_alloc.api import ResourceClaim  # noqa: PLC0415 - the parent process needs none of it
    from dra_alloc.cluster.cluster import Cluster  # noqa: PLC0415
    from dra_alloc.cluster.settings import Settings  # noqa: PLC0415
    from dra_alloc.manifest import load  # noqa: PLC0415

    asked = json.loads((folder / f"{name}.asked.json").read_bytes())
    pods = [[ResourceClaim.from_wire(claim) for claim in pod] for pod in asked["pods"]]
    loading, documents = timed(lambda: load([folder / f"{name}.dump.json"]))
    line: Json = {"case": name, "runner": "ours", "load_s": round(loading, 3)}
    if asked["mode"] == "filter":
        cluster = Cluster.of(documents, Settings(RELEASE))
        return line | _filter(cluster, pods[0], asked["repeats"]) | {"peak_mb": peak_mb()}
    cpu, (cluster, placements) = timed(lambda: _answer(Cluster.of(documents, Settings(RELEASE)), pods))
    again, _ = timed(lambda: cluster.place(pods))
    results, _ = timed(lambda: [getattr(each, "claims", None) for each in placements.outcomes])
    return line | {
        "cpu_s": round(cpu, 4),
        "again_s": round(again, 4),
        "results_s": round(results, 4),
        "pods": len(pods),
        "placed": placements.placed,
        "finished": True,
        "digest": _digest(placements.outcomes),
        **cluster.known.survey.counts(),
        "peak_mb": peak_mb(),
    }


def _answer(cluster: Cluster, pods: Sequence[Sequence[ResourceClaim]]) -> tuple[Cluster, Any]:
    return cluster, cluster.place(pods)


def _filter(cluster: Cluster, claims: Sequence[ResourceClaim], repeats: int) -> Json:
    """Time single calls with the node known; `cold` calls are the first of a new state of allocation."""
    times = []
    fitting = 0
    for _ in range(repeats):
        fitting = 0
        for node in cluster.nodes:
            start = time.perf_counter()
            outcome = cluster.on_node(claims, node)
            times.append((time.perf_counter() - start) * 1e6)
            fitting += bool(outcome)
    times.sort()
    cpu, _ = timed(lambda: [cluster.on_node(claims, node) for node in cluster.nodes])
    passes = [
        timed(lambda: [getattr(cluster.on_node(claims, node), "claims", None) for node in cluster.nodes])[0]
        for _ in range(repeats)
    ]
    return {
        "p50_us": round(times[len(times) // 2], 2),
        "p95_us": round(times[len(times) * 95 // 100], 2),
        "cpu_us": round(cpu / len(cluster.nodes) * 1e6, 2),
        "first_results_us": round(passes[0] / len(cluster.nodes) * 1e6, 2),
        "with_results_us": round(statistics.median(passes) / len(cluster.nodes) * 1e6, 2),
        "placed": fitting,
        "digest": _digest([cluster.on_node(claims, node) for node in cluster.nodes]),
        "finished": True,
    }


def _digest(outcomes: Sequence[Any]) -> str:
    """Return a hash of nodes and devices, as the Go program makes it."""
    digest = hashlib.sha256()
    for outcome in outcomes:
        text = "-"
        if outcome:
            results = [each for claim in outcome.claims for each in claim.status.allocation.devices.results]
            text = f"{outcome.node} {''.join(f'{each.pool}/{each.device} ' for each in results)}"
        digest.update(f"{text}\n".encode())
    return digest.hexdigest()[:16]


def upstream(name: str, folder: Path, processors: int | None) -> Json:
    """Run the Go program on a case; without `processors` on all of them."""
    binary = build(RELEASE, "fleet")
    environment = os.environ | ({"GOMAXPROCS": str(processors)} if processors else {})
    command = [str(binary), name, str(folder / f"{name}.asked.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    line: Json = json.loads(done.stdout)
    return line


def write(name: str, folder: Path, *, full: bool, seconds: float) -> None:
    """Write a case for both runners."""
    case = fleet_case(name, full=full)
    (folder / f"{name}.asked.json").write_text(json.dumps(case.for_upstream(seconds)), encoding="utf-8")
    (folder / f"{name}.dump.json").write_text(json.dumps(case.dump()), encoding="utf-8")


def measure(name: str, folder: Path, rounds: int) -> Iterator[Json]:
    """Yield a line a run, and the ratios."""
    lines: dict[str, list[Json]] = {}
    for _ in range(rounds):
        command = [sys.executable, __file__, "--measure", name, str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        lines.setdefault("ours", []).append(json.loads(done.stdout))
        try:
            for processors in (1, None):
                line = upstream(name, folder, processors)
                lines.setdefault(line["runner"], []).append(line)
        except OracleUnavailable as reason:
            lines.setdefault("upstream", []).append({"case": name, "runner": "upstream", "skipped": str(reason)})
    for runs in lines.values():
        yield from runs
    yield from _ratios(name, lines)


def _ratios(name: str, lines: dict[str, list[Json]]) -> Iterator[Json]:
    mine = lines.pop("ours")
    for runner, runs in lines.items():
        if "skipped" in runs[0]:
            continue
        if "p50_us" in runs[0]:
            value = statistics.median(run["p50_us"] for run in runs) / statistics.median(run["p50_us"] for run in mine)
        else:
            value = min(map(_per_pod, runs)) / min(map(_per_pod, mine))
        same = (runs[0]["placed"], runs[0]["digest"]) == (mine[0]["placed"], mine[0]["digest"])
        yield {
            "case": name,
            "ratio": f"{runner} / ours",
            "value": round(value, 2),
            "same_answer": same if runs[0]["finished"] else None,
        }


def _per_pod(run: Json) -> float:
    """Return the processor time a pod; on several processors what it would be if they shared the work evenly."""
    processors = 1 if run["runner"] == "ours" else int(run["runner"].removeprefix("upstream-").removesuffix("proc"))
    return float(run["cpu_s"]) / processors / max(int(run["pods"]), 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(CASES), action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="a tenth of the size")
    parser.add_argument("--seconds", type=float, default=60, help="when upstream is stopped, between two pods")
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "FOLDER"), help="one run of ours, for the runs above")
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(ours(given.measure[0], Path(given.measure[1]))))
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in given.case or list(CASES):
            write(name, Path(folder), full=not given.small, seconds=given.seconds)
            for line in measure(name, Path(folder), given.rounds):
                wrong += line.get("same_answer") is False
                print(json.dumps(line), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
