"""
Times joint questions over many nodes, one JSON object a line.

    python benchmarks/gang.py

`first_ms` is the first question after loading: it includes indexing the slices, `again_ms` is it once more;
`in_order_ms` places the pods one by one, as kube-scheduler goes: the peer in the same process. CPU time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.hard_cases import mig_node, profile_request
from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import load
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.gang import can_place, place_gang
from dra_alloc.scenario.gang.greedy import place_in_order
from dra_alloc.scenario.gang.types import Member, Topology, Verdict
from dra_alloc.solve.cpsat.solver import is_installed

Json = dict[str, Any]


class Question(NamedTuple):
    """A question, and whether there is a placement."""

    name: str
    fits: bool
    cluster: Cluster
    members: Sequence[Member]
    ask: Callable[[Cluster, Sequence[Member]], Verdict]


def _cluster(slices: Sequence[Json], nodes: int) -> Cluster:
    """Return the cluster as it is once its manifests are loaded, and nothing asked yet."""
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number:03}", "labels": {"rack": f"r{number // 16}"}},
        }
        for number in range(nodes)
    ]
    items.append({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}})
    items += [{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **each} for each in slices]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        return Cluster.of(load([path]))


def _plain(sizes: Sequence[int]) -> Cluster:
    slices = [
        {
            "metadata": {"name": f"s{number:03}"},
            "spec": {
                "driver": "d",
                "nodeName": f"n{number:03}",
                "pool": {"name": f"n{number:03}", "generation": 1, "resourceSliceCount": 1},
                "devices": [
                    {"name": f"g{place}", "attributes": {"uuid": {"string": f"{number}-{place}"}}}
                    for place in range(size)
                ],
            },
        }
        for number, size in enumerate(sizes)
    ]
    return _cluster(slices, len(sizes))


def _mig(nodes: int) -> Cluster:
    slices = []
    for number in range(nodes):
        name = f"n{number:03}"
        for each in mig_node(8):
            spec = {**each["spec"], "nodeName": name, "pool": {**each["spec"]["pool"], "name": name}}
            slices.append({"metadata": {"name": f"{name}-{each['metadata']['name']}"}, "spec": spec})
    return _cluster(slices, nodes)


def _claim(request: Json) -> ResourceClaim:
    return ResourceClaim.model_validate({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})


def _pods(claim: ResourceClaim, count: int) -> list[Member]:
    return [Member(f"pod-{number}", (claim,)) for number in range(count)]


def _whole(cluster: Cluster, members: Sequence[Member]) -> Verdict:
    return place_gang(cluster, members).joint.verdict


def _in_a_rack(cluster: Cluster, members: Sequence[Member]) -> Verdict:
    return place_gang(cluster, members, Topology("rack")).joint.verdict


def _questions() -> Iterator[Question]:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 8}
    eight = _claim({"name": "r", "exactly": exactly})
    yield Question("64 x 8 on 128 nodes", True, _plain([8] * 128), _pods(eight, 64), _whole)
    yield Question("64 x 8 on 64 nodes", True, _plain([8] * 64), _pods(eight, 64), _whole)
    yield Question("64 x 8, one device short", False, _plain([8] * 63 + [7]), _pods(eight, 64), _whole)
    yield Question("16 x 8 in a rack of 16", True, _plain([8] * 128), _pods(eight, 16), _in_a_rack)
    yield Question("17 x 8 in a rack of 16", False, _plain([8] * 128), _pods(eight, 17), _in_a_rack)
    if not is_installed():
        return
    for nodes in (1, 8, 128):
        for more in (0, 1):
            wanted = {"3g.40gb": 6, "4g.40gb": 6, "2g.20gb": 6, "1g.10gb": 2}
            pods = [
                member
                for profile, count in wanted.items()
                for member in _pods(
                    _claim(profile_request("r", profile)), count * nodes + (more if profile == "1g.10gb" else 0)
                )
            ]
            kind = "one too many" if more else "tight"
            yield Question(f"MIG, {8 * nodes} GPUs, {kind}", not more, _mig(nodes), pods, can_place)


def main() -> int:
    """Run; return 1 if a verdict is wrong."""
    wrong = 0
    for question in _questions():
        times: list[float] = []
        verdict = Verdict.UNDECIDED
        for _ in range(3):
            started = time.process_time()
            verdict = question.ask(question.cluster, question.members)
            times.append(time.process_time() - started)
            wrong += (verdict is Verdict.PLACED) is not question.fits
        line = {
            "question": question.name,
            "fits": question.fits,
            "verdict": verdict,
            "first_ms": round(times[0] * 1e3, 1),
            "again_ms": round(min(times[1:]) * 1e3, 1),
        }
        if question.ask is _whole:
            started = time.process_time()
            place_in_order(Books(question.cluster.known.allocator), question.cluster.nodes, question.members)
            line["in_order_ms"] = round((time.process_time() - started) * 1e3, 1)
        print(json.dumps(line), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
