"""
A million devices: 125,000 nodes of 8, from a dump of 700 MB to the answer for 1,000 pods.

    python benchmarks/million.py [--nodes 125000] [--pods 1000]

Prints one JSON object: processor seconds of loading, of the first answer (with the
index it needs) and of the same question once more, and the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from subprocess import run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fleet_cases import device_class, node, whatif_pods
from benchmarks.generate import slices
from benchmarks.peak import peak_mb


def write(path: Path, nodes: int) -> None:
    """Write the dump piece by piece; it never is in memory as a whole."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"apiVersion":"v1","kind":"List","items":[')
        file.write(json.dumps(device_class(), separators=(",", ":")))
        for number, each in enumerate(slices(nodes, 8)):
            for item in (node(number), each):
                file.write("," + json.dumps(item, separators=(",", ":")))
        file.write("]}")


def measure(path: Path, pods: int) -> dict[str, object]:
    """Load and answer; in a process of its own, so that the peak is that of these."""
    from dra_alloc.api import ResourceClaim  # noqa: PLC0415 - the writing process needs none of it
    from dra_alloc.cluster.cluster import Cluster  # noqa: PLC0415
    from dra_alloc.manifest import load  # noqa: PLC0415

    asked = [[ResourceClaim.from_wire(each) for each in pod] for pod in whatif_pods(pods, 8, "million")]
    times = [time.process_time()]
    documents = load([path])
    times.append(time.process_time())
    loaded_mb = peak_mb()
    cluster = Cluster.of(documents)
    placed = cluster.place(asked).placed
    times.append(time.process_time())
    cluster.place(asked)
    times.append(time.process_time())
    load_s, first_s, again_s = (round(end - start, 3) for start, end in pairwise(times))
    return {
        "case": "million_devices",
        "runner": "ours",
        "devices": sum(len(each.spec.devices) for each in documents.slices),
        "input_mb": round(path.stat().st_size / 1e6),
        "load_s": load_s,
        "first_s": first_s,
        "again_s": again_s,
        "pods": pods,
        "placed": placed,
        "loaded_mb": loaded_mb,
        "peak_mb": peak_mb(),
        **cluster.known.survey.counts(),
    }


def main() -> None:
    """Write, then measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=125_000)
    parser.add_argument("--pods", type=int, default=1_000)
    parser.add_argument("--measure", type=Path, help="the dump to measure, for the run above")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure, given.pods)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.json"
        write(path, given.nodes)
        run([sys.executable, __file__, "--measure", str(path), "--pods", str(given.pods)], check=True)


if __name__ == "__main__":
    main()
