"""
Times questions that upstream's Go answers well against it, in turns, one JSON object a line.

    python benchmarks/workloads.py                              # every workload, on both fleets
    python benchmarks/workloads.py --case filter_shares --rounds 1

Every workload of `workload_cases.py` is asked of a uniform fleet and of one in which everything is different. Every
measurement is a fresh process, the runners take turns, and Go has one processor. Seconds are of processor time.
`cpu_s` is what Go's time is held against: which nodes fit, and the allocations that go with it, which upstream always
makes; `answer_s` is what a caller who looks at no allocation waits for. `load_s` is the dump read, and the cluster made
of it, in the very process; decoding is in neither time. Both programs hash nodes, devices and amounts in the order
asked: a line of a ratio says whether they are the same.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.peak import peak_mb
from benchmarks.workload_cases import WORKLOADS
from fuzz.oracle_build import OracleUnavailable, build

if TYPE_CHECKING:
    from dra_alloc.api import DeviceRequestAllocationResult, ResourceClaim
    from dra_alloc.cluster.cluster import Cluster
    from dra_alloc.cluster.fits import Fits
    from dra_alloc.cluster.outcomes import Allocated

    Pods = Sequence[Sequence[ResourceClaim]]

T = TypeVar("T")
P = ParamSpec("P")
RELEASE = "1.36.6"
FLEETS = {"uniform": False, "different": True}
Json = dict[str, Any]


class Clock:
    """Adds up the processor time of answering and of putting allocations together."""

    def __init__(self) -> None:
        self.spent = {"answer": 0.0, "results": 0.0}

    def __call__(self, part: str, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Return the value of a call, whose time counts as that of the part."""
        start = time.process_time()
        value = work(*given, **named)
        self.spent[part] += time.process_time() - start
        return value


def ours(mode: str, folder: Path) -> Json:
    """Load a workload and answer it."""
    from dra_alloc.api import ResourceClaim  # noqa: PLC0415 - the parent process needs none of it
    from dra_alloc.cluster.cluster import Cluster  # noqa: PLC0415
    from dra_alloc.cluster.settings import Settings  # noqa: PLC0415
    from dra_alloc.manifest import load  # noqa: PLC0415

    pods = [
        [ResourceClaim.from_wire(claim) for claim in pod]
        for pod in json.loads((folder / "asked.json").read_bytes())["pods"]
    ]
    clock = Clock()
    begun = time.process_time()
    cluster = Cluster.of(load([folder / "dump.json"]), Settings(RELEASE))
    loaded = time.process_time() - begun
    found = list(_MODES[mode](cluster, pods, clock))
    return {
        "runner": "ours",
        "load_s": round(loaded, 4),
        "answer_s": round(clock.spent["answer"], 4),
        "cpu_s": round(sum(clock.spent.values()), 4),
        "pods": len(pods),
        "placed": sum(each != "-" for each in found),
        "finished": True,
        "digest": _digest(found),
        "peak_mb": peak_mb(),
    }


def _ask(cluster: Cluster, pods: Pods, clock: Clock) -> Iterator[str]:
    """Ask every pod of every node."""
    for claims in pods:
        fits = clock("answer", cluster.filter, claims)
        names = clock("answer", getattr, fits, "nodes")
        made = clock("results", _all_made, fits, names)
        yield from _in_order(cluster, {each.node: _told(each) for each in made})


def _loop(cluster: Cluster, pods: Pods, clock: Clock) -> Iterator[str]:
    """Do the same, and take the first node that fits; allocations on the others are of no use to anybody."""
    for claims in pods:
        fits = clock("answer", cluster.filter, claims)
        names = clock("answer", getattr, fits, "nodes")
        told = {name: f"{name} " for name in names}
        if names:
            made = clock("results", _made, fits, names[0])
            told[names[0]] = _told(made)
            cluster = clock("answer", cluster.after, made)
        yield from _in_order(cluster, told)


def _in_order(cluster: Cluster, told: Mapping[str, str]) -> Iterator[str]:
    return (told.get(node.metadata.name or "", "-") for node in cluster.nodes)


def _call(cluster: Cluster, pods: Pods, clock: Clock) -> Iterator[str]:
    """Ask one node after the other, each for the first time."""
    for node in cluster.nodes:
        outcome = clock("answer", cluster.on_node, pods[0], node)
        yield _told(clock("results", _put_together, outcome)) if outcome else "-"


