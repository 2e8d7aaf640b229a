"""
Compares recorded worlds with what this package answers, attempt by attempt, and counts causes.

Every attempt is asked on the state that the real scheduler had before it, so that one difference, or one draw among
equal nodes, does not make others. Beside it each workload is asked as a whole: how many of its pods run.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.cluster.settings import Settings
from dra_alloc.traits import Trait
from fuzz.plane import ours
from fuzz.plane.state import Moment, accepted, applied, called, claim_names, cycles, devices_of, moments, node_of

Json = dict[str, Any]
#: Orders of slices that are tried at most.
_ORDERS: Final = 720
#: Of several resources that are not covered the scheduler names one, in the order of a map.
_WHICHEVER: Final = re.compile(r"(?<=pod level request for )\S+")
#: What the scheduler says before the API server's words on a claim that it could not make.
_NOT_MADE = r'running PreBind plugin "DynamicResources": create claim for extended resources \S+: '


@dataclass(frozen=True)
class Difference:
    """One answer that is not what ran: `kind` says in what, `text` what both say."""

    world: str
    kind: str
    text: str


@dataclass
class Tally:
    """What comparing worlds came to; `agreed` and `differed` count questions by kind."""

    worlds: int = 0
    unsettled: int = 0
    seconds: float = 0.0
    agreed: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    @property
    def broken(self) -> int:
        """How many worlds have a difference."""
        return len({each.world for each in self.differences})

    def table(self) -> str:
        """Return agreement by kind of question, and the causes: kind by flavour of the world."""
        differed = Counter(each.kind for each in self.differences)
        lines = [f"{self.worlds} worlds, {self.broken} with a difference; {self.unsettled} did not come to rest"]
        kinds = sorted({*self.agreed, *differed})
        lines += [f"  {kind}: {self.agreed[kind]} agree, {differed[kind]} differ" for kind in kinds]
        by_flavour = Counter((each.kind, each.world.rsplit("-", 2)[0]) for each in self.differences)
        lines += [f"    {count:4} {kind} in {flavour}" for (kind, flavour), count in by_flavour.most_common()]
        return "\n".join(lines)


def compare(world: Json, tally: Tally) -> list[Difference]:
    """Add a recorded world to a tally; return its differences. One that did not come to rest is counted apart."""
    if "unsettled" in world:
        tally.unsettled += 1
        return []
    before = len(tally.differences)
    tally.worlds += 1
    tally.seconds += world.get("seconds", 0.0)
    settings = ours.settings_of(world)
    for moment in moments(world):
        _compare_attempt(settings, moment, tally)
    found = [*cycles(world)]
    last = {moment.attempt["group"]: number for number, (moment, _) in enumerate(found)}
    for number, (moment, tried) in enumerate(found):
        _compare_group(settings, moment, (tried, last[moment.attempt["group"]] == number), tally)
    for number in range(len(world["steps"])):
        _compare_step(settings, world, number, tally)
    return tally.differences[before:]


def _note(tally: Tally, world: Json, kind: str, said: tuple[object, object], what: str) -> None:
    ran, answered = said
    if ran == answered or (kind == "message" and _WHICHEVER.sub("", str(ran)) == _WHICHEVER.sub("", str(answered))):
        tally.agreed[kind] += 1
    else:
        text = f"{what}: ran {ran}, answered {answered}"
        tally.differences.append(Difference(world["name"], kind, text))


def _compare_attempt(settings: Any, moment: Moment, tally: Tally) -> None:
    world, attempt = moment.world, moment.attempt
    node, what = attempt["node"], f"step {moment.step} {attempt['owner']} {attempt['pod']}"
    try:
        answer = ours.place(settings, moment.pod, moment.dump(), node)
    except Exception as error:  # noqa: BLE001 - a crash is a difference like any other
        tally.differences.append(Difference(world["name"], "error", f"{what}: {type(error).__name__}: {error}"))
        return
    _note(tally, world, "runs", (node is not None, bool(answer.nodes)), f"{what} {answer.message or node}")
    if node is None and answer.message is not None:
        _note(tally, world, "message", (_message(moment), answer.message), what)
    if node is None or not answer.nodes or _after_failed_binding(moment):
        return
    best = _best(attempt)
    _note(tally, world, "nodes", (sorted(best), sorted(answer.nodes)), what)
    if node in answer.nodes:
        ran = _devices(world, attempt["pod"])
        answered = answer.devices if answer.devices == ran else _in_some_order(settings, moment, ran) or answer.devices
        _note(tally, world, "devices", (ran, answered), what)


def _after_failed_binding(moment: Moment) -> bool:
    """
    Return whether a pod of the same cycle of a group was given a node, and could not be bound to it.

    What it held while this one was tried is not recorded.
    """
    group, cycle = moment.attempt.get("group"), moment.attempt.get("cycle")
    for each in moment.world["steps"][moment.step]["attempts"] if group else ():
        if each["pod"] == moment.attempt["pod"] and each.get("cycle") == cycle:
            return False
        if (each.get("group"), each.get("cycle")) == (group, cycle) and each.get("scores") and not each["node"]:
            return True
    return False


def _in_some_order(settings: Settings, moment: Moment, ran: dict[str, list[str]]) -> dict[str, list[str]] | None:
    """Return the devices that ran if some order of slices gives them, where upstream tries them in map order."""
    if not settings.profile().shows(Trait.INPUT_ORDER):
        return None
    dump, node = moment.dump(), moment.attempt["node"]
    near = [each for each in dump if each["kind"] == "ResourceSlice" and each["spec"].get("nodeName", node) == node]
    rest = [each for each in dump if each not in near]
    orders = itertools.islice(itertools.permutations(near), _ORDERS)
    found = (ours.place(settings, moment.pod, [*rest, *each], node).devices for each in orders)
    return next((each for each in found if each == ran), None)


def _compare_group(settings: Any, moment: Moment, attempt: tuple[list[str], bool], tally: Tally) -> None:
    """Hold one attempt of a group against ours: how many pods found a node; after the last, what the others say."""
    tried, is_last = attempt
    world, group = moment.world, moment.attempt["group"]
    nodes = {each["pod"]: each["node"] for each in world["steps"][moment.step]["attempts"]}
    bound = sum(bool(nodes[name]) for name in tried)
    rest = [] if bound else _waiting_for(world, group, {*moment.bound, *tried}, moment.step)
    what = f"step {moment.step} group {group} {tried} {rest}"
    try:
        pods = [moment.pending(name) for name in (*tried, *rest)]
        answers = ours.together(settings, pods, moment.dump(*tried, *rest))
    except Exception as error:  # noqa: BLE001 - a crash is a difference like any other
        tally.differences.append(Difference(world["name"], "error", f"{what}: {type(error).__name__}: {error}"))
        return
    _note(tally, world, "group", (bound, sum(bool(each.nodes) for each in answers)), what)
    for name, answer in zip((*tried, *rest), answers, strict=True):
        if is_last and not bound and answer.message is not None:
            _note(tally, world, "message", (_said_of(world, name), answer.message), f"{what} {name}")


def _waiting_for(world: Json, group: str, others: set[str], step: int) -> list[str]:
    """Return the pods of a group that were there and not tried."""
    there = {name for each in world["steps"][: step + 1] for name in each["before"]["pods"]}
    last = step == len(world["steps"]) - 1
    found = []
    for name, pod in world["pods"].items():
        spec = pod["object"]["spec"]
        named = spec.get("schedulingGroup", {}).get("podGroupName") == group and not spec.get("schedulingGates")
        if named and name not in others and (last or name in there or pod["owner"] in _works(world, step)):
            found.append(name)
    return found


def _works(world: Json, step: int) -> set[str]:
    work = world["work"][step]
    return {f"{each['kind']}/{each['metadata']['name']}" for each in (work if isinstance(work, list) else [work])}


def _message(moment: Moment) -> str:
    """Return what the real scheduler wrote on the pod, without what it says of claims given back and of preemption."""
    return _said_of(moment.world, moment.attempt["pod"])


def _said_of(world: Json, name: str) -> str:
    conditions = world["pods"][name]["object"]["status"].get("conditions", ())
    said: str = next((each.get("message", "") for each in conditions), "")
    refused = re.match(_NOT_MADE, said)
    if refused is not None:
        return re.sub(r"-[a-z0-9]{5}\"", '"', said[refused.end() :], count=1)
    return re.split(r"(?:, pod group)? (?:preemption: |no new claims to deallocate|still not schedulable)", said)[0]


def _best(attempt: Json) -> list[str]:
    """Return the nodes that the real scheduler drew from: those with the most points, or the only one that fits."""
    scores = {node: points["total"] for node, points in attempt.get("scores", {}).items()}
    if not scores:
        return [attempt["node"]]
    return [node for node, points in scores.items() if points == max(scores.values())]


def _devices(world: Json, pod: str) -> dict[str, list[str]]:
    """Return the devices of a pod by claim; what is drawn of the name of a claim that the scheduler makes is cut."""
    names = claim_names(world["pods"][pod]["object"]).items()
    return {
        name if entry else name.rpartition("-")[0]: devices_of(world["claims"][name])
        for entry, name in names
        if name in world["claims"]
    }


def _compare_step(settings: Any, world: Json, number: int, tally: Tally) -> None:
    step, work = world["steps"][number], world["work"][number]
    work = [each for each in (work if isinstance(work, list) else [work]) if not _is_invalid(each, step)]
    what, before = f"step {number}", {*step["before"]["pods"]}
    drawn = [(each["owner"], each["node"]) for each in step["attempts"] if each["node"] and each["pod"] not in before]
    ran = Counter({f"{each['kind']}/{each['metadata']['name']}": 0 for each in work})
    none = dict.fromkeys(ran, 0)
    ran.update(owner for owner, _ in drawn)
    try:
        asked = ours.Step(settings, work, _dump_before(world, number))
        answered = asked.running()
        if answered != ran:
            answered = asked.following(drawn, _claimed(world))
            what += ", by the nodes that were drawn"
    except Exception as error:  # noqa: BLE001 - a crash is a difference like any other
        tally.differences.append(Difference(world["name"], "error", f"{what}: {type(error).__name__}: {error}"))
        return
    _note(tally, world, "running", (dict(ran), {**none, **answered}), what)
    missing = Counter(_names(world, {*none})) - asked.names
    _note(tally, world, "names", ([*missing], []), f"step {number}, answered {[*asked.names]}")


def _claimed(world: Json) -> set[str]:
    """Return the nodes for which a DaemonSet made a pod that has a claim."""
    return {node_of(each["object"]) for each in world["pods"].values() if _statuses(each["object"])} - {""}


def _is_invalid(workload: Json, step: Json) -> bool:
    """Return whether the API server refused a workload for what it is, which is not asked here."""
    said: str = step.get("refused", {}).get(f"{workload['kind']}/{workload['metadata']['name']}", "")
    return said.startswith("422: ")


def _names(world: Json, owners: set[str]) -> Iterator[str]:
    """Yield the names of the pods of some workloads, and of the claims made for them from templates."""
    pods = [each["object"] for each in world["pods"].values() if each["owner"] in owners]
    made = {each["resourceClaimName"] for pod in pods for each in _statuses(pod) if each.get("resourceClaimName")}
    return called(pods, [world["claims"][name] for name in sorted(made & {*world["claims"]})])


def _statuses(pod: Json) -> list[Json]:
    found: list[Json] = pod.get("status", {}).get("resourceClaimStatuses", [])
    return found


def _dump_before(world: Json, number: int) -> list[Json]:
    """Return the objects that a step found: pods with and without a node, claims, and quotas with what is used."""
    before = world["steps"][number]["before"]
    node_of = {
        each["pod"]: each["node"] for step in world["steps"][:number] for each in step["attempts"] if each["node"]
    }
    given = accepted(world)
    found = [each for each in given if each["kind"] not in {"ResourceClaim", "ResourceQuota"}]
    quotas = [each for each in given if each["kind"] == "ResourceQuota"]
    found += [{**each, "status": before["quotas"].get(each["metadata"]["name"], {})} for each in quotas]
    pods = [
        _as_then(world["pods"][name]["object"], node_of.get(name)) for name in before["pods"] if name in world["pods"]
    ]
    allocated = {name for pod in pods if pod["spec"].get("nodeName") for name in claim_names(pod).values()}
    held = {each["metadata"]["name"] for each in world["cluster"] if each["kind"] == "ResourceClaim"}
    for name in before["claims"]:
        claim = world["claims"].get(name)
        if claim is not None:
            found.append(claim if name in allocated or name in held else {**claim, "status": {}})
    return [*found, *applied(world, number), *pods]


def _as_then(pod: Json, node: str | None) -> Json:
    if node is not None:
        return pod
    return {**pod, "spec": {key: value for key, value in pod["spec"].items() if key != "nodeName"}}
