"""
Allocation on inventories and claims that drivers publish; values computed by upstream 1.36.2.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from dra_alloc.api import DeviceClass, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, Unsatisfiable
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.audit import audit
from tests.manifests import write_manifest

NVIDIA = "gpu.nvidia.com"
MIG_CLASS = DeviceClass.model_validate(
    {
        "metadata": {"name": "mig"},
        "spec": {"selectors": [{"cel": {"expression": f"device.attributes['{NVIDIA}'].type == 'mig'"}}]},
    }
)

ONE_GPU = "nvidia/slice-dynamic-mig-h100-1gpu.yaml"
EIGHT_GPUS = "nvidia/slice-dynamic-mig-h100-p5.yaml"


def mig_claim(profiles: Sequence[tuple[str, int]]) -> ResourceClaim:
    """A claim with one request per profile, in order."""
    requests = [
        {
            "name": f"r{number}",
            "exactly": {
                "deviceClassName": "mig",
                "allocationMode": "ExactCount",
                "count": count,
                "selectors": [{"cel": {"expression": f"device.attributes['{NVIDIA}'].profile == '{profile}'"}}],
            },
        }
        for number, (profile, count) in enumerate(profiles)
    ]
    return ResourceClaim.model_validate({"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}})


def cluster_of(shared: Path, *names: str) -> Cluster:
    """The slices of some samples with the MIG class."""
    documents = load([shared / "samples" / name for name in names])
    return Cluster.of(Documents(slices=documents.slices, classes=(*documents.classes, MIG_CLASS)))


def placements(outcome: object) -> list[tuple[str, int]]:
    """The GPU and first memory slice of every device, from names such as gpu-0-mig-1g10gb-19-6."""
    assert isinstance(outcome, Allocated), outcome
    allocation = outcome.claims[0].status.allocation
    assert allocation is not None
    names = [result.device for result in allocation.devices.results]
    return [(name.partition("-mig-")[0], int(name.rpartition("-")[2])) for name in names]


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        ([("1g.10gb", 1), ("2g.20gb", 1), ("4g.40gb", 1)], [6, 4, 0]),
        ([("1g.10gb", 3), ("4g.40gb", 1)], [4, 5, 6, 0]),
        ([("3g.40gb", 2)], [0, 4]),
        ([("4g.40gb", 1), ("3g.40gb", 1)], [0, 4]),
        ([("2g.20gb", 3), ("1g.10gb", 1)], [0, 2, 4, 6]),
        ([("1g.10gb", 7)], [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_mig_placements_on_one_gpu(shared: Path, profiles: list[tuple[str, int]], expected: list[int]) -> None:
    outcome = cluster_of(shared, ONE_GPU).allocate([mig_claim(profiles)])
    assert placements(outcome) == [("gpu-0", place) for place in expected]


@pytest.mark.parametrize(
    "profiles",
    [
        [("3g.40gb", 2), ("1g.10gb", 1)],
        [("2g.20gb", 3), ("1g.10gb", 2)],
        [("1g.10gb+me", 2)],
        [("7g.80gb", 2)],
        [("1g.10gb", 8)],
    ],
)
def test_mig_sets_that_do_not_fit_one_gpu(shared: Path, profiles: list[tuple[str, int]]) -> None:
    outcome = cluster_of(shared, ONE_GPU).allocate([mig_claim(profiles)])
    assert isinstance(outcome, Unsatisfiable)
    assert outcome.refusals[0].explanation.requests


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        ([("1g.10gb", 1), ("2g.20gb", 1), ("4g.40gb", 1)], [("gpu-0", 0), ("gpu-0", 2), ("gpu-1", 0)]),
        ([("1g.10gb", 3), ("4g.40gb", 1)], [("gpu-0", 0), ("gpu-0", 1), ("gpu-0", 2), ("gpu-1", 0)]),
        ([("3g.40gb", 2), ("1g.10gb", 1)], [("gpu-0", 0), ("gpu-0", 4), ("gpu-1", 0)]),
    ],
)
def test_mig_placements_on_eight_gpus(
    shared: Path, profiles: list[tuple[str, int]], expected: list[tuple[str, int]]
) -> None:
    assert placements(cluster_of(shared, EIGHT_GPUS).allocate([mig_claim(profiles)])) == expected


ALLOCATED = {
    "dranet/allocated-claim-gpu-efa.yaml": (
        "nvidia/slice-a100-40gb-eks-p4d.yaml",
        "dranet/slice-efa-eks-p4d.yaml",
        "nvidia/deviceclasses.yaml",
    ),
    "dranet/allocated-claim-aks-gb300.yaml": (
        "nvidia/slice-gb300-aks.yaml",
        "dranet/slice-cx-aks-gb300.yaml",
        "nvidia/deviceclasses.yaml",
    ),
}


@pytest.mark.parametrize("name", sorted(ALLOCATED))
def test_allocations_made_by_real_schedulers_are_legal(shared: Path, name: str) -> None:
    documents = load([shared / "samples" / each for each in (name, *ALLOCATED[name])])
    network = [_network_class(each) for each in ("dranet.net", "efa.networking.k8s.aws")]
    known = {each.metadata.name for each in documents.classes}
    classes = (*documents.classes, *(each for each in network if each.metadata.name not in known))
    cluster = Cluster.of(Documents(slices=documents.slices, classes=classes, claims=documents.claims))
    (claim,) = documents.claims
    (node,) = cluster.nodes
    assert audit(cluster, claim, node) == ()
    # The check is no formality: the same claim with a device of the other driver is refused.
    assert claim.status.allocation is not None
    results = claim.status.allocation.devices.results
    swapped = tuple(
        each.model_copy(update={"request": other.request}) for each, other in zip(results, results[::-1], strict=True)
    )
    devices = claim.status.allocation.devices.model_copy(update={"results": swapped})
    allocation = claim.status.allocation.model_copy(update={"devices": devices})
    wrong = claim.model_copy(update={"status": claim.status.model_copy(update={"allocation": allocation})})
    assert audit(cluster, wrong, node)


def _network_class(name: str) -> DeviceClass:
    selector = {"cel": {"expression": 'device.driver == "dra.net"'}}
    return DeviceClass.model_validate({"metadata": {"name": name}, "spec": {"selectors": [selector]}})


HEAD = """
apiVersion: resource.k8s.io/{version}
kind: ResourceClaim
metadata: {{name: c, namespace: team-a}}
spec:
  devices:
    requests:
    - name: r
