"""
A cluster under change: what is there, what is applied to it, and which pods lost their places on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dra_alloc.api import DeviceTaintRule, FrozenMap, Pod, ResourceClaim
from dra_alloc.cluster.holding import given_back, reserved_for
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.manifest import Documents
from dra_alloc.manifest.kinds import MEMBERS
from dra_alloc.pods.workloads.owners import Family, name_of
from dra_alloc.pods.workloads.states import is_live
from dra_alloc.remembered import of_objects


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ClusterState:
    """
    The objects that are there and those that are applied to them, for one release.

    `evicted` are pods that are there no more, as they were, with why: who made
    them makes them anew. `stuck` are pods that a drain does not get away, with why, `unsure` those
    of which that is not known, as the budget of work ran out. `clock` is how many seconds
    passed, `since` when rules were made that taint devices; other taints are there from the start. Pods that are `due`
    go at that time, for why, as a node of theirs is tainted.
    """

    dump: Documents = field(default_factory=Documents)
    manifests: Documents = field(default_factory=Documents)
    settings: Settings = DEFAULT_SETTINGS
    evicted: Mapping[str, tuple[Pod, str]] = field(default_factory=FrozenMap)
    stuck: Mapping[str, str] = field(default_factory=FrozenMap)
    unsure: Mapping[str, str] = field(default_factory=FrozenMap)
    clock: int = 0
    since: tuple[tuple[DeviceTaintRule, int], ...] = ()
    due: Mapping[str, tuple[int, str]] = field(default_factory=FrozenMap)

    def evicting(self, pods: Iterable[tuple[Pod, str]]) -> ClusterState:
        """
        Return the state in which pods have lost their places, each for why: they are gone, and claims of theirs.

        They hold up no drain any more.
        """
        gone = {each.metadata.full_name: (each, why) for each, why in pods}
        if not gone:
            return self
        lost = {name: told for name, told in gone.items() if is_live(told[0])}
        dump = _without_pods(self.dump, [pod for pod, _ in gone.values()])
        return replace(self.held_up({}, {}, gone), dump=dump, evicted=FrozenMap({**self.evicted, **lost}))

    def held_up(
        self, stuck: Mapping[str, str], unsure: Mapping[str, str], others: Collection[str] = ()
    ) -> ClusterState:
        """Return the state in which pods hold up a drain, and others may, with why; nothing is known of `others`."""
        told = {*stuck, *unsure, *others}
        before, doubted = (
            {name: why for name, why in each.items() if name not in told} for each in (self.stuck, self.unsure)
        )
        return replace(self, stuck=FrozenMap({**before, **stuck}), unsure=FrozenMap({**doubted, **unsure}))


@of_objects
def family_of(state: ClusterState) -> Family:
    """Return all workloads and pods of a state by their owners."""
    return Family.of(state.manifests, state.dump, state.dump.nodes, {})


def joined(first: Documents, second: Documents) -> Documents:
    """Return the objects of both, each read where it was; those of `first` come first."""
    members: dict[str, Any] = {name: (*getattr(first, name), *getattr(second, name)) for name in MEMBERS}
    counts = Counter(first.unknown) + Counter(second.unknown)
    return replace(
        second,
        **members,
        unknown=counts,
        warnings=(*first.warnings, *second.warnings),
        places={**first.places, **second.places},
        texts={**first.texts, **second.texts},
        layouts={**first.layouts, **second.layouts},
        lost=first.lost | second.lost,
    )


def _without_pods(dump: Documents, gone: Collection[Pod]) -> Documents:
    """
    Return what is there without pods, the claims they own, and what they reserved.

    A claim of which that was the last user is given back.
    """
    names = set(map(name_of, gone))
    uids = {each.metadata.uid for each in gone if each.metadata.uid}

    def is_gone(namespace: str, name: str, uid: str) -> bool:
        return uid in uids if uid and uids else (namespace, name) in names

    def is_owned(claim: ResourceClaim) -> bool:
        namespace = claim.metadata.namespace or ""
        for each in claim.metadata.owner_references:
            if each.kind == "Pod" and is_gone(namespace, each.name, each.uid):
                return True
        return False

    def freed(claim: ResourceClaim) -> ResourceClaim:
        users, namespace = claim.status.reserved_for, claim.metadata.namespace or ""
        for each in users:
            if each.resource == "pods" and is_gone(namespace, each.name, each.uid):
                break
        else:
            return claim
        left = tuple(each for each in users if each.resource != "pods" or not is_gone(namespace, each.name, each.uid))
        return reserved_for(claim, left) if left else given_back(claim)

    kept = replace(
        dump,
        pods=tuple([each for each in dump.pods if name_of(each) not in names]),
        claims=tuple([each for each in dump.claims if not is_owned(each)]),
    )
    return kept.mapped(freed, "claims")
