"""
How many copies of the one thing that manifests ask for fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Pod, ResourceClaim, ResourceClaimTemplate
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.manifest import Documents
from dra_alloc.scenario.what_if.asking import OneSide

#: So many copies are asked for at most.
MOST_COPIES: Final = 1_000
#: More only where all of these fit: after one that does not fit none of the same does.
_FIRST: Final = 64
_Original = Pod | ResourceClaim | ResourceClaimTemplate


@dataclass(frozen=True, slots=True)
class Copied:
    """What is copied, by kind and name, and the manifests without it."""

    kind: str
    name: str
    original: _Original
    others: Documents


def copied(manifests: Documents) -> Copied | None:
    """
    Return what manifests ask for, if it is one thing: a pod, a workload of one pod template, else a claim or template.

    A pod that names its node is for that; a DaemonSet has one pod a node.
    """
    if len(manifests.pods) + len(manifests.workloads) == 1:
        for workload in manifests.workloads:
            pods = [each.pod for each in workload.templates if each.pod is not None]
            if len(pods) != 1 or workload.kind == "DaemonSet":
                return None
            meta = workload.metadata.replaced(labels=pods[0].metadata.labels, annotations=pods[0].metadata.annotations)
            pod = pods[0].replaced(metadata=meta.replaced(owner_references=(), uid=None))
            return Copied(workload.kind, workload.metadata.full_name, pod, replace(manifests, workloads=()))
        (pod,) = manifests.pods
        return None if pod.spec.node_name else Copied("Pod", pod.metadata.full_name, pod, replace(manifests, pods=()))
    if manifests.pods or manifests.workloads or len(manifests.claims) + len(manifests.templates) != 1:
        return None
    original: _Original = manifests.claims[0] if manifests.claims else manifests.templates[0]
    return Copied(original.kind, original.metadata.full_name, original, replace(manifests, claims=(), templates=()))


def copies_that_fit(what: Copied, state: ClusterState, ask: Callable[[ClusterState], OneSide]) -> tuple[int, bool]:
    """
    Return how many copies fit besides all that is there and waits, at most `MOST_COPIES`, and whether all were decided.

    Spec: ADDED-5.
    Raises: as `ask` does.
    """
    fits, sure = _fitting(what, state, ask, _FIRST)
    return _fitting(what, state, ask, MOST_COPIES) if fits == _FIRST else (fits, sure)


def _fitting(what: Copied, state: ClusterState, ask: Callable[[ClusterState], OneSide], most: int) -> tuple[int, bool]:
    copies = tuple(_copies(what.original, most))
    names = {each.metadata.full_name for each in copies}
    pods = tuple(each for each in copies if isinstance(each, Pod))
    claims = tuple(each for each in copies if isinstance(each, ResourceClaim))
    asked = replace(what.others, pods=pods, claims=(*what.others.claims, *claims))
    found = ask(replace(state, manifests=asked)).check
    verdicts = [each.verdict for each in found.placements if each.name in names]
    return verdicts.count("allocated"), "undecided" not in verdicts


def _copies(original: _Original, most: int) -> Iterator[Pod | ResourceClaim]:
    meta = original.metadata
    for number in range(most):
        named = meta.replaced(name=f"{meta.name}-copy-{number}", uid=None)
        if isinstance(original, ResourceClaimTemplate):
            yield ResourceClaim.made(metadata=named, spec=original.spec.spec)
        else:
            yield original.replaced(metadata=named)