def _place(cluster: Cluster, pods: Pods, clock: Clock) -> Iterator[str]:
    """Put each pod on the first node that fits."""
    outcomes = clock("answer", cluster.place, pods).outcomes
    made = clock("results", lambda: [_put_together(each) if each else None for each in outcomes])
    return ("-" if each is None else _told(each) for each in made)


_MODES: Final = {"ask": _ask, "loop": _loop, "call": _call, "place": _place}


def _put_together(outcome: Any) -> Allocated:
    """Return the outcome with its allocations put together."""
    made: Allocated = outcome
    assert made.claims
    return made


def _made(fits: Fits, name: str) -> Allocated:
    return _put_together(fits.outcome(name))


def _all_made(fits: Fits, names: Sequence[str]) -> list[Allocated]:
    return [_made(fits, name) for name in names]


def _digest(told: Iterable[str]) -> str:
    """Return a hash of nodes, devices and amounts, as the Go program makes it."""
    return hashlib.sha256("".join(f"{each}\n" for each in told).encode()).hexdigest()[:16]


def _told(allocated: Allocated) -> str:
    return f"{allocated.node} {''.join(map(_named, _results(allocated)))}"


def _results(allocated: Allocated) -> Iterator[DeviceRequestAllocationResult]:
    for claim in allocated.claims:
        assert claim.status.allocation is not None
        yield from claim.status.allocation.devices.results


def _named(result: DeviceRequestAllocationResult) -> str:
    amounts = sorted((result.consumed_capacity or {}).items())
    return f"{result.pool}/{result.device}{''.join(f',{name}={amount}' for name, amount in amounts)} "


def upstream(folder: Path) -> Json:
    """Run the Go program on one processor."""
    command = [str(build(RELEASE, "fleet")), "workload", str(folder / "asked.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"GOMAXPROCS": "1"})
    line: Json = json.loads(done.stdout)
    return line


def measure(name: str, fleet: str, given: argparse.Namespace) -> Iterator[Json]:
    """Yield a line a run, and the ratio."""
    runs: dict[str, list[Json]] = {"ours": [], "upstream": []}
    with tempfile.TemporaryDirectory() as folder:
        workload = WORKLOADS[name](FLEETS[fleet])
        (Path(folder) / "asked.json").write_text(json.dumps(workload.for_upstream(given.seconds)), encoding="utf-8")
        (Path(folder) / "dump.json").write_text(json.dumps(workload.dump()), encoding="utf-8")
        about = {"case": name, "fleet": fleet}
        for _ in range(given.rounds):
            command = [sys.executable, __file__, "--measure", workload.mode, folder]
            runs["ours"].append(about | json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
            try:
                runs["upstream"].append(upstream(Path(folder)) | about)
            except OracleUnavailable as reason:
                yield about | {"runner": "upstream", "skipped": str(reason)}
    for lines in runs.values():
        yield from lines
    if runs["upstream"]:
        yield about | _ratio(runs["ours"], runs["upstream"])


def _ratio(mine: Sequence[Json], peer: Sequence[Json]) -> Json:
    """Return Go's time over ours, round by round, and whether all answers are the same."""
    ratios = sorted(theirs["cpu_s"] / own["cpu_s"] for own, theirs in zip(mine, peer, strict=True))
    answers = [theirs["cpu_s"] / own["answer_s"] for own, theirs in zip(mine, peer, strict=True)]
    same = len({(run["placed"], run["digest"]) for run in (*mine, *peer)}) == 1
    finished = all(run["finished"] for run in peer)
    return {
        "ratio": "upstream-1proc / ours",
        "value": round(statistics.median(ratios), 2),
        "least": round(ratios[0], 2),
        "without_results": round(statistics.median(answers), 2),
        "same_answer": same if finished else None,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(WORKLOADS), action="append")
    parser.add_argument("--fleet", choices=sorted(FLEETS), action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="when upstream is stopped, between two pods")
    parser.add_argument("--measure", nargs=2, metavar=("MODE", "FOLDER"), help="one run of ours, for the runs above")
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(ours(given.measure[0], Path(given.measure[1]))))
        return 0
    wrong = 0
    for name in given.case or WORKLOADS:
        for fleet in given.fleet or FLEETS:
            for line in measure(name, fleet, given):
                wrong += line.get("same_answer") is False
                print(json.dumps(line), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
