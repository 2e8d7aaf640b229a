"""
Pods evicted by a drain, as many at a time as their budgets let go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dra_alloc.api import Pod
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.step import evicted_at_once
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.what_if.asking import asked
from dra_alloc.scenario.what_if.disruption import Disruptions, Healthy
from dra_alloc.scenario.what_if.made_anew import MadeAnew


def evicted_by_drain(
    state: ClusterState, pods: Sequence[Pod], start: ClusterState, options: CheckOptions
) -> ClusterState:
    """
    Return the state after pods were evicted, those that their budgets never let go still there, with why.

    As `kubectl drain` does, whoever is refused is asked again once others that were evicted run elsewhere: those
    that find a place, from the state at the `start` of all steps on, are taken to get ready. Whoever would go
    if those did of which that is undecided may be let go or not.

    Spec: EVICT-1 to EVICT-3.
    """
    left, coming, doubted = list(pods), list[Healthy](), list[Healthy]()
    while left:
        budgets = Disruptions(state.dump, state.manifests, coming)
        refused = {each.metadata.full_name: budgets.refuses(each) for each in left}
        gone = [each for each in left if not refused[each.metadata.full_name]]
        state = evicted_at_once(state, gone)
        left = [each for each in left if refused[each.metadata.full_name]]
        if not gone or not left:
            return _held_up(state, {name: why for name, why in refused.items() if why}, left, [*coming, *doubted])
        coming, doubted = _coming(state, start, options)
    return state


def _held_up(
    state: ClusterState, refused: Mapping[str, str], left: Sequence[Pod], most: Sequence[Healthy]
) -> ClusterState:
    """Return the state in which pods that are left hold up the drain; those may that would go if `most` ran."""
    likely = Disruptions(state.dump, state.manifests, most)
    unsure = {name: refused[name] for each in left if likely.lets(each) for name in [each.metadata.full_name]}
    return state.held_up({name: why for name, why in refused.items() if name not in unsure}, unsure)


def _coming(state: ClusterState, start: ClusterState, options: CheckOptions) -> tuple[list[Healthy], list[Healthy]]:
    """
    Return the pods that would run by now and are not there, and those of which that is not known.

    Where one is undecided nothing is known of any other that finds no place: it may have had to wait for that one.
    """
    made = MadeAnew.of(start, state)
    found = asked(state, made.pods, made.evicted, replace(options, reasons=False)).check
    verdicts = {each.name: each.verdict for each in found.placements}
    there = {each.metadata.full_name for each in state.dump.pods if each.spec.node_name}
    new: list[tuple[str | None, Healthy]] = [
        (verdicts.get(each.name), (each.pod.metadata.namespace or "", each.pod.metadata.labels))
        for each in found.pods
        if each.name not in there
    ]
    left = [it for verdict, it in new if verdict != "allocated"] if "undecided" in verdicts.values() else []
    return [it for verdict, it in new if verdict == "allocated"], left
