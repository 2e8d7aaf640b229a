"""
What does one question to one node of eight devices cost, warm and from scratch?

    python benchmarks/filter_call.py [--rounds 200]

Warm asks one allocator again and again, each time with a new claim; cold makes
the allocator and all it remembers for every question. Both run interleaved,
and the results are put together each time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import Documents
from dra_alloc.solve.outcome import Solved

DRIVER = "gpu.example.com"


def documents() -> Documents:
    """Return one node with eight devices, four on each of two NUMA nodes."""
    devices = [
        {"name": f"gpu-{number}", "attributes": {"numa": {"int": number // 4}, "model": {"string": "A"}}}
        for number in range(8)
    ]
    pool = {"name": "node-a", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "node-a", "pool": pool, "devices": devices}
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    return Documents(
        slices=(ResourceSlice.from_wire({"metadata": {"name": "s"}, "spec": spec}),),
        classes=(DeviceClass.from_wire({"metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}}),),
        nodes=(Node.from_wire({"metadata": {"name": "node-a"}}),),
    )


def claim(count: int, *, match: bool) -> ResourceClaim:
    """Return a claim for some of the devices, on one NUMA node if they have to match."""
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    devices: dict[str, object] = {"requests": [{"name": "r", "exactly": exactly}]}
    if match:
        devices["constraints"] = [{"matchAttribute": f"{DRIVER}/numa"}]
    return ResourceClaim.from_wire({"metadata": {"name": "c"}, "spec": {"devices": devices}})


def timed(question: Callable[[], object]) -> float:
    """Return the processor time of one question in microseconds."""
    began = time.process_time()
    question()
    return (time.process_time() - began) * 1e6


def main() -> None:
    """Print one line per question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    made = documents()
    warm = Cluster.of(made)
    node = warm.nodes[0]
    for name, count, match in (("1 of 8", 1, False), ("8 of 8", 8, False), ("2 of one NUMA node", 2, True)):
        steps = 0

        def ask(cluster: Cluster, count: int = count, match: bool = match) -> None:
            nonlocal steps
            outcome = cluster.known.allocator.allocate(node, [claim(count, match=match)])
            assert isinstance(outcome, Solved)
            steps = outcome.work.steps
            assert len(outcome.results[0].devices.results) == count

        pairs = [(timed(lambda: ask(warm)), timed(lambda: ask(Cluster.of(made)))) for _ in range(rounds)]
        hot, cold = (statistics.median(each) for each in zip(*pairs, strict=True))
        line = {"benchmark": "filter_call", "case": name, "warm_us": round(hot), "cold_us": round(cold)}
        print(json.dumps({**line, "cold_to_warm": round(cold / hot, 1), "steps": steps, "rounds": rounds}))


if __name__ == "__main__":
    main()
