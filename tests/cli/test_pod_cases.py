"""
The small inputs behind public reports that `check` once got wrong, each as it has to be told.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dra_alloc.cli.main import run
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from dra_alloc.scenario.expand import expand

Json = dict[str, Any]


class Case(NamedTuple):
    """One question: the folder, the files asked about, how the run ends, and what is said and what is not."""

    folder: str
    workload: str
    exits: int
    said: tuple[str, ...]
    unsaid: tuple[str, ...] = ()
    cluster: str = "cluster.yaml"


CASES = (
    Case(
        "nvidia-725-zombie-claims",
        "workload-uses-zombie.yaml",
        1,
        ('resourceclaim "batch-7-gpu-x2x2x" is being deleted',),
    ),
    Case(
        "nvidia-725-zombie-claims",
        "workload.yaml",
        1,
        ("the end of claim batch/batch-7-gpu-x2x2x (it is being deleted, in use by pods/batch-7)",),
        ("freeing",),
    ),
    Case(
        "kk-139772-pods-as-dumped",
        "workload.yaml",
        0,
        ("default/waiting (Pod): allocated", "gpu: gpu-0", "1 terminating, 1 finished", "1 allocated"),
    ),
    Case(
        "kk-139772-pods-as-dumped", "workload-finished-only.yaml", 0, ("default/waiting (Pod): allocated", "1 finished")
    ),
    Case(
        "kk-139772-pods-as-dumped",
        "workload-suspended-job.yaml",
        1,
        (
            "Job default/held is suspended",
            "Pod default/gated is not scheduled before its gate is gone",
            "waiting for scheduling gates: [example.com/hold]",
        ),
    ),
    Case(
        "kai-1177-dual-mode-node",
        "workload.yaml",
        1,
        (
            "nvidia.com/gpu may be offered twice, by a device plugin and as class gpu.nvidia.com",
            "what is taken one way is not missing the other on dual",
            "default/ext-2 (Pod): allocated",
            "default/claim-2 (Pod): allocated",
            '3 nvidia.com/gpu asked, 0 of 2 left ("Insufficient nvidia.com/gpu")',
        ),
    ),
    *(
        Case(
            "no-nodes-extended",
            "workload.yaml",
            0,
            (
                "whether there is any nvidia.com/gpu is not known without status.allocatable: gb200-1",
                "channel: channel-0",
            ),
            ("does not offer",),
            cluster,
        )
        for cluster in ("cluster.yaml", "cluster-node-without-status.yaml")
    ),
    Case(
        "slices-of-unknown-node",
        "workload.yaml",
        1,
        ("gpu-1 (gpu.example.com)", "default/mine (ResourceClaim): cannot"),
    ),
    Case("nvidia-1008-empty-slice", "workload.yaml", 1, ("driver gpu.nvidia.com published no devices",)),
    Case(
        "llmd-174-container-claims",
        "workload.yaml",
        2,
        ('containers[0].resources.claims[1]: Not found: "imex-channel-0"', "pod.spec.resourceClaims: gpu"),
    ),
    Case(
        "llmd-174-container-claims",
        "workload-request-typo.yaml",
        0,
        ('container vllm uses request "gpus" of claim gpu, which has no such request', "did you mean gpu?"),
    ),
    Case("llmd-174-container-claims", "workload-unused.yaml", 0, ("no container uses the pod's claim gpu",)),
    *(
        Case("dump-oddities", "workload.yaml", 0, ("default/mine (ResourceClaim): allocated", *said), (), cluster)
        for cluster, said in (
            *((f"{name}.json", ()) for name in ("nested-list", "nested-list-indent", "nested-typed-list")),
            *((f"{name}.yaml", ()) for name in ("anchors", "crlf-bom", "error-line", "nested-typed-list")),
            *((f"{name}.json", ("list is cut", "12 more are on the server")) for name in ("chunked", "typed-lists")),
        )
    ),
    Case("dump-oddities", "workload.yaml", 2, ("expected an object with apiVersion and kind",), (), "table.txt.yaml"),
    Case(
        "cpu-290-more-than-32",
        "workload.yaml",
        1,
        (
            "exceeds the claim limit of 32",
            "fix in the manifest: asking for the devices of claim rt/cpus-64 in 2 claims of at most 32",
        ),
    ),
    Case("cpu-290-more-than-32", "workload-two-claims.yaml", 0, ("rt/two-claims (Pod): allocated",)),
    Case("jobset-762-crds", "workload.yaml", 1, ("3 allocated, 1 cannot be allocated",)),
    Case(
        "jobset-762-crds",
        "workload-vmi.yaml",
        0,
        ("default/virt-launcher-vm-00000 (VirtualMachineInstance): allocated",),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.folder}/{case.workload}/{case.cluster}")
def test_each_is_told_as_it_is(case: Case, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared / "cases" / "pods" / case.folder
    code = run(["check", str(folder / case.workload), "--cluster", str(folder / case.cluster)])
    captured = capsys.readouterr()
    text = " ".join((captured.out + captured.err).split())
    assert code == case.exits, text
    assert [each for each in case.said if each not in text] == [], text
    assert [each for each in case.unsaid if each in text] == [], text


def read(objects: list[Json]) -> Documents:
    return load(["-"], stdin=io.BytesIO("\n".join(map(json.dumps, objects)).encode()))


def settled(item: Json, there: list[Json], world: Json) -> list[Json]:
    """Return the pods of a workload that find a node, with their claims, as the cluster has them then."""
    work, dump = read([item]), read(there)
    found = check(work, dump, CheckOptions(Settings(world["release"]), namespace=world["ns"]))
    pods = {each.name: each.pod for each in expand(work, dump, namespace=world["ns"]).pods}
    made: list[Json] = []
    for placement in found.placements:
        if placement.allocated is not None:
            pod = pods[placement.name]
            bound = pod.replaced(spec=pod.spec.replaced(node_name=placement.allocated.node))
            made += [bound.to_wire(), *(claim.to_wire() for claim in placement.allocated.claims)]
    return made


def test_the_worlds_run_as_many_pods_as_ran(shared: Path) -> None:
    files = sorted((shared / "cases" / "pods" / "worlds").glob("*.json"))
    assert files
    for file in files:
        world: Json = json.loads(file.read_text(encoding="utf-8"))
        there = [*world["cluster"], *world["prepare"]]
        ran: dict[str, int] = {}
        for item in world["work"]:
            more = settled(item, there, world)
            ran[item["metadata"]["name"]] = sum(each["kind"] == "Pod" for each in more)
            there += more
        assert ran == world["ran"], file.name
