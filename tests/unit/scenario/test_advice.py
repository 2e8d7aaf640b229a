"""
What would help where a question ends with an error.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal, Unsatisfiable
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.reasons import WORK, Reasons
from dra_alloc.manifest import Documents
from dra_alloc.scenario.refused.advice import Ended, advised


def cluster(
    devices: list[dict[str, Any]],
    settings: Settings,
    expression: str = "true",
    elsewhere: tuple[dict[str, Any], ...] = (),
) -> Cluster:
    spec: dict[str, Any] = {
        "driver": "d",
        "nodeName": "node",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
    }
    device_class = {"metadata": {"name": "any"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
    slices: list[dict[str, Any]] = [{"metadata": {"name": "s"}, "spec": {**spec, "devices": devices}}]
    if elsewhere:
        pool = {**spec["pool"], "name": "other"}
        there = {**spec, "nodeName": "other", "pool": pool, "devices": list(elsewhere)}
        slices.append({"metadata": {"name": "t"}, "spec": there})
    objects = Documents(
        nodes=tuple(Node.from_wire({"metadata": {"name": each["spec"]["nodeName"]}}) for each in slices),
        slices=tuple(map(ResourceSlice.from_wire, slices)),
        classes=(DeviceClass.from_wire(device_class),),
    )
    return Cluster.of(objects, settings)


def claim(*requests: dict[str, Any], constraints: tuple[dict[str, Any], ...] = ()) -> ResourceClaim:
    exact = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    given = [
        each if "firstAvailable" in each else {"name": f"r{number}", "exactly": {**exact, **each}}
        for number, each in enumerate(requests)
    ]
    devices = {"requests": given, "constraints": list(constraints)}
    return ResourceClaim.from_wire({"metadata": {"name": "c", "namespace": "ns"}, "spec": {"devices": devices}})


def advice(asked: ResourceClaim, there: Cluster, work: int = WORK) -> tuple[NodeRefusal, Reasons]:
    outcome = there.allocate([asked], "node")
    assert isinstance(outcome, Unsatisfiable)
    assert outcome.aborts
    refusal = advised(Ended(there), [asked], outcome.refusals[0], work)
    assert refusal.reasons is not None
    return refusal, refusal.reasons


def plain(number: int) -> list[dict[str, Any]]:
    return [{"name": f"d{each}", "attributes": {"size": {"int": each}}} for each in range(number)]


@pytest.mark.parametrize(("count", "helps"), [(40, True), (2**63 - 1, False)])
def test_a_claim_is_put_into_as_many_as_a_pod_may_have(count, helps):
    _, reasons = advice(claim({"count": count}), cluster([{"name": f"d{n}"} for n in range(64)], Settings("1.36")))
    assert any(" claims of at most 32" in str(fix) for fix in reasons.fixes) is helps
    assert f'asking for 32 instead of {count} devices in request "r0"' in map(str, reasons.fixes)


@pytest.mark.parametrize(
    ("counts", "there", "claims"),
    [((33,), 33, 2), ((64,), 64, 2), ((20, 20, 25), 70, 3), ((65,), 64, 0), ((33,), 20, 0)],
)
def test_a_claim_that_is_too_large_is_tried_in_several(counts: tuple[int, ...], there: int, claims: int) -> None:
    asked = claim(*({"count": count} for count in counts))
    refusal, found = advice(asked, cluster(plain(there), Settings()))
    assert refusal.code == "too-many-devices"
    steps = [step for fix in found.fixes for step in fix.steps if " claims of " in step]
    assert steps == ([f"asking for the devices of claim ns/c in {claims} claims of at most 32"] if claims else [])
    assert ("a claim can have 32 devices at most" in found.hints) is (claims == 0)


def test_constraints_do_not_reach_from_claim_to_claim() -> None:
    asked = claim({"count": 40}, constraints=({"matchAttribute": "d/size"},))
    found = advice(asked, cluster(plain(64), Settings()))[1]
    assert not any(" claims of " in str(fix) for fix in found.fixes)


@pytest.mark.parametrize("release", ["1.34", "1.36", "1.37"])
@pytest.mark.parametrize("of_class", [True, False])
def test_the_device_at_which_a_selector_fails_is_named(release: str, of_class: bool) -> None:
    devices = [*plain(1), {"name": "other", "attributes": {"sise": {"int": 1}}}]
    fails = "device.attributes['d'].size == 5"
    asked = claim({} if of_class else {"selectors": [{"cel": {"expression": fails}}]})
    there = cluster(devices, Settings(release), fails if of_class else "true")
    refusal, found = advice(asked, there)
    assert refusal.code == "selector-runtime-error"
    assert "did you mean sise?" in found.hints
    whose = "class any" if of_class else 'request "r0"'
    why = "no such key: size; on node size is missing on 1 of 2 devices"
    cause = f"a selector of {whose} fails on device d/p/other ({why})"
    assert refusal.explanation.cause == f"{cause}: {fails}"


GUARD = (
    'changing the selector of request "r0" to has(device.attributes["d"].size) && (device.attributes["d"].size == 5)'
)
_FEWER = 'asking for 1 instead of 2 devices in request "r0"'


@pytest.mark.parametrize(("count", "here", "more"), [(1, 1, []), (2, 1, [_FEWER]), (2, 0, None)])
def test_a_guard_is_tried(count: int, here: int, more: list[str] | None) -> None:
    devices: list[dict[str, Any]] = [{"name": "other"}, {"name": "whole", "attributes": {"size": {"int": 4 + here}}}]
    fails = 'device.attributes["d"].size == 5'
    asked = claim({"count": count, "selectors": [{"cel": {"expression": fails}}]})
    refusal, found = advice(asked, cluster(devices, Settings()))
    assert refusal.code == "selector-runtime-error"
    guard = GUARD
    fixes = [fix for fix in found.fixes if guard in fix.steps]
    assert [fix.steps for fix in fixes] == ([] if more is None else [(guard, *more)])
    assert ("guarding size alone is not enough" in found.hints) is (more is None)
    guarded = f'has(device.attributes["d"].size) && ({fails})'
    so = f"guarded so, {here} of 2 {'matches' if here else 'match'}: {guarded}"
    assert (so in found.hints) is (more is None)
    assert [fix.asides[0] for fix in fixes] == ([] if more is None else ["then 1 of 2 matches on node"])
    assert [bool(fix.leaves) for fix in fixes] == ([] if more is None else [bool(more)])
    assert str(found.hints).count("guard size") == int(more is None)
    assert "guard it" not in str(found.hints)


@pytest.mark.parametrize("enough", [True, False])
def test_a_guard_is_no_fix_where_another_node_ends_the_question_with_an_error(enough: bool) -> None:
    wants = 'device.attributes["d"].size == 5 && device.attributes["d"].kind == 1'
    asked = claim({"selectors": [{"cel": {"expression": wants}}]})
    size, kind = {"size": {"int": 5}}, {"kind": {"int": 1}}
    devices: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "attributes": {**size, **kind}}]
    elsewhere = {"name": "c", "attributes": {**size, **kind} if enough else size}
    found = advice(asked, cluster(devices, Settings(), elsewhere=(elsewhere,)))[1]
    assert any("has(" in str(fix) for fix in found.fixes) is enough
    spoilt = "guarding size would be enough on node, but another node ends the question with an error then"
    assert (spoilt in found.hints) is not enough
    assert "guarding size alone is not enough" not in found.hints


@pytest.mark.parametrize("here", [True, False])
def test_a_guard_that_is_not_tried_for_want_of_work_is_told_as_that(here: bool) -> None:
    wants = 'device.attributes["d"].size == 5'
    asked = claim({"selectors": [{"cel": {"expression": wants}}]})
    size = {"size": {"int": 5 if here else 4}}
    devices: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "attributes": size}]
    elsewhere = {"name": "c", "attributes": size}
    guard, told = GUARD, set()
    for allowed in range(1, 200, 5):
        there = cluster(devices, Settings(), elsewhere=(elsewhere,))
        found = advice(asked, there, allowed)[1]
        told |= {"fix" for fix in found.fixes if guard in fix.steps}
        told |= {"not tried" for each in found.untried if each == guard}
        told |= {"not enough" for each in found.hints if each == "guarding size alone is not enough"}
    assert told == {"not tried", "fix" if here else "not enough"}


def test_what_would_help_an_all_that_ends_the_question_is_tried() -> None:
    asked = claim({"allocationMode": "All", "count": None}, constraints=({"matchAttribute": "d/size"},))
    refusal, found = advice(asked, cluster(plain(2), Settings()))
    assert refusal.code == "all-misfit"
    assert [fix.steps for fix in found.fixes] == [("dropping matchAttribute d/size",)]


def test_what_else_is_in_the_way_is_told_with_the_guard() -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    asked = claim({"selectors": [{"cel": {"expression": 'device.attributes["d"].size == 5'}}]})
    whole = {"name": "b", "attributes": {"size": {"int": 5}}, "taints": [taint]}
    found = advice(asked, cluster([{"name": "a"}, whole], Settings()))[1]
    guard = GUARD
    fixes = [fix for fix in found.fixes if guard in fix.steps]
    steps = [fix.steps for fix in fixes]
    assert steps == [(guard, "tolerating the taint k=v:NoSchedule"), (guard, "removing the taint k=v:NoSchedule")]
    assert all("taint k=v:NoSchedule is not tolerated" in fix.leaves for fix in fixes)


def test_a_node_whose_devices_are_enough_with_the_guard_is_named() -> None:
    asked = claim({"count": 2, "selectors": [{"cel": {"expression": 'device.attributes["d"].size == 5'}}]})
    five = {"size": {"int": 5}}
    elsewhere = tuple({"name": name, "attributes": five} for name in "cd")
    there = cluster([{"name": "a"}, {"name": "b", "attributes": five}], Settings(), elsewhere=elsewhere)
    found = advice(asked, there)[1]
    assert "guarded so, the devices of node other are enough" in found.hints
    assert "guarding size alone is not enough" not in found.hints


@pytest.mark.parametrize("optional", ["other", "d"])
def test_what_is_read_where_it_is_there_only_needs_no_guard(optional: str) -> None:
    """A guard is made of what fails, not of the same name that is asked for with a question mark before."""
    first = f'device.attributes["{optional}"].?size.orValue(5) == 5'
    expression = f'{first} && device.attributes["d"].size == 5'
    asked = claim({"selectors": [{"cel": {"expression": expression}}]})
    devices: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "attributes": {"size": {"int": 5}}}]
    found = advice(asked, cluster(devices, Settings()))[1]
    fix = found.fixes[0]
    assert fix.steps[0].endswith(f' of request "r0" to has(device.attributes["d"].size) && ({expression})')


def test_a_selector_that_is_long_with_its_guard_is_named_by_its_beginning() -> None:
    expression = " || ".join(['device.attributes["d"].size == 5'] * 9)
    asked = claim({"selectors": [{"cel": {"expression": expression}}]})
    devices: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "attributes": {"size": {"int": 5}}}]
    fix = advice(asked, cluster(devices, Settings()))[1].fixes[0]
    assert fix.steps[0].startswith(f"guarding size with has() in the selector {expression[:80].rstrip()}")


@pytest.mark.parametrize("before", ["", "// five of them\n"])
def test_a_comment_is_no_part_of_the_guard(before: str) -> None:
    asked = claim({"selectors": [{"cel": {"expression": f'{before}device.attributes["d"].size == 5 // and no more'}}]})
    devices: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "attributes": {"size": {"int": 5}}}]
    fix = advice(asked, cluster(devices, Settings()))[1].fixes[0]
    assert fix.steps[0].startswith("guarding size with has() in the selector ")


def test_of_a_long_selector_the_cause_has_the_beginning() -> None:
    """The cause is in the titles of all formats, which selectors of 10 KiB have no room in."""
    long = " || ".join(['device.attributes["d"].size == 5'] * 100)
    asked = claim({"selectors": [{"cel": {"expression": long}}]})
    cause = advice(asked, cluster([{"name": "a"}], Settings()))[0].explanation.cause
    assert cause.endswith(" ...")
    assert len(cause) < 300


@pytest.mark.parametrize("of_class", [True, False])
def test_what_helps_without_a_guard_is_listed_after_it(of_class: bool) -> None:
    """That the selector goes is enough, and fewer devices while the search ends before the one at which it fails."""
    fails = 'device.attributes["d"].size == 5'
    five = {"name": "a", "attributes": {"size": {"int": 5}}}
    asked = claim({"count": 2, "selectors": [] if of_class else [{"cel": {"expression": fails}}]})
    found = advice(asked, cluster([five, {"name": "b"}], Settings(), fails if of_class else "true"))[1]
    dropping = f'dropping the selector {fails} of request "r0"' if not of_class else "changing what class any selects"
    guarded = [number for number, fix in enumerate(found.fixes) if "has(" in str(fix)]
    assert guarded == [1 if of_class else 0]  # a class is the cluster's affair
    rest = {str(fix): fix.asides for fix in found.fixes if "has(" not in str(fix)}
    assert rest.keys() == {dropping, _FEWER}
    assert rest[_FEWER] == ("while the search does not come to b",)


def test_a_gate_that_is_off_is_named() -> None:
    settings = Settings("1.36.2", {"DRAPrioritizedList": False})
    either = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "any", "count": 1}]}
    refusal, found = advice(claim(either), cluster(plain(1), settings))
    assert refusal.code == "feature-disabled"
    assert "Kubernetes 1.36.2 would allocate this with DRAPrioritizedList switched on" in found.hints