"""
BODY = """
deviceClassName: mig
count: 2
selectors:
- cel:
    expression: device.attributes['gpu.nvidia.com'].profile == '2g.20gb'
"""
NESTED = HEAD + "      exactly:" + textwrap.indent(BODY, " " * 8)
FLAT = HEAD + textwrap.indent(BODY, " " * 6)


@pytest.mark.parametrize(
    ("version", "text"),
    [("v1", NESTED), ("v1beta2", NESTED), ("v1beta1", FLAT), ("v1alpha3", FLAT)],
)
def test_every_version_of_a_claim_gets_one_answer(shared: Path, tmp_path: Path, version: str, text: str) -> None:
    path = write_manifest(tmp_path, text.format(version=version))
    (claim,) = load([path]).claims
    assert placements(cluster_of(shared, ONE_GPU).allocate([claim])) == [("gpu-0", 0), ("gpu-0", 2)]


def test_all_samples_meant_to_be_right_load(shared: Path) -> None:
    folders = [
        each for each in (shared / "samples").iterdir() if each.is_dir() and each.name not in ("invalid", "keps")
    ]
    files = [path for folder in folders for path in folder.rglob("*.yaml")]
    assert len(files) > 100
    for path in files:
        # One of them has misspelt fields, which a strict server refuses.
        load([path], validate="warn" if path.name == "claims-gpu.yaml" else "strict")
