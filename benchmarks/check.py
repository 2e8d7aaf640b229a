"""
Times a whole check against loading its files: workloads of one pod on a busy cluster, one JSON object a line.

    python benchmarks/check.py [--case 1000x200]

Processor time, each case in a fresh process that is set up as the command's, imports in neither: `load_s` reads
manifests and dump, `check_s` places all pods and writes the report as JSON; `to_load` is both over the first alone,
`peak_mb` the memory of the process.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.apart import each_apart
from benchmarks.fleet_cases import FleetCase, whatif
from benchmarks.peak import peak_mb

#: Nodes of eight devices, pods, and the share of the devices that is held: with little of it every pod finds a place.
CASES = {
    "1000x200": (1_000, 200, 0.3),
    "1000x200_all_fit": (1_000, 200, 0.1),
    "500x40_many_refused": (500, 40, 0.95),
    "5000x1000": (5_000, 1_000, 0.3),
}
Json = dict[str, Any]
_OFFERED = {"cpu": "64", "memory": "512Gi", "pods": "110"}


def dump(case: FleetCase) -> Json:
    """Return the cluster with nodes that say what they offer."""
    whole = case.dump()
    items = [
        {**each, "status": {"allocatable": _OFFERED}} if each["kind"] == "Node" else each for each in whole["items"]
    ]
    return {**whole, "items": items}


def workloads(case: FleetCase) -> Json:
    """Return a Deployment with a claim template for each of the pods."""
    items: list[Json] = []
    for number, (claim,) in enumerate(case.pods):
        meta, labels = {"name": f"w-{number}", "namespace": "default"}, {"app": f"w-{number}"}
        spec = {"metadata": {}, "spec": claim["spec"]}
        items.append(
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}
        )
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}, "claims": [{"name": "gpu"}]}}
        entries = [{"name": "gpu", "resourceClaimTemplateName": meta["name"]}]
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "resourceClaims": entries}}
        body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        items.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": body})
    return {"apiVersion": "v1", "kind": "List", "items": items}


def measure(name: str, folder: Path) -> Json:
    """Load a case and check it."""
    from dra_alloc.__main__ import settle  # noqa: PLC0415 - before all else, as the command does

    settle()
    from dra_alloc.manifest import load  # noqa: PLC0415 - the parent process needs none of it
    from dra_alloc.report.check_report import check_report  # noqa: PLC0415
    from dra_alloc.report.formats.json_report import render  # noqa: PLC0415
    from dra_alloc.scenario.check import check  # noqa: PLC0415

    start = time.process_time()
    manifests, cluster = load([folder / "work.json"]), load([folder / "cluster.json"])
    loaded = time.process_time()
    found = check(manifests, cluster)
    render(check_report(found), verbose=False)
    end = time.process_time()
    return {
        "case": f"check_{name}",
        "runner": "ours",
        "load_s": round(loaded - start, 3),
        "check_s": round(end - loaded, 3),
        "to_load": round((end - start) / (loaded - start), 2),
        "allocated": sum(each.allocated is not None for each in found.placements),
        "asked": len(found.placements),
        "peak_mb": peak_mb(),
    }


def written(name: str, folder: Path) -> None:
    """Write the files of a case."""
    nodes, pods, busy = CASES[name]
    case = whatif(nodes, 8, pods, busy)
    for file, content in (("work", workloads(case)), ("cluster", dump(case))):
        (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")


def main() -> None:
    """Print a line a case."""
    each_apart(__file__, __doc__, CASES, written, measure)


if __name__ == "__main__":
    main()
