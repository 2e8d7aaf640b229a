"""
Pools of slices: in several files, and before and after a change.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Documents, Manner, load_readable

SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {name}}}
spec:
  driver: gpu.example.com
  nodeName: node
  pool: {{name: node, generation: {generation}, resourceSliceCount: {count}}}
  {body}
"""


def slice_of(name: str, body: str, count: int = 1, generation: int = 1) -> str:
    return SLICE.format(name=name, body=body, count=count, generation=generation)


def told(folder: Path, **files: str) -> list[tuple[str, str]]:
    """Codes with the names of their files."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    manner = Manner("strict", "keep", LintAsked().settings.profile().release)
    found = linted(load_readable([folder], manner=manner), LintAsked())
    return [(each.code, Path(each.where.file).stem) for each in found.findings]


TAKING = "devices: [{name: a, consumesCounters: [{counterSet: one, counters: {memory: {value: 1Gi}}}]}]"
COUNTERS = "sharedCounters: [{name: %s, counters: {memory: {value: 1Gi}}}]"


def test_a_pool_may_stand_in_several_files(tmp_path):
    there = slice_of("counters", COUNTERS % "one", count=2)
    assert told(tmp_path, a=slice_of("devices", TAKING, count=2), b=there) == []
    other = slice_of("counters", COUNTERS % "other", count=2)
    assert told(tmp_path, b=other) == [("P503", "a"), ("P504", "b")]


@pytest.mark.parametrize(
    "other",
    [
        slice_of("other", "devices: [{name: a}]"),  # is complete by itself
        slice_of("other", "devices: [{name: a}]", count=3),
        slice_of("other", "devices: [{name: a}]", count=2, generation=2),
        slice_of("one", "devices: [{name: a}]", count=2),
    ],
)
def test_files_that_do_not_fill_each_other_up_are_other_pools(tmp_path, other):
    assert told(tmp_path, a=slice_of("one", "devices: [{name: a}]", count=2), b=other) == []


def test_files_of_one_pool_have_a_device_once(tmp_path):
    one, two = (slice_of(name, "devices: [{name: a}]", count=2) for name in ("one", "two"))
    assert told(tmp_path, a=one, b=two) == [("P502", "b")]


@pytest.mark.parametrize(
    ("value", "policy", "codes"),
    [
        ("10Gi", "{default: 3Gi, validRange: {min: 1Gi, step: 1Gi}}", []),
        ("10Gi", "{default: 3Gi, validRange: {min: 1Gi}}", []),
        ("10Gi", "{default: 12Gi, validRange: {min: 1Gi}}", ["P508"]),
        ("10Gi", "{default: 11Gi}", ["P508"]),
        ("10", "{default: 4, validRange: {min: 1, step: 3}}", []),
    ],
)
def test_what_a_policy_makes_of_amounts_is_there(tmp_path, value, policy, codes):
    capacity = f"{{m: {{value: {value}, requestPolicy: {policy}}}}}"
    body = f"devices: [{{name: a, allowMultipleAllocations: true, capacity: {capacity}}}]"
    assert [code for code, _ in told(tmp_path, a=slice_of("one", body))] == codes


HELD = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: train}}
spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.example.com}}}}]}}}}
status: {{allocation: {{devices: {{results: [{{request: gpu, driver: gpu.example.com, pool: {pool}, device: a}}]}}}}}}
"""


def compared(before: str, now: str) -> list[tuple[str, str, str]]:
    """Codes of slices after others, with their severity and what they say first."""
    asked = LintAsked(previous=load_readable(["-"], stdin=BytesIO(before.encode()))[0])
    found = linted(load_readable(["-"], stdin=BytesIO(now.encode())), asked)
    return [(each.code, each.severity, each.message.partition(",")[0]) for each in found.findings]


def test_devices_that_claims_have_stay_published():
    before = slice_of("one", "devices: [{name: a}, {name: b}]")
    now = slice_of("one", "devices: [{name: b}]", generation=2)
    assert compared(before, now) == []
    assert compared(before + HELD.format(pool="node"), now) == [("P509", "error", "device a is gone")]
    assert compared(before + HELD.format(pool="node"), now.replace("Count: 1", "Count: 2")) == []
    elsewhere = before.replace("name: node,", "name: other,") + HELD.format(pool="other")
    assert compared(elsewhere, now) == [("P509", "error", "pool other is gone")]
    assert compared(elsewhere, now.replace("driver: gpu", "driver: nic")) == []
    assert compared(elsewhere, now.replace("nodeName: node", "nodeName: beside")) == []
    admin = HELD.replace("device: a", "device: a, adminAccess: true")
    assert admin != HELD
    assert compared(before + admin.format(pool="node"), now) == []


def test_devices_stay_shared_or_exclusive():
    before = slice_of("one", "devices: [{name: a}]")
    now = slice_of("one", "devices: [{name: a, allowMultipleAllocations: true}]", generation=2)
    told = "device a is shared now"
    assert compared(before, now) == [("P510", "warning", told)]
    assert [each[1] for each in compared(before + HELD.format(pool="node"), now)] == ["error"]
    assert [each[2] for each in compared(now.replace("n: 2", "n: 1"), before.replace("n: 1", "n: 2"))] == [
        "device a is exclusive now"
    ]


def test_what_changes_has_a_higher_generation():
    one, two = slice_of("one", "devices: [{name: a}]"), slice_of("two", "devices: [{name: a}, {name: b}]")
    assert compared(one, one) == []
    tainted = one.replace("{name: a", "{name: a, taints: [{key: k, effect: NoSchedule}]")
    stored = tainted.replace("NoSchedule}", "NoSchedule, timeAdded: '2026-01-01T00:00:00Z'}")
    assert compared(stored, tainted) == []
    assert [each[0] for each in compared(one, tainted)] == ["P511"]
    assert compared(one, two) == [("P511", "warning", "b changed")]
    assert compared(one, slice_of("two", "devices: [{name: a}, {name: b}]", generation=2)) == []
    assert compared(slice_of("one", "devices: [{name: a}]", generation=3), one) == [
        ("P511", "warning", "generation 1 comes after 3")
    ]


def test_pools_of_one_name_are_not_compared(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(slice_of(name, f"devices: [{{name: {name}}}]"), encoding="utf-8")
    read = load_readable([tmp_path])
    assert linted(read, LintAsked(previous=read[0])).findings == ()


def test_without_slices_before_nothing_is_compared():
    asked = LintAsked(previous=Documents())
    found = linted(load_readable(["-"], stdin=BytesIO(slice_of("one", "devices: [{name: a}]").encode())), asked)
    assert found.notes == ("there are no slices in what was there before: nothing is compared",)
