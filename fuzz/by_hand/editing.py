"""
Steps of scenarios done by hand on plain JSON, and a fresh check of what is there then.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import Check, check
from fuzz.by_hand.evicting import drained, evict_tainted, gone_in_time, observed, waited
from fuzz.by_hand.running import documents

Json = dict[str, Any]
_MADE: Final = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController", "CronJob")
_CORDON: Final = "node.kubernetes.io/unschedulable"
_HOSTNAME: Final = "kubernetes.io/hostname"
_MIRROR: Final = "kubernetes.io/config.mirror"


@dataclass
class ByHand:
    """
    Objects that are there and those that are applied, under change.

    `tainted` are the taints of devices, with when they came; pods that are `due` go then, by uid.
    """

    there: list[Json]
    settings: Settings
    applied: list[Json] = field(default_factory=list)
    tainted: list[tuple[Json, int]] = field(default_factory=list)
    clock: int = 0
    due: dict[str, int] = field(default_factory=dict)

    def do(self, kind: str, taken: Json) -> None:
        """Do one step."""
        _STEPS[kind](self, copy.deepcopy(taken))

    def checked(self) -> Check:
        """
        Return a fresh check of all that is to run: workloads, pods that wait, what is applied.

        Objects that are there and wrong are left out. Raises: ManifestError for those that are applied.
        """
        applied = {_name(each) for each in self.applied}
        keys = {(each["kind"], each["metadata"].get("uid")) for each in self.there}
        roots = [each for each in self.there if each["kind"] in _MADE and not _is_owned(each, keys)]
        roots = [each for each in roots if each["kind"] != "CronJob" and _name(each) not in applied]
        waiting = [each for each in self.there if _is_waiting(each)]
        options = CheckOptions(self.settings, reasons=False)
        left = [*roots, *waiting]
        while True:
            try:
                return check(documents([*left, *self.applied]), documents(self.seen()), options)
            except ManifestError as error:
                wrong = {each.where.object for each in error.problems}
                kept = [each for each in left if _shown(each) not in wrong]
                if len(kept) == len(left):
                    raise
                left = kept

    def seen(self) -> list[Json]:
        """Return the objects as the scheduler sees them: with the taints of rules, where these count."""
        if not self.settings.merges_taint_rules():
            return self.there
        seen = copy.deepcopy(self.there)
        for taken, since in self.tainted:
            for each in (each for each in seen if each["kind"] == "ResourceSlice"):
                _put_taint(each["spec"], taken, since)
        return seen

    def evict(self, pods: Iterable[Json]) -> None:
        """Take pods away, with the claims that they own; what nobody uses then holds no devices."""
        gone = {each["metadata"]["uid"] for each in pods}
        kept = []
        for each in self.there:
            owners = {owner["uid"] for owner in each["metadata"].get("ownerReferences", ())}
            if each["metadata"].get("uid") in gone or (each["kind"] == "ResourceClaim" and owners & gone):
                continue
            kept.append(_released(each, gone) if each["kind"] == "ResourceClaim" else each)
        self.there[:] = kept

    def on_nodes(self, names: Iterable[str]) -> list[Json]:
        """Return the pods that are on nodes, and not over."""
        known = set(names)
        return [each for each in self.there if each["kind"] == "Pod" and each["spec"].get("nodeName") in known]

    def chosen(self, taken: Json) -> list[Json]:
        """Return nodes by name or labels."""
        labels = taken.get("labels")
        return [
            each
            for each in self.there
            if each["kind"] == "Node"
            and (
                each["metadata"]["name"] in taken.get("names", ())
                or (labels and labels.items() <= each["metadata"].get("labels", {}).items())
            )
        ]


def _name(item: Json) -> tuple[str, str | None, str]:
    return item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]


def _shown(item: Json) -> str:
    return f"{item['kind']} {item['metadata'].get('namespace')}/{item['metadata']['name']}"


def _is_owned(item: Json, keys: set[tuple[str, Any]]) -> bool:
    return any((each["kind"], each["uid"]) in keys for each in item["metadata"].get("ownerReferences", ()))


def _is_waiting(item: Json) -> bool:
    return item["kind"] == "Pod" and not item["spec"].get("nodeName") and item["status"].get("phase") == "Pending"


def _released(claim: Json, gone: set[str]) -> Json:
    status = claim.get("status", {})
    users = status.get("reservedFor", [])
    left = [each for each in users if each["uid"] not in gone]
    if len(left) == len(users):
        return claim
    if left:
        return {**claim, "status": {**status, "reservedFor": left}}
    return {**claim, "status": {}}


def _add_nodes(hand: ByHand, taken: Json) -> None:
    like = taken["like"]
    known = {each["metadata"]["name"] for each in hand.there if each["kind"] == "Node"}
    (node,) = [each for each in hand.there if each["kind"] == "Node" and each["metadata"]["name"] == like]
    slices = [each for each in hand.there if each["kind"] == "ResourceSlice" and each["spec"].get("nodeName") == like]
    number, added = 0, 0
    while added < taken.get("count", 1):
        number += 1
        name = f"{like}-new-{number}"
        if name not in known:
            hand.there += _copies(node, slices, name)
            added += 1


def _copies(node: Json, slices: list[Json], name: str) -> list[Json]:
    like = node["metadata"]["name"]
    new = copy.deepcopy(node)
    new["metadata"] = {**new["metadata"], "name": name, "uid": name}
    if _HOSTNAME in new["metadata"].get("labels", {}):
        new["metadata"]["labels"][_HOSTNAME] = name
    _opened(new)
    made = [new]
    for each in copy.deepcopy(slices):
        pool = each["spec"]["pool"]
        each["metadata"] = {**each["metadata"], "name": f"{each['metadata']['name']}-{name}", "uid": f"s-{name}"}
        each["spec"] |= {"nodeName": name}
        pool["name"] = name if pool["name"] == like else f"{pool['name']}-{name}"
        made.append(each)
    return made


def _opened(node: Json) -> None:
    spec = node.get("spec", {})
    spec.pop("unschedulable", None)
    if "taints" in spec:
        spec["taints"] = [each for each in spec["taints"] if each["key"] != _CORDON]


def _cordon(hand: ByHand, taken: Json) -> None:
    for each in hand.chosen(taken):
        each.setdefault("spec", {})["unschedulable"] = True


def _uncordon(hand: ByHand, taken: Json) -> None:
    for each in hand.chosen(taken):
        _opened(each)


def _drain(hand: ByHand, taken: Json) -> None:
    names = [each["metadata"]["name"] for each in hand.chosen(taken)]
    _cordon(hand, taken)
    drained(hand, [each for each in hand.on_nodes(names) if not _stays(each)])


def _stays(pod: Json) -> bool:
    meta = pod["metadata"]
    owners = {each["kind"] for each in meta.get("ownerReferences", ())}
    return bool(owners & {"DaemonSet", "Node"}) or _MIRROR in meta.get("annotations", {})


def _remove(hand: ByHand, taken: Json) -> None:
    names = [each["metadata"]["name"] for each in hand.chosen(taken)]
    hand.evict(hand.on_nodes(names))
    hand.there[:] = [
        each
        for each in hand.there
        if not (each["kind"] == "Node" and each["metadata"]["name"] in names)
        and not (each["kind"] == "ResourceSlice" and each["spec"].get("nodeName") in names)
    ]


def _taint(hand: ByHand, taken: Json) -> None:
    hand.tainted.append((taken, hand.clock))
    if "seconds" in taken:
        waited(hand, taken["seconds"])
    else:
        evict_tainted(hand)


def _taint_nodes(hand: ByHand, taken: Json) -> None:
    observed(hand)
    nodes, new = hand.chosen(taken), taken["taint"]
    for each in nodes:
        spec = each.setdefault("spec", {})
        others = [it for it in spec.get("taints", ()) if (it["key"], it["effect"]) != (new["key"], new["effect"])]
        spec["taints"] = [*others, dict(new)]
    observed(hand)
    if "seconds" in taken:
        waited(hand, taken["seconds"])
    else:
        gone_in_time(hand, [each["metadata"]["name"] for each in nodes])


def _wait(hand: ByHand, taken: Json) -> None:
    waited(hand, taken["seconds"])


def _put_taint(spec: Json, taken: Json, since: int) -> None:
    """Taint devices in their slice, which comes to the same as a rule; nobody but `evict_tainted` reads since when."""
    if taken.get("driver") not in (None, spec["driver"]) or taken.get("pool") not in (None, spec["pool"]["name"]):
        return
    for device in spec.get("devices", ()):
        if taken.get("device") in (None, device["name"]):
            device.setdefault("taints", []).append({**taken["taint"], "since": since})


def _delete(hand: ByHand, taken: Json) -> None:
    kind, name = taken["kind"], taken["name"]

    def is_it(item: Json) -> bool:
        namespace = item["metadata"].get("namespace")
        return (item["kind"], item["metadata"]["name"], namespace) == (kind, name, taken.get("namespace"))

    hand.applied[:] = [each for each in hand.applied if not is_it(each)]
    if kind == "ResourceClaim":
        for each in hand.there:
            if is_it(each) and each.get("status", {}).get("reservedFor"):
                each["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                return
    gone = {each["metadata"]["uid"] for each in hand.there if is_it(each)}
    while True:
        below = {
            each["metadata"]["uid"]
            for each in hand.there
            if each["kind"] in (*_MADE, "Pod")
            and any(owner["uid"] in gone for owner in each["metadata"].get("ownerReferences", ()))
        }
        if below <= gone:
            break
        gone |= below
    hand.evict([each for each in hand.there if each["kind"] == "Pod" and each["metadata"]["uid"] in gone])
    hand.there[:] = [each for each in hand.there if each["metadata"].get("uid") not in gone]


def _apply(hand: ByHand, taken: Json) -> None:
    hand.applied += taken["objects"]


def _release(hand: ByHand, taken: Json) -> None:
    """Ask another release. Raises: InputError for gates that it does not have."""
    was = hand.settings
    hand.settings = Settings(taken.get("version", was.release), {**was.gates, **taken.get("gates", {})})
    hand.settings.profile()


_STEPS: Final[dict[str, Callable[[ByHand, Json], None]]] = {
    "addNodes": _add_nodes,
    "apply": _apply,
    "cordonNodes": _cordon,
    "delete": _delete,
    "drainNodes": _drain,
    "release": _release,
    "removeNodes": _remove,
    "taintDevices": _taint,
    "taintNodes": _taint_nodes,
    "uncordonNodes": _uncordon,
    "wait": _wait,
}
