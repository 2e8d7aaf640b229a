"""
Who loses a place by hand, on plain JSON: what budgets let go, and what taints of devices and nodes drive away in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fuzz.by_hand.editing import ByHand

Json = dict[str, Any]
_OVER: Final = ("Succeeded", "Failed")
_OWN_SCALE: Final = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")


def drained(hand: ByHand, pods: list[Json]) -> None:
    """Evict pods as often as budgets let some go; those that find a place meanwhile are healthy."""
    left, coming = list(pods), list[tuple[str, Json]]()
    while left:
        room = _Room(hand, coming)
        gone = [each for each in left if room.lets(each)]
        hand.evict(gone)
        left = [each for each in left if each not in gone]
        if not gone:
            return
        found = hand.checked()
        there = {_full(each) for each in hand.there if each["kind"] == "Pod" and each["spec"].get("nodeName")}
        placed = {each.name for each in found.placements if each.allocated is not None} - there
        made = [each.pod for each in found.pods if each.name in placed]
        coming = [(each.metadata.namespace or "", dict(each.metadata.labels)) for each in made]


class _Room:
    """How many more pods each budget lets go."""

    def __init__(self, hand: ByHand, coming: list[tuple[str, Json]]) -> None:
        self._hand = hand
        self._budgets = [each for each in hand.there if each["kind"] == "PodDisruptionBudget"]
        self._left = {each["metadata"]["name"]: self._allowed(each, coming) for each in self._budgets}

    def lets(self, pod: Json) -> bool:
        """Say whether a pod may go, and count it."""
        if not _is_live(pod) or pod.get("status", {}).get("phase") == "Pending":
            return True
        mine = [
            each["metadata"]["name"]
            for each in self._budgets
            if _selects(each, pod["metadata"].get("namespace", ""), pod["metadata"].get("labels", {}))
        ]
        if not mine:
            return True
        if len(mine) > 1 or self._left[mine[0]] <= 0:
            return False
        self._left[mine[0]] -= 1
        return True

    def _allowed(self, budget: Json, coming: list[tuple[str, Json]]) -> int:
        spec = budget["spec"]
        pods = [
            each
            for each in self._hand.there
            if each["kind"] == "Pod"
            and _selects(budget, each["metadata"].get("namespace", ""), each["metadata"].get("labels", {}))
        ]
        healthy = sum(_is_live(each) and bool(each["spec"].get("nodeName")) for each in pods)
        healthy += sum(_selects(budget, namespace, labels) for namespace, labels in coming)
        if isinstance(spec.get("minAvailable"), int):
            return healthy - spec["minAvailable"] if pods else 0
        scale = self._scale(pods)
        if not scale:
            return 0
        if "minAvailable" in spec:
            return healthy - _share(spec["minAvailable"], scale)
        return healthy - max(0, scale - _share(spec["maxUnavailable"], scale))

    def _scale(self, pods: list[Json]) -> int:
        """Return how many pods the controllers of some are to have; 0 where one of them has no such number."""
        scales = {}
        for pod in pods:
            owner = next((each for each in pod["metadata"].get("ownerReferences", ()) if each.get("controller")), None)
            if owner is None:
                continue
            found = self._named(owner["kind"], pod["metadata"].get("namespace"), owner["name"])
            if found is not None and found["kind"] == "ReplicaSet":
                above = [each for each in found["metadata"].get("ownerReferences", ()) if each["kind"] == "Deployment"]
                found = (
                    above and self._named("Deployment", found["metadata"].get("namespace"), above[0]["name"])
                ) or found
            if found is None or found["kind"] not in _OWN_SCALE:
                return 0
            scales[found["kind"], _full(found)] = found["spec"].get("replicas", 1)
        return sum(scales.values())

    def _named(self, kind: str, namespace: str | None, name: str) -> Json | None:
        key = (kind, namespace, name)
        return next(
            (
                each
                for each in (*self._hand.applied[::-1], *self._hand.there)
                if (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) == key
            ),
            None,
        )


def _share(given: int | str, scale: int) -> int:
    return given if isinstance(given, int) else -(-scale * int(given.rstrip("%")) // 100)


def _selects(budget: Json, namespace: str, labels: Json) -> bool:
    wanted = budget["spec"]["selector"]["matchLabels"]
    return bool(budget["metadata"]["namespace"] == namespace and wanted.items() <= labels.items())


def _full(item: Json) -> str:
    return f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"


def _is_live(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") not in _OVER and "deletionTimestamp" not in pod["metadata"]


def waited(hand: ByHand, seconds: int) -> None:
    """Let time pass, by the controllers for taints of devices and of nodes."""
    observed(hand)
    hand.clock += seconds
    evict_tainted(hand, for_ever=False)
    gone_in_time(hand)


def observed(hand: ByHand) -> None:
    """Let the controller for taints of nodes see them."""
    taints = {
        each["metadata"]["name"]: [
            taint for taint in each.get("spec", {}).get("taints", ()) if taint["effect"] == "NoExecute"
        ]
        for each in hand.there
        if each["kind"] == "Node"
    }
    gone, due = [], {}
    for pod in (each for each in hand.there if each["kind"] == "Pod" and _is_live(each)):
        here = taints.get(pod["spec"].get("nodeName"), ())
        used = [
            next((each for each in pod["spec"].get("tolerations", ()) if tolerates(each, taint)), None)
            for taint in here
        ]
        times = [max(0, each["tolerationSeconds"]) for each in used if each is not None and "tolerationSeconds" in each]
        if None in used:
            gone.append(pod)
        elif times:
            uid = pod["metadata"]["uid"]
            due[uid] = hand.due.get(uid, hand.clock + min(times))
    hand.due = due
    hand.evict(gone)
    gone_in_time(hand)


def gone_in_time(hand: ByHand, nodes: Iterable[str] = ()) -> None:
    """Evict whoever is due by the clock, or on some nodes ever will be."""
    known = set(nodes)
    hand.evict(
        [
            each
            for each in hand.there
            if each["kind"] == "Pod"
            and (at := hand.due.get(each["metadata"]["uid"])) is not None
            and (at <= hand.clock or each["spec"].get("nodeName") in known)
        ]
    )


def evict_tainted(hand: ByHand, *, for_ever: bool = True) -> None:
    """Evict whoever uses a device with a NoExecute taint that it does not tolerate, or by the clock no longer."""
    if not hand.settings.effective_gates()["DRADeviceTaints"]:
        return
    taints = {
        (each["spec"]["driver"], each["spec"]["pool"]["name"], device["name"]): device.get("taints", ())
        for each in hand.seen()
        if each["kind"] == "ResourceSlice"
        for device in each["spec"].get("devices", ())
    }
    users = {
        user["uid"]
        for claim in hand.there
        if claim["kind"] == "ResourceClaim"
        for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        for taint in taints.get((result["driver"], result["pool"], result["device"]), ())
        if taint["effect"] == "NoExecute"
        if (limit := _device_limit(taint, result.get("tolerations", ()))) is not None
        if for_ever or hand.clock - taint.get("since", 0) >= limit
        for user in claim["status"].get("reservedFor", ())
    }
    hand.evict([each for each in hand.there if each["kind"] == "Pod" and each["metadata"]["uid"] in users])


def _device_limit(taint: Json, tolerations: Iterable[Json]) -> int | None:
    """Return for how many seconds a taint of a device is tolerated by those that name the effect; None for ever."""
    found = [each for each in tolerations if each.get("effect") == "NoExecute" and tolerates(each, taint)]
    if any("tolerationSeconds" not in each for each in found):
        return None
    return min((max(0, each["tolerationSeconds"]) for each in found), default=0)


def tolerates(toleration: Json, taint: Json) -> bool:
    """Say whether a toleration is for a taint."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")
