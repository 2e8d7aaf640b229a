"""
One slice or one claim changes, and the question is answered again: median and worst of 50, against a reload.

    python benchmarks/incremental.py [--nodes 5000]

The question is which nodes could have a claim for four devices of one NUMA node.
Processor milliseconds; `reload_ms` is the load of the dump and the first answer.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fleet_cases import NUMA, FleetCase, claim, whatif
from dra_alloc.api import ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import load

ROUNDS = 50
Change = Callable[[Cluster], Cluster]


def slice_changes(case: FleetCase) -> list[Change]:
    """Return changes of one slice each: another generation of the pool, with fewer devices."""
    draw = random.Random("slices")
    changes: list[Change] = []
    for number in range(ROUNDS):
        wire = json.loads(json.dumps(draw.choice(case.slices)))
        wire["spec"]["pool"]["generation"] = number + 2
        wire["spec"]["devices"] = wire["spec"]["devices"][: draw.randint(1, 8)]
        changed = ResourceSlice.from_wire(wire)
        changes.append(lambda cluster, changed=changed: cluster.with_slices([changed]))  # type: ignore[misc]
    return changes


def claim_changes(case: FleetCase) -> list[Change]:
    """Return changes of one claim each: it goes."""
    names = [f"default/{each['metadata']['name']}" for each in case.claims]
    chosen = random.Random("claims").sample(names, ROUNDS)
    return [lambda cluster, name=name: cluster.without_claims([name]) for name in chosen]  # type: ignore[misc]


def main() -> None:
    """Print a line a kind of change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5_000)
    nodes = parser.parse_args().nodes
    case = whatif(nodes, 8, 1)
    asked = [ResourceClaim.from_wire(claim("asked", 4, NUMA, "H100"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        path.write_text(json.dumps(case.dump()), encoding="utf-8")
        began = time.process_time()
        cluster = Cluster.of(load([path]))
        cluster.filter(asked)
        reload_ms = (time.process_time() - began) * 1e3
    # Who holds what is written down with the first claim that changes, once for all clusters of the line.
    began = time.process_time()
    cluster = cluster.without_claims(["default/none"])
    ledger_ms = (time.process_time() - began) * 1e3
    for name, changes in (("slice", slice_changes(case)), ("claim", claim_changes(case))):
        times = []
        # Making the changed objects is not part of it, nor is the collector's first look at them.
        gc.collect()
        for change in changes:
            began = time.process_time()
            cluster = change(cluster)
            cluster.filter(asked)
            times.append((time.process_time() - began) * 1e3)
        times.sort()
        median = times[len(times) // 2]
        line = {"case": f"incremental_{name}", "runner": "ours", "median_ms": round(median, 3)}
        line |= {
            "worst_ms": round(times[-1], 3),
            "reload_ms": round(reload_ms, 1),
            "first_claim_ms": round(ledger_ms, 1),
        }
        print(json.dumps({**line, "reload_to_median": round(reload_ms / median)}), flush=True)


if __name__ == "__main__":
    main()
