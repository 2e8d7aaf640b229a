"""
Pods evicted by a drain, as many at a time as their budgets let go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dra_alloc.api import FrozenMap, Pod
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.step import evicted_at_once
from dra_alloc.scenario.check import CheckOptions
from dra_alloc.scenario.what_if.asking import asked
from dra_alloc.scenario.what_if.disruption import Disruptions, Healthy
from dra_alloc.scenario.what_if.made_anew import MadeAnew

__all__ = ["evicted_by_drain"]


def evicted_by_drain(
    state: ClusterState, pods: Sequence[Pod], start: ClusterState, options: CheckOptions
) -> ClusterState:
    """
    Return the state after pods were evicted, those that their budgets never let go still there, with why.

    As `kubectl drain` does, whoever is refused is asked again once others that were evicted run elsewhere: those
    that find a place, from the state at the `start` of all steps on, are taken to get ready.

    Spec: EVICT-1 to EVICT-3.
    """
    left, coming = list(pods), list[Healthy]()
    while left:
        budgets = Disruptions(state.dump, state.manifests, coming)
        refused = {each.metadata.full_name: budgets.refuses(each) for each in left}
        gone = [each for each in left if not refused[each.metadata.full_name]]
        state = evicted_at_once(state, gone)
        left = [each for each in left if refused[each.metadata.full_name]]
        if not gone or not left:
            stuck = {each.metadata.full_name: refused[each.metadata.full_name] for each in left}
            return replace(state, stuck=FrozenMap({**state.stuck, **stuck}))
        coming = _coming(state, start, options)
    return state


def _coming(state: ClusterState, start: ClusterState, options: CheckOptions) -> list[Healthy]:
    """Return the pods that would run by now and are not there."""
    made = MadeAnew.of(start, state)
    found = asked(state, made.pods, made.evicted, replace(options, reasons=False)).check
    placed = {each.name for each in found.placements if each.allocated is not None}
    there = {each.metadata.full_name for each in state.dump.pods if each.spec.node_name}
    return [
        (each.pod.metadata.namespace or "", each.pod.metadata.labels)
        for each in found.pods
        if each.name in placed and each.name not in there
    ]
