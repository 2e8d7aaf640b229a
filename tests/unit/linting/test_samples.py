"""
Lint of real manifests: every published mistake is named with what to write instead, all else has real defects only.
"""

from __future__ import annotations

from pathlib import Path

from dra_alloc.linting.rules import LintFinding
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Manner, load, load_readable

#: Published mistakes, and those written after the seed articles by the line of their document: the codes above info.
MISTAKES = {
    "intel-cel-misindented.yaml": {"S107"},
    "k8s-counters-and-devices-in-one-slice.yaml": {"P501"},
    "kai-gang-pods-not-attached.yaml": {"W804"},
    "nvidia-gpu-test6-index-attribute.yaml": {"E205"},
    "nvidia-imex-test1-removed-class.yaml": {"E211"},
    "volcano-claim-shareable-field.yaml": {"S110"},
    "website-resourceclaim-misindented.yaml": {"S107"},
}
SEED = {
    5: {"W801"},
    14: {"W802"},
    29: {"S101", "E205"},
    43: {"S101"},
    57: {"E201"},
    71: {"Q401"},
    87: {"R701", "T601", "E201"},
    99: {"S104", "C301", "C302"},
    113: {"S108", "E208"},
    125: {"W803"},
    136: {"S103"},
}
CORE_GANGS = (
    "dra-podgroup-with-claim-ref",
    "dra-podgroup-with-claim-template",
    "podgroup-gangscheduling-podgroup",
    "podgroup-tas-podgroup",
    "workload_preemption-podgroup",
)
JOB_SET_GANGS = tuple(dra + name for dra in ("", "dra-") for name in ("jobset", "podgroup", "workload"))
#: What is above info in samples that count as valid, and why it is a defect there.
DEFECTS = {
    # written for 1.37
    ("cpu/slice-node-allocatable.yaml", "S119"),
    ("k8s/compatibility-groups.yaml", "S119"),
    # for clusters that switch DRAListTypeAttributes on
    *(
        (f"{name}.yaml", code)
        for name in ("cpu/slice-grouped-numa", "cpu/slice-individual")
        for code in ("R703", "S121")
    ),
    ("k8s/list-attributes.yaml", "R703"),
    ("k8s/list-attributes.yaml", "S121"),
    # of a time when v1alpha3 was served
    ("k8s/first-available-and-taintrule.yaml", "R702"),
    ("nvidia/slice-static-mig-a100-80gb-v1alpha3-fragment.yaml", "R702"),
    # no apiVersion
    ("dra-example-driver/device-taints.yaml", "S199"),
    ("intel/claims-gpu.yaml", "S199"),
    # "dra.net/rdma" looked up as one key
    ("intel/claims-gpu.yaml", "E208"),
    # gangs of 1.37, and of clusters that switch them on
    *((f"core-gang/{name}.yaml", code) for name in CORE_GANGS for code in ("R705", "R707")),
    *((f"core-gang/dra-pod-in-podgroup-with-claim-{kind}.yaml", "R707") for kind in ("ref", "template")),
    *((f"jobset/workload-aware-scheduling-{name}.yaml", "R707") for name in JOB_SET_GANGS),
    ("dra-example-driver/podgroup-resourceclaimtemplate.yaml", "R707"),
    ("k8s/podgroup-gang-and-claims.yaml", "R705"),
    ("k8s/podgroup-gang-and-claims.yaml", "R707"),
    # one entry of each kind of device, which no node publishes together
    ("nvidia/slice-doc-reference-gpu-mig-vfio.yaml", "P512"),
    # an owner without a UID
    ("dranet/allocated-claim-gpu-efa.yaml", "S121"),
    ("dranet/slice-efa-eks-p4d.yaml", "S121"),
    ("nvidia/slice-a100-40gb-eks-p4d.yaml", "S121"),
}


def above_info(paths: list[Path], *cluster: Path) -> list[LintFinding]:
    manner = Manner("strict", "keep", LintAsked().settings.profile().release)
    there = load(cluster, validate="ignore") if cluster else None
    found = linted(load_readable(paths, manner=manner), LintAsked(cluster=there))
    assert not found.unreadable
    return list(found.counting)


def test_every_published_mistake_is_named_with_what_to_write_instead(shared):
    samples = shared / "samples"
    told: dict[str, set[str]] = {}
    seed: dict[int, set[str]] = {}
    for each in above_info([samples / "invalid"], samples / "nvidia"):
        assert each.hint, each
        name = Path(each.where.file).name
        if name == "seed-style-mistakes.yaml":
            document = max(line for line in SEED if line <= (each.where.line or 0) + 1)
            seed.setdefault(document, set()).add(each.code)
        else:
            told.setdefault(name, set()).add(each.code)
    assert told == MISTAKES
    assert seed == SEED


def test_valid_samples_have_real_defects_only(shared):
    samples = shared / "samples"
    folders = [each for each in sorted(samples.iterdir()) if each.is_dir() and each.name not in ("invalid", "keps")]
    found = above_info(folders)
    told = {(Path(each.where.file).relative_to(samples).as_posix(), each.code) for each in found}
    assert told == DEFECTS
