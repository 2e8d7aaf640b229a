"""
One side of a change: everything that runs or wants to, asked as one check.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api import Pod
from dra_alloc.cluster.edits.cluster_state import ClusterState, family_of, joined
from dra_alloc.errors import ManifestError, Problem, first_few
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.documents import object_name
from dra_alloc.manifest.kinds import MEMBERS
from dra_alloc.pods.expanding import NOT_ANEW
from dra_alloc.pods.workloads.owners import Family
from dra_alloc.pods.workloads.states import waiting_in
from dra_alloc.pods.workloads.table import maker_of
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.check import Check, check
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName, counted, key_of

_Asked = Pod | Workload
#: Objects that are not asked, told by name.
_TOLD: Final = 5
#: Kinds of which their own pods and ReplicaSets say how many pods are still to be made, whatever else is there.
_BY_THEIR_PODS: Final = frozenset(
    {("apps", "Deployment"), ("apps", "ReplicaSet"), ("", "ReplicationController"), ("apps", "StatefulSet")}
)


@dataclass(frozen=True, slots=True)
class OneSide:
    """
    What a check says of a cluster, and how many pods of each workload run.

    `notes` say what is to be known of it.
    `at_rest` are workloads of the `state`, by identity, that have all their pods, and these their nodes.
    `manifests` is what was asked for.
    """

    state: ClusterState
    check: Check
    counts: Mapping[WorkloadName, PodCount]
    at_rest: Mapping[int, WorkloadName]
    notes: tuple[str, ...] = ()
    manifests: Documents = field(default_factory=Documents, repr=False)


def asked(
    state: ClusterState,
    anew: Sequence[Pod],
    evicted: Mapping[WorkloadName, Collection[str]],
    options: CheckOptions,
    was: OneSide | None = None,
) -> OneSide:
    """
    Return what becomes of all that is there and all that is applied.

    `anew` are pods to make besides, `evicted` those that workloads lost. What
    is wrong with an object of the dump keeps its own pods from running, and is
    no bad input. Of what `was` there before a change those are not asked again
    that were at rest and that the change leaves alone.

    Spec: WHATIF-1.
    Raises: ManifestError for what is wrong with what is applied.
    """
    waiting = waiting_in(state.dump)
    family = family_of(replace(state, manifests=joined(_documents(state, anew), state.manifests)) if anew else state)
    applied = {each.key for each in state.manifests.workloads}
    roots = [each for each in state.dump.workloads if family.root(each) is each and each.key not in applied]
    left_alone = _left_alone(was, state) if was is not None else {}
    makers = [each for each in roots if id(each) not in left_alone and makes_anew(each)]
    found, wrong, manifests = _checked(state, family, [*makers, *waiting, *anew], options)
    kept = [pod for each in roots if id(each) in left_alone for pod in family.pods(each)]
    counts = counted(state.dump, family, found, kept)
    if was is not None:
        counts |= {name: was.counts[name] for name in left_alone.values() if name in was.counts}
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
    at_rest = {} if options.taught else _at_rest([each for each in roots if _name(each) not in wrong], counts)
    return OneSide(state, found, counts, at_rest, tuple(notes), manifests)


def _left_alone(was: OneSide, state: ClusterState) -> Mapping[int, WorkloadName]:
    """Return the workloads that were at rest and that no step of a change touches: the same, with the same pods."""
    before, dump = was.state, was.state.dump
    applied = any(getattr(each.manifests, name) for each in (before, state) for name in MEMBERS)
    if applied or before.settings != state.settings or dump.workloads != state.dump.workloads:
        return {}
    there, left = ({id(each): each for each in pods} for pods in (dump.pods, state.dump.pods))
    touched = {
        id(owning.root(pods[key]))
        for owning, pods, others in ((family_of(before), there, left), (family_of(state), left, there))
        for key in pods.keys() - others.keys()
    }
    return {key: name for key, name in was.at_rest.items() if key not in touched}


def _at_rest(roots: Sequence[Workload], counts: Mapping[WorkloadName, PodCount]) -> dict[int, WorkloadName]:
    """Return the workloads, by identity, that have all their pods, and these their nodes."""
    plain = [each for each in roots if (each.group, each.kind) in _BY_THEIR_PODS]
    names = {id(each): WorkloadName(each.kind, each.metadata.full_name) for each in plain}
    none = PodCount()
    return {key: name for key, name in names.items() if not ((found := counts.get(name, none)).asked or found.old)}


def makes_anew(root: Workload) -> bool:
    """Say whether a workload can be asked for the pods that it lacks: a CronJob makes those of its next time."""
    maker = maker_of(root)
    return maker is not None and maker.plan is not None and root.kind != "CronJob"


def _checked(
    state: ClusterState, family: Family, left: list[_Asked], options: CheckOptions
) -> tuple[Check, dict[str, Problem], Documents]:
    """Return what a check says, what is wrong with those that could not be asked, and those that could."""
    wrong: dict[str, Problem] = {}
    options = replace(options, settings=state.settings)
    while True:
        manifests = joined(_documents(state, left), state.manifests)
        try:
            return check(manifests, state.dump, options), wrong, manifests
        except ManifestError as error:
            named = {each.where.object: each for each in error.problems}
            # Who makes a pod has it asked again.
            for pod in (each for each in state.dump.pods if _name(each) in named):
                root = family.root(pod)
                if root is not None:
                    named.setdefault(_name(root), named[_name(pod)])
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
