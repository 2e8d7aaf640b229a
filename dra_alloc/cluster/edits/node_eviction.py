"""
Pods that lose their places because their node has a NoExecute taint.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from dra_alloc.api import FrozenMap, Node, Pod, Taint, Toleration
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.pods.taints import first_tolerating
from dra_alloc.pods.workloads.states import PodState, state_of

_COMPARING: Final = "TaintTolerationComparisonOperators"


def observed(state: ClusterState) -> ClusterState:
    """
    Return the state in which the controller for taints of nodes has seen them, by its clock.

    Pods that do not tolerate a NoExecute taint of their node are evicted. Who tolerates all is to go when the
    shortest time of the tolerations used is over; once that is set, more taints that are tolerated for a time do
    not change it.

    Spec: EVICT-4.
    """
    tainted = {each.metadata.name or "": found for each in state.dump.nodes if (found := _evicting(each))}
    comparing = bool(state.settings.effective_gates().get(_COMPARING, False))
    gone, due = [], {}
    for pod in state.dump.pods if tainted else ():
        taints = tainted.get(pod.spec.node_name or "")
        if not taints or state_of(pod) is not PodState.BOUND:
            continue
        name = pod.metadata.full_name
        used = [(each, first_tolerating(each, pod.spec.tolerations, comparing=comparing)) for each in taints]
        missed = next((taint for taint, toleration in used if toleration is None), None)
        times = [(seconds, taint) for taint, it in used if (seconds := _seconds(it)) is not None]
        if missed is not None:
            gone.append((pod, _why(pod, missed)))
        elif times:
            seconds, taint = min(times, key=_first)
            due[name] = state.due.get(name) or (state.clock + seconds, f"{_why(pod, taint)} after {seconds} s")
    return gone_in_time(replace(state.evicting(gone), due=FrozenMap(due)))


def _evicting(node: Node) -> list[Taint]:
    return [each for each in node.spec.taints if each.effect == "NoExecute"]


def _seconds(toleration: Toleration | None) -> int | None:
    """Return for how long a toleration is one; None for ever."""
    if toleration is None or toleration.toleration_seconds is None:
        return None
    return max(0, toleration.toleration_seconds)


def _first(entry: tuple[int, Taint]) -> int:
    return entry[0]


def _why(pod: Pod, taint: Taint) -> str:
    return f"node {pod.spec.node_name} is tainted {taint.key}:{taint.effect}"


def gone_in_time(state: ClusterState, names: Collection[str] = ()) -> ClusterState:
    """Return the state without the pods whose time is over by the clock, or will be on nodes of these names."""
    pods = [each for each in state.dump.pods if each.metadata.full_name in state.due]
    whys = [(each, state.due[each.metadata.full_name]) for each in pods]
    return state.evicting((each, why) for each, (at, why) in whys if at <= state.clock or each.spec.node_name in names)
