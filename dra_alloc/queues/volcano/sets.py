"""
PodCliqueSets whose pods Volcano places: Grove makes a PodGroup of each PodGang.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dra_alloc.errors import first_few
from dra_alloc.manifest import Workload
from dra_alloc.pods.gangs.topology import ANYWHERE
from dra_alloc.pods.workloads.pod_gangs import CLIQUE, PodGang, pod_gangs, set_faults
from dra_alloc.pods.workloads.reading import items, text, value_at
from dra_alloc.queues.standing import NOT_MODELLED, TRIED, KeptOut

_QUEUE: Final = "scheduling.grove.io/volcano-queue"
_AFTER: Final = "it is tried after the base gang of its set, which is not modelled"


def gangs_by_clique(owner: Workload) -> Mapping[str, PodGang]:
    """Return the PodGangs of a set by the names of their cliques. Raises: Misfit."""
    found = pod_gangs(owner, lambda *_: ANYWHERE)
    return {clique: gang for gang in found for clique in gang.cliques}


def gang_of(gangs: Mapping[str, PodGang], labels: Mapping[str, str]) -> PodGang | None:
    """Return the gang that a pod is of, by its labels."""
    return gangs.get(labels.get(CLIQUE, ""))


def needs_of(gang: PodGang) -> Mapping[str, int]:
    """Return how many pods each clique of a gang needs."""
    names = set(gang.cliques)
    return {each.name: each.least for each in gang.below if each.name in names}


def _queues(owner: Workload) -> Sequence[str]:
    """Return the queues that a set and its cliques name, each once."""
    parts = [value_at(owner.body, "metadata"), *items(owner.body, "spec.template.cliques")]
    named = [(value_at(each, "annotations") or {}).get(_QUEUE) for each in parts]
    return list(dict.fromkeys(each.strip() for each in named if isinstance(each, str) and each.strip()))


def queue_of_set(owner: Workload, default: str) -> str:
    """Return the queue of a set."""
    return next(iter(_queues(owner)), default)


def refusal_of_set(owner: Workload, gang: PodGang | None) -> KeptOut:
    """Return why a set, or a gang of it, is not tried, by code and in words. Spec: VOLCANO-21."""
    said = [f"{path}: {words}" for path, words in set_faults(owner, None)]
    said += [f"{at}: Volcano is asked for no topology by Grove" for at in _constrained(owner)]
    queues = _queues(owner)
    if len(queues) > 1:
        said.append(f"it and its cliques name several queues of Volcano: {first_few(queues)}")
    if said:
        return "set-refused", f"Grove refuses the set: {first_few(said)}"
    return (NOT_MODELLED, _AFTER) if gang is None or gang.after else TRIED


def _constrained(owner: Workload) -> Iterator[str]:
    """Yield where a set asks for domains of a topology."""
    template: Any = value_at(owner.body, "spec.template") or {}
    parts = [("", template)]
    for key in ("cliques", "podCliqueScalingGroups"):
        parts += [(f".{key}[{number}]", each) for number, each in enumerate(items(template, key))]
    for at, part in parts:
        if value_at(part, "topologyConstraint") is not None:
            yield f"spec.template{at}.topologyConstraint"


def priority_of_set(owner: Workload, classes: Mapping[str, int]) -> int:
    """Return the priority of a set's gangs."""
    return classes.get(text(owner.body, "spec.template.priorityClassName"), 0)
