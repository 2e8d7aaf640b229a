"""
Times `admit` of a fleet against loading its files: workloads of gangs in many queues, one JSON object a line.

    python benchmarks/admit.py [--case kueue|kai|racks|volcano]

500 nodes of eight devices, 200 queues, 2,000 workloads of 8 to 64 pods, each with a device; in `racks`, of KAI, each
goes into one rack of 20 nodes. Processor time, each case in a fresh process, imports in neither: `load_s` reads
manifests and dump, `admit_s` answers and writes the report as JSON; `peak_mb` is the memory of the process, `digest`
that of the answer, which is the same every time.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.apart import each_apart
from benchmarks.peak import peak_mb

Json = dict[str, Any]
#: Nodes, queues and workloads of a case; each queue is due what its part of the devices is.
NODES, QUEUES, WORKLOADS = 500, 200, 2_000
CASES = ("kueue", "kai", "racks", "volcano")
_LEVELS = ("zone", "rack", "host")
_CLASS = "gpu.example.com"


def _of(api_version: str, kind: str, name: str, **more: Any) -> Json:
    meta = {"name": name, **more.pop("meta", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **more}


def nodes() -> list[Json]:
    """Return nodes of eight devices."""
    items: list[Json] = []
    for number in range(NODES):
        name = f"node-{number:03}"
        labels = {"zone": f"zone-{number // 250}", "rack": f"rack-{number // 20:02}", "host": name}
        allocatable = {"cpu": "64", "memory": "512Gi", "pods": "110"}
        items.append(_of("v1", "Node", name, meta={"labels": labels}, status={"allocatable": allocatable}))
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"gpu-{each}"} for each in range(8)]
        spec = {"driver": _CLASS, "nodeName": name, "pool": pool, "devices": devices}
        items.append(_of("resource.k8s.io/v1", "ResourceSlice", name, spec=spec))
    return items


def queues(case: str) -> list[Json]:
    """Return the queues of a system: each is due 20 of the 4,000 devices, and may have more, of Volcano 64."""
    if case in ("kai", "racks"):
        free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        gpu = {"quota": 20, "limit": -1, "overQuotaWeight": 1}
        spec: Json = {"resources": {"cpu": free, "memory": free, "gpu": gpu}}
        top = _of("scheduling.run.ai/v2", "Queue", "all", spec={"resources": {**spec["resources"], "gpu": free}})
        made = [
            _of("scheduling.run.ai/v2", "Queue", f"queue-{n:03}", spec={**spec, "parentQueue": "all"})
            for n in range(QUEUES)
        ]
        levels = [{"nodeLabel": each} for each in _LEVELS]
        return [top, *made, _of("kai.scheduler/v1alpha1", "Topology", "net", spec={"levels": levels})]
    if case == "volcano":
        spec = {"capability": {f"deviceclass/{_CLASS}": "64"}}
        return [_of("scheduling.volcano.sh/v1beta1", "Queue", f"queue-{n:03}", spec=spec) for n in range(QUEUES)]
    version = "kueue.x-k8s.io/v1beta2"
    mapping = {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": [_CLASS]}]}
    items = [
        _of(version, "ResourceFlavor", "any", spec={}),
        {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "resources": mapping},
    ]
    for number in range(QUEUES):
        name = f"queue-{number:03}"
        flavor = {"name": "any", "resources": [{"name": "gpus", "nominalQuota": 20}]}
        spec = {
            "cohortName": "all",
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["gpus"], "flavors": [flavor]}],
        }
        items.append(_of(version, "ClusterQueue", name, spec=spec))
        items.append(_of(version, "LocalQueue", name, spec={"clusterQueue": name}, meta={"namespace": "ns"}))
    return items


def jobs(case: str) -> list[Json]:
    """Return the workloads: Jobs, of Volcano its own, whose pods all have to run, each in one of the queues."""
    items: list[Json] = []
    for number in range(WORKLOADS):
        size, queue = 8 + number * 37 % 57, f"queue-{number * 7 % QUEUES:03}"
        container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}
        claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
        pod: Json = {"restartPolicy": "Never", "containers": [container], "resourceClaims": claims}
        meta: Json = {"namespace": "ns", "labels": {"kueue.x-k8s.io/queue-name": queue}}
        if case in ("kai", "racks"):
            pod["schedulerName"] = "kai-scheduler"
            least = {"kai.scheduler/batch-min-member": str(size)}
            if case == "racks":
                least |= {"kai.scheduler/topology": "net", "kai.scheduler/topology-required-placement": "rack"}
            meta = {"namespace": "ns", "labels": {"kai.scheduler/queue": queue}, "annotations": least}
        if case == "volcano":
            tasks = [{"name": "main", "replicas": size, "template": {"spec": pod}}]
            spec = {"queue": queue, "schedulerName": "volcano", "minAvailable": size, "tasks": tasks}
            items.append(
                _of("batch.volcano.sh/v1alpha1", "Job", f"job-{number:04}", spec=spec, meta={"namespace": "ns"})
            )
            continue
        spec = {"parallelism": size, "completions": size, "suspend": case == "kueue", "template": {"spec": pod}}
        items.append(_of("batch/v1", "Job", f"job-{number:04}", spec=spec, meta=meta))
    return items


def written(case: str, folder: Path) -> None:
    """Write the files of a case."""
    requests = [{"name": "gpu", "exactly": {"deviceClassName": _CLASS}}]
    template = _of(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "one",
        spec={"spec": {"devices": {"requests": requests}}},
        meta={"namespace": "ns"},
    )
    cluster = [*nodes(), _of("resource.k8s.io/v1", "DeviceClass", _CLASS, spec={}), _of("v1", "Namespace", "ns")]
    for name, items in (("work", [template, *jobs(case)]), ("cluster", [*cluster, *queues(case)])):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def measure(case: str, folder: Path) -> Json:
    """Load a case and ask who is admitted."""
    from dra_alloc.manifest import load  # noqa: PLC0415 - the parent process needs none of it
    from dra_alloc.report.admit_report import admit_report  # noqa: PLC0415
    from dra_alloc.report.formats.json_report import render  # noqa: PLC0415
    from dra_alloc.scenario.admit.admit import admit  # noqa: PLC0415
    from dra_alloc.scenario.admit.answers import AdmitOptions  # noqa: PLC0415

    start = time.process_time()
    manifests, cluster = load([folder / "work.json"]), load([folder / "cluster.json"])
    loaded = time.process_time()
    found = admit(manifests, cluster, AdmitOptions(namespace="ns"))
    text = render(admit_report(found), verbose=False)
    end = time.process_time()
    return {
        "case": f"admit_{case}",
        "runner": "ours",
        "load_s": round(loaded - start, 3),
        "admit_s": round(end - loaded, 3),
        "workloads": len(found.workloads),
        "pods": sum(each.count for each in found.workloads),
        "verdicts": {str(verdict): count for verdict, count in found.counts.items()},
        "peak_mb": peak_mb(),
        "digest": hashlib.sha256(text.replace(str(folder), "").encode()).hexdigest()[:16],
    }


def main() -> None:
    """Print a line a case."""
    each_apart(__file__, __doc__, CASES, written, measure)


if __name__ == "__main__":
    main()
