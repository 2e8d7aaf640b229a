"""
Objects in another version of resource.k8s.io.
"""

from __future__ import annotations

from random import Random

import pytest

from dra_alloc import InputError, ManifestError, convert
from dra_alloc.api import ResourceClaim
from dra_alloc.manifest.kinds import KINDS, SERVED
from fuzz.targets.conversion import drawn
from tests.paths import ROOT

GROUP = "resource.k8s.io"


def claim(version, *requests):
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": list(requests)}},
    }


def sliced(version, **spec):
    return {"apiVersion": f"{GROUP}/{version}", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}


FLAT = {"name": "a", "deviceClassName": "gpu", "count": 2}
NESTED = {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}}


@pytest.mark.parametrize("old", ["v1beta1", "v1alpha3"])
@pytest.mark.parametrize("new", ["v1", "v1beta2"])
def test_each_version_is_written_as_itself(old, new):
    assert convert(claim(old, FLAT), new) == claim(new, NESTED)
    assert convert(claim(new, NESTED), old) == claim(old, FLAT)
    assert convert(sliced(new, devices=[{"name": "a"}]), old) == sliced(old, devices=[{"name": "a", "basic": {}}])
    assert convert(sliced(old, devices=[{"name": "a", "basic": {}}]), new) == sliced(new, devices=[{"name": "a"}])


def test_capacities_are_bare_in_the_oldest():
    old = sliced("v1alpha3", devices=[{"name": "a", "basic": {"capacity": {"m": "5Gi", "n": 7}}}])
    new = sliced("v1", devices=[{"name": "a", "capacity": {"m": {"value": "5Gi"}, "n": {"value": 7}}}])
    assert convert(old, f"{GROUP}/v1") == new
    assert convert(new, "v1alpha3") == old


def test_there_and_back():
    random = Random(1)
    converted = 0
    for _ in range(400):
        kind = random.choice([kind for kind in SERVED if kind in KINDS])
        written, to = random.sample(list(SERVED[kind]), 2)
        try:
            there = convert(drawn(random, kind, written), to)
        except ManifestError:
            continue
        converted += 1
        # The second time nothing is left that one of the versions takes for unset.
        assert convert(convert(there, written), to) == there
    assert converted > 200


@pytest.mark.parametrize(
    ("item", "to", "path", "said"),
    [
        (claim("v1", {"name": "a", "exactly": {}}), "v1beta1", "spec.devices.requests[0].exactly", "an object"),
        (
            claim("v1", {"name": "a", "exactly": {"deviceClassName": ""}}),
            "v1beta1",
            "spec.devices.requests[0].exactly",
            "an object would be taken as null",
        ),
        (sliced("v1", nodeName=""), "v1beta1", "spec.nodeName", 'the string "" would be taken as null'),
        (sliced("v1beta2", allNodes=False), "v1alpha3", "spec.allNodes", "the boolean false would be taken as null"),
        (
            {"apiVersion": f"{GROUP}/v1", "kind": "DeviceTaintRule", "metadata": {"name": "r"}},
            "v1beta1",
            "apiVersion",
            f'no matches for kind "DeviceTaintRule" in version "{GROUP}/v1beta1"',
        ),
        (
            {"apiVersion": f"{GROUP}/v1alpha3", "kind": "ResourcePoolStatusRequest", "metadata": {"name": "r"}},
            "v1",
            "apiVersion",
            "(versions: v1alpha3)",
        ),
    ],
)
def test_what_a_version_cannot_say(item, to, path, said):
    with pytest.raises(ManifestError) as refused:
        convert(item, to)
    (problem,) = refused.value.problems
    assert problem.where.path == path
    assert to in str(problem)
    assert said in str(problem)


def test_the_oldest_version_has_the_fields_of_its_time():
    policy = {"value": "5Gi", "requestPolicy": {"default": "1Gi"}}
    device = {"name": "a", "capacity": {"m": policy}, "allowMultipleAllocations": True}
    item = sliced("v1beta1", devices=[{"name": "a", "basic": {**device, "name": "a"}}])
    del item["spec"]["devices"][0]["basic"]["name"]
    with pytest.raises(ManifestError) as refused:
        convert(item, "v1alpha3")
    assert sorted(problem.where.path for problem in refused.value.problems) == [
        "spec.devices[0].basic.allowMultipleAllocations",
        "spec.devices[0].basic.capacity[m].requestPolicy",
    ]
    assert all("resource.k8s.io/v1alpha3 has no such field" in str(each) for each in refused.value.problems)


def test_lists():
    members = [claim("v1beta1", FLAT), {"apiVersion": "v1", "kind": "Pod"}, claim("v1", NESTED)]
    made = convert({"apiVersion": "v1", "kind": "List", "items": members}, "v1beta2")
    assert made == {
        "apiVersion": "v1",
        "kind": "List",
        "items": [claim("v1beta2", NESTED), members[1], claim("v1beta2", NESTED)],
    }
    bare = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [FLAT]}}}
    typed = {"apiVersion": f"{GROUP}/v1beta1", "kind": "ResourceClaimList", "items": [bare]}
    assert convert(typed, "v1") == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceClaimList",
        "items": [{**bare, "spec": {"devices": {"requests": [NESTED]}}}],
    }


def test_a_member_of_a_list_is_named_by_its_place():
    with pytest.raises(ManifestError) as refused:
        convert({"apiVersion": "v1", "kind": "List", "items": [claim("v1", FLAT)]}, "v1beta1")
    assert {each.where.path for each in refused.value.problems} == {
        f"items[0].spec.devices.requests[0].{name}" for name in ("deviceClassName", "count")
    }


def test_models_and_other_objects():
    model = ResourceClaim.from_wire(claim("v1", NESTED))
    assert convert(model, "v1beta1")["spec"] == {"devices": {"requests": [FLAT]}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"priority": 1.5}}
    assert convert(pod, "v1") == pod


def test_versions_that_never_were():
    with pytest.raises(InputError, match="versions: v1, v1beta2, v1beta1, v1alpha3"):
        convert(claim("v1", NESTED), "v2")


def test_the_page_has_what_each_release_serves():
    page = (ROOT / "docs" / "reference" / "versions.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "| from 1" in line]
    shown = {kind: row[1:] for row in rows for kind in row[0].split(", ")}
    versions = ("v1alpha3", "v1beta1", "v1beta2", "v1")
    gone = {"PodSchedulingContext"}
    assert shown == {
        kind: [_span(spans.get(each)) for each in versions] for kind, spans in SERVED.items() if kind not in gone
    }


def _span(span):
    if span is None:
        return "never"
    major, _, minor = span.end.partition(".")
    return f"{span.start} to {major}.{int(minor) - 1}" if span.end else f"from {span.start}"
