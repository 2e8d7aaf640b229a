"""
One side of a change: everything that runs or wants to, asked as one check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Pod
from dra_alloc.cluster.edits.cluster_state import ClusterState, joined
from dra_alloc.errors import ManifestError, Problem, first_few
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.documents import object_name
from dra_alloc.pods.expanding import NOT_ANEW
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.pods.workloads.table import maker_of
from dra_alloc.scenario.check import Check, CheckOptions, SubjectAnswer, check
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName, counted, key_of

__all__ = ["OneSide", "asked", "makes_anew"]

_Asked = Pod | Workload
#: Objects that are not asked, told by name.
_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class OneSide:
    """
    What a check says of a cluster, and how many pods of each workload run.

    `lacking` says what is missing for pods that somebody may have to make again; `notes` what else is to be known.
    """

    check: Check
    counts: Mapping[WorkloadName, PodCount]
    lacking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def asked(
    state: ClusterState,
    anew: Sequence[Pod],
    evicted: Mapping[WorkloadName, Collection[str]],
    options: CheckOptions,
) -> OneSide:
    """
    Return what becomes of all that is there and all that is applied.

    `anew` are pods to make besides, `evicted` those that workloads lost. What
    is wrong with an object of the dump keeps its own pods from running, and is
    no bad input.

    Spec: WHATIF-1.
    Raises: ManifestError for what is wrong with what is applied.
    """
    waiting = [each for each in state.dump.pods if state_of(each) in (PodState.WAITING, PodState.GATED)]
    family = Family(joined(_documents(state, [*waiting, *anew]), state.manifests), state.dump, state.dump.nodes, {})
    applied = {each.key for each in state.manifests.workloads}
    roots = [each for each in state.dump.workloads if family.root(each) is each and each.key not in applied]
    found, wrong = _checked(state, [*filter(makes_anew, roots), *waiting, *anew], options)
    counts = counted(state.dump, family, found)
    for pod in (*waiting, *anew):
        if _name(pod) in wrong:
            _block(counts, key_of(pod, family), pod.metadata.full_name, wrong[_name(pod)])
    for each in roots:
        name = WorkloadName(each.kind, each.metadata.full_name)
        for pod_name in evicted.get(name, ()) if _name(each) in wrong else ():
            _block(counts, name, pod_name, wrong[_name(each)])
    notes = [each for each in found.notes if not each.startswith(NOT_ANEW)]
    notes += [f"{name} is not asked: {each.message}" for name, each in [*wrong.items()][:_TOLD]]
    skipped = sorted({each.kind for each in roots if not makes_anew(each)})
    if skipped:
        notes.append(f"not asked for more pods than they have: {first_few(skipped)}")
    return OneSide(found, counts, tuple(_lacking(state, roots)), tuple(notes))


def makes_anew(root: Workload) -> bool:
    """Say whether a workload can be asked for the pods that it lacks: a CronJob makes those of its next time."""
    maker = maker_of(root)
    return maker is not None and maker.plan is not None and root.kind != "CronJob"


def _checked(state: ClusterState, left: list[_Asked], options: CheckOptions) -> tuple[Check, dict[str, Problem]]:
    """Return what a check says, and what is wrong with those that could not be asked."""
    wrong: dict[str, Problem] = {}
    options = replace(options, settings=state.settings)
    while True:
        try:
            return check(joined(_documents(state, left), state.manifests), state.dump, options), wrong
        except ManifestError as error:
            named = {each.where.object: each for each in error.problems}
            bad = {_name(each) for each in left} & named.keys()
            if not bad:
                raise
            wrong |= {name: named[name] for name in bad}
            left = [each for each in left if _name(each) not in bad]


def _documents(state: ClusterState, objects: Sequence[_Asked]) -> Documents:
    """Return objects of the dump as manifests, read where they were."""
    pods = tuple(each for each in objects if isinstance(each, Pod))
    workloads = tuple(each for each in objects if isinstance(each, Workload))
    known = state.dump.places
    places = {id(each): known[id(each)] for each in objects if id(each) in known}
    return replace(Documents(), pods=pods, workloads=workloads, places=places, texts=state.dump.texts)


def _name(item: _Asked) -> str:
    return object_name(item.kind, item.metadata.namespace, item.metadata.name)


def _block(counts: dict[WorkloadName, PodCount], key: WorkloadName, pod: str, problem: Problem) -> None:
    answer = SubjectAnswer("Pod", pod, cause=problem.message, where=problem.where)
    counts.setdefault(key, PodCount()).asked.append(answer)


def _lacking(state: ClusterState, roots: Sequence[Workload]) -> Iterator[str]:
    """Yield the claim templates that workloads would need to make a pod again, and that are not there."""
    known = {each.metadata.full_name for each in (*state.dump.templates, *state.manifests.templates)}
    who: dict[str, list[str]] = {}
    for root in (*roots, *state.manifests.workloads):
        pods = [each.pod for each in root.templates if each.pod is not None]
        names = {each.resource_claim_template_name for pod in pods for each in pod.spec.resource_claims}
        for name in sorted({f"{root.namespace}/{each}" for each in names if each} - known):
            who.setdefault(name, []).append(root.metadata.full_name)
    for name, makers in who.items():
        yield f"there is no ResourceClaimTemplate {name}: pods of {first_few(makers)} could not be made again"
