"""
What an API server would refuse in files and objects, told at once and with its place.
"""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

import dra_alloc
from dra_alloc.api import ResourceClaim
from dra_alloc.cli.main import run
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Manner, load_readable
from dra_alloc.manifest.given import read_given
from dra_alloc.releases import NEWEST
from dra_alloc.report.validate_report import validate_report
from dra_alloc.scenario.validating import Request, found_in, validated, without_templates
from tests.paths import EXAMPLES

PLACES = [
    (14, 9, "FieldValueInvalid", "spec.devices.requests[0].exactly.count"),
    (17, 13, "FieldValueInvalid", "spec.devices.requests[0].exactly.selectors[0].cel.expression"),
    (19, 18, "FieldValueInvalid", "spec.devices.constraints[0].requests[0]"),
    (20, 7, "FieldValueInvalid", "spec.devices.constraints[0].matchAttribute"),
    (32, 9, "BadRequest", "spec.spec.devices.requests[0].deviceClassName"),
]


def claim(**exactly: Any) -> dict[str, Any]:
    request = {"name": "r", "exactly": {"deviceClassName": "c", **exactly}}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": spec}


def selecting(expression: str) -> dict[str, Any]:
    return claim(selectors=[{"cel": {"expression": expression}}])


def files(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return without_templates(validated(*load_readable([folder], manner=Manner(repeated="keep")), Settings()))


def test_all_faults_of_all_files_have_their_places(tmp_path):
    text = (EXAMPLES / "validate" / "claims.yaml").read_text(encoding="utf-8")
    found = files(tmp_path, a=text, b=f"# moved\n{text}").faults
    told = [(each.where.line, each.where.column, each.type, each.where.path) for each in found]
    assert told == [*PLACES, *((line + 1, *rest) for line, *rest in PLACES)]
    assert {each.where.file for each in found} == {str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")}


def test_places_in_json(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(claim(count=-1), indent=1), encoding="utf-8")
    (fault,) = validated(*load_readable([tmp_path]), Settings()).faults
    lines = (tmp_path / "a.json").read_text(encoding="utf-8").splitlines()
    line, column = fault.where.line or 0, fault.where.column or 0
    assert lines[line - 1][column - 1 :].startswith('"count"')


def test_what_cannot_be_decoded_is_a_fault_too():
    def said(value):
        return [(each.type, each.where.path, each.detail) for each in dra_alloc.validate(value)]

    assert said(claim(count="1")) == [
        ("BadRequest", "spec.devices.requests[0].exactly.count", 'expected a whole number, got the string "1"')
    ]
    (fault,) = said(claim(conut=1))
    assert fault[2] == 'unknown field "spec.devices.requests[0].exactly.conut"'


def test_selectors_are_compiled():
    loop = "device.attributes['a'].all(k, device.attributes['a'].all(l, device.attributes['a'].all(m, k != l)))"
    costly = " && ".join([loop] * 4)
    (broken,) = dra_alloc.validate(selecting("device.driver = 1"))
    assert (broken.type, broken.hint) == ("FieldValueInvalid", "equality is ==")
    assert broken.detail.startswith("compilation failed: ERROR: <input>:1:15: Syntax error")
    (fault,) = dra_alloc.validate(selecting(costly))
    assert (fault.type, fault.detail) == ("FieldValueForbidden", "too complex, exceeds cost limit")
    assert not dra_alloc.validate(selecting("device.driver == 'd'"))


def test_fields_of_gates_that_are_off_are_not_looked_at():
    wrong = claim(tolerations=[{"operator": "X"}])
    (fault,) = dra_alloc.validate(wrong, release="1.35", gates={"DRADeviceTaints": True})
    assert fault.type == "FieldValueNotSupported"
    assert not dra_alloc.validate(wrong, release="1.35")


def device(version: str, **fields: Any) -> dict[str, Any]:
    found = {"name": "d", "basic": fields} if version == "v1beta1" else {"name": "d", **fields}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.io", "nodeName": "n", "pool": pool, "devices": [found]}
    meta = {"name": "s"}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceSlice", "metadata": meta, "spec": spec}


def test_fields_and_versions_of_other_releases_are_unknown():
    lists = device("v1", attributes={"a": {"strings": ["x"]}})
    path = "spec.devices[0].attributes[a].strings"
    (unknown,) = dra_alloc.validate(lists, release="1.35")
    assert (unknown.type, unknown.where.path) == ("BadRequest", path)
    assert not dra_alloc.validate(lists, release="1.36", gates={"DRAListTypeAttributes": True})
    (dropped,) = dra_alloc.validate(lists, release="1.36")
    assert dropped.detail == "exactly one value must be specified"
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "r"}}
    rule = {**head, "spec": {"taint": {"key": "k", "effect": "NoExecute"}}}
    assert not dra_alloc.validate(rule, release="1.37")
    (unserved,) = dra_alloc.validate(rule, release="1.36")
    assert unserved.detail == 'release 1.36.6 has no kind "DeviceTaintRule" in version "resource.k8s.io/v1"'


def test_gates_take_fields_of_slices_and_classes():
    wrong = device("v1", taints=[{"key": "a b", "effect": "X"}])
    assert len(dra_alloc.validate(wrong)) == 2
    assert not dra_alloc.validate(wrong, gates={"DRADeviceTaints": False})
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}}
    wrong = {**head, "spec": {"extendedResourceName": "x"}}
    assert dra_alloc.validate(wrong)
    assert not dra_alloc.validate(wrong, release="1.35")


@pytest.mark.parametrize(
    ("release", "path", "words"),
    [
        ("1.36", "spec.devices[0].attributes[a]", "exactly one value must be specified"),
        (
            "1.37",
            "spec.devices[0].basic.attributes[a]",
            "must specify one of: `int`, `bool`, `string`, `version`, `ints`",
        ),
    ],
)
def test_generated_checks_tell_the_paths_of_the_version_that_was_sent(release, path, words):
    (fault,) = dra_alloc.validate(device("v1beta1", attributes={"a": {}}), release=release)
    assert fault.where.path == path
    assert fault.detail.startswith(words)


def test_what_differs_between_releases():
    def paths(value, *releases):
        return [each.where.path for release in releases for each in dra_alloc.validate(value, release=release)]

    twice = claim()
    twice["spec"]["devices"]["requests"] *= 2
    assert paths(twice, "1.34", "1.35") == ["spec.devices.requests[1].name", "spec.devices.requests[1]"]
    owned = claim()
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}]
    assert paths(owned, "1.36", "1.37") == ["metadata.ownerReferences", "metadata.ownerReferences[0]"]
    keyed = device("v1", attributes={"a-b": {"int": 1}})
    assert paths(keyed, "1.35", "1.36") == ["spec.devices[0].attributes[a-b]", "spec.devices[0].attributes"]


def test_an_empty_list_is_no_unset_mode():
    (fault,) = dra_alloc.validate(claim(allocationMode=[]))
    assert (fault.type, fault.detail) == ("BadRequest", "expected a string, got a list")


def test_metadata():
    wrong = claim()
    wrong["metadata"] |= {"finalizers": ["a", "x.io/ok"], "generation": -1, "name": "", "generateName": "A"}
    assert {each.where.path for each in dra_alloc.validate(wrong)} == {
        *("metadata.finalizers[0]", "metadata.generation", "metadata.generateName", "metadata.name")
    }


def classed(**spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}}
    return {**head, "spec": spec}


def changes(new, old, **options):
    return [(each.where.path, each.detail) for each in dra_alloc.validate(new, old=old, **options)]


def test_what_an_update_cannot_change():
    immutable = "field is immutable"
    assert not changes(claim(), claim())
    assert changes(claim(count=3), claim()) == [("spec", immutable)]
    assert changes(claim(count=-3), claim()) == [("spec", immutable)]
    moved = claim()
    moved["metadata"] |= {"name": "d", "uid": "u"}
    assert changes(moved, claim()) == [("metadata.name", immutable), ("metadata.uid", immutable)]
    one, other = device("v1"), device("v1")
    other["spec"] |= {"driver": "e.io", "nodeName": "m"}
    assert changes(other, one) == [("spec.driver", immutable), ("spec.nodeName", immutable)]
    leaving, held = claim(), claim()
    leaving["metadata"] |= {"deletionTimestamp": "2026-01-31T12:00:00Z"}
    held["metadata"] |= {**leaving["metadata"], "finalizers": ["x.io/a", "x.io/a"]}
    ((path, detail),) = changes(held, leaving)
    assert path == "metadata.finalizers"
    assert detail.endswith('found new finalizers []string{"x.io/a"}')


def test_only_events_of_the_core_group_are_no_owners():
    for version, faults in (("v1", 1), ("events.k8s.io/v1", 0)):
        owned = claim()
        owned["metadata"]["ownerReferences"] = [{"apiVersion": version, "kind": "Event", "name": "e", "uid": "u"}]
        for release in NEWEST:
            assert len(dra_alloc.validate(owned, release=release)) == faults


def test_what_stays_as_it_is_may_be_what_is_refused_now():
    broken = {"selectors": [{"cel": {"expression": "device.x"}}]}
    assert len(changes(classed(**broken), classed(), release="1.37")) == 1
    assert len(changes(classed(**broken), classed(**broken), release="1.36")) == 1
    assert not changes(classed(**broken), classed(**broken), release="1.37")
    long = {"config": [{"opaque": {"driver": "d.io", "parameters": {"a": "x" * 11_000}}}]}
    assert len(changes(classed(**long), classed())) == 1
    assert not changes(classed(**long, extendedResourceName="d.io/x"), classed(**long))
    odd = device("v1", taints=[{"key": "k", "effect": "X"}])
    assert len(changes(odd, device("v1"))) == 1
    assert not changes(odd, odd)


def test_fields_in_use_are_kept():
    wrong = [{"key": "a b", "effect": "NoExecute"}]
    fine = [{"key": "a", "effect": "NoExecute"}]
    off = {"gates": {"DRADeviceTaints": False}}
    assert not changes(device("v1", taints=wrong), device("v1"), **off)
    assert len(changes(device("v1", taints=wrong), device("v1", taints=fine), **off)) == 1


def test_a_status_is_of_a_claim_that_is_there():
    with pytest.raises(dra_alloc.InputError, match="give the old one"):
        dra_alloc.validate(claim(), subresource="status")
    with pytest.raises(dra_alloc.InputError, match=r"a DeviceClass of .* has none"):
        dra_alloc.validate(classed(), old=classed(), subresource="status")


def test_old_objects_in_files(tmp_path, capsys):
    (tmp_path / "new.yaml").write_text(json.dumps(claim(count=3)), encoding="utf-8")
    (tmp_path / "old.yaml").write_text(json.dumps(claim()), encoding="utf-8")
    assert run(["validate", str(tmp_path / "new.yaml"), "--old", str(tmp_path / "old.yaml")]) == 1
    assert "spec: Invalid value" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(dra_alloc.InputError, match="updates are known of the kinds of"):
        dra_alloc.validate(claim(), old={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}})
    kinds = [{**device("v1"), "kind": kind} for kind in ("ResourceSlice", "DeviceClass", "DeviceTaintRule")]
    for new, old in permutations([claim(), {**claim(), "kind": "ResourceClaimTemplate"}, *kinds], 2):
        for each in (new, old):
            each["spec"] = {}
        with pytest.raises(dra_alloc.InputError, match=r"old: a \w+ cannot become a"):
            dra_alloc.validate(new, old=old, release="1.37")


def test_admin_access_wants_the_label_of_a_namespace_that_is_given(tmp_path):
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    found = files(tmp_path, a="\n".join(map(json.dumps, (claim(adminAccess=True), space))))
    assert [each.type for each in found.faults] == ["FieldValueForbidden"]
    assert found.left_alone == {"v1 Namespace": 1}


def test_objects_of_the_library_and_those_without_rules():
    assert not dra_alloc.validate(ResourceClaim.model_validate(claim()))
    template = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": {"spec": {}}}
    found = validated(*read_given(template, Manner()), Settings())
    assert list(validate_report(found).whole.lines())[-1] == "nothing was looked at (Kubernetes 1.36)"
    with pytest.raises(dra_alloc.InputError, match="there are no rules for v1 PodTemplate"):
        dra_alloc.validate(template)
    with pytest.raises(dra_alloc.InputError, match="there are no rules for a list without members"):
        dra_alloc.validate({"apiVersion": "v1", "kind": "List", "items": []})
    with pytest.raises(dra_alloc.InputError, match="there are no rules for v1 Node"):
        dra_alloc.validate({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    with pytest.raises(dra_alloc.InputError, match="no feature gate"):
        dra_alloc.validate(claim(), gates={"X": True})


def test_templates_that_were_not_rendered_are_passed_over(tmp_path):
    good = json.dumps(claim())
    found = files(
        tmp_path, a="a: {{ x }}\nb: [", b=f"{good}\n\n{json.dumps(claim(deviceClassName='{{ .class }}'))}\n", c=good
    )
    assert (found.faults, found.unreadable, found.checked) == ((), (), 2)
    assert [str(each).removeprefix(str(tmp_path)) for each in found.warnings] == [
        "/a.yaml:1: it is passed over: a template that was not rendered",
        "/b.yaml:3: ResourceClaim default/c: it is passed over: a template that was not rendered",
    ]
    assert dra_alloc.validate(claim(deviceClassName="{{ .class }}"))


def test_unreadable_text_is_told_among_the_faults(tmp_path):
    found = files(tmp_path, a="kind: [a\n", b=json.dumps(claim(count=-1)), c="{apiVersion: v1, kind: ConfigMap}")
    report = validate_report(found)
    assert [each.code for each in report.findings] == ["bad-input", "FieldValueInvalid"]
    assert list(report.whole.lines())[-2:] == [
        "note: not looked at, there are no rules for it: 1 v1 ConfigMap",
        "1 fault in 1 object, 1 place cannot be read (Kubernetes 1.36)",
    ]


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (json.dumps(claim()), (), 0),
        (json.dumps(claim(count=-1)), (), 1),
        (json.dumps(claim(count=-1)), ("--exit-zero",), 0),
        ("kind: [a\n", ("--exit-zero",), 2),
        ("a: {{ x }}", (), 2),
        (json.dumps(claim()), ("--gate", "X=true"), 2),
        (json.dumps(claim(unknown=1)), ("--validate", "warn"), 0),
    ],
)
def test_exit_codes(text, options, code, tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert run(["validate", str(tmp_path), *options]) == code


def test_columns_in_formats(tmp_path, capsys):
    path = str(EXAMPLES / "validate" / "claims.yaml")
    assert run(["validate", path, "--format", "sarif", "--report", f"rdjson={tmp_path / 'r'}"]) == 1
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    regions = [each["locations"][0]["physicalLocation"]["region"] for each in results]
    assert [(each["startLine"], each["startColumn"]) for each in regions] == [place[:2] for place in PLACES]
    told = json.loads((tmp_path / "r").read_text(encoding="utf-8"))["diagnostics"]
    starts = [each["location"]["range"]["start"] for each in told]
    assert starts == [{"line": line, "column": column} for line, column, *_ in PLACES]
    assert run(["validate", path, "--format", "github"]) == 1
    assert ",line=14,col=9,title=" in capsys.readouterr().out


def test_kinds_that_no_server_has_are_refused():
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
    for version, kind, body, said in (
        ("apps/v1", "Deploymnet", spec, "did you mean Deployment?"),
        ("v1", "Deployment", spec, "its group is apps"),
        ("apps/v1beta1", "Deployment", spec, "its version is apps/v1"),
        ("apps/v1beta1", "Deployment", {}, "its version is apps/v1"),
        ("v1", "Podd", {}, "did you mean Pod?"),
    ):
        (fault,) = dra_alloc.validate({"apiVersion": version, "kind": kind, "metadata": {"name": "n"}, "spec": body})
        assert (fault.type, fault.hint) == ("BadRequest", said)
        assert fault.detail == f'no matches for kind "{kind}" in version "{version}"'
    (fault,) = dra_alloc.validate({"kind": "Pod", "metadata": {"name": "p"}, "spec": spec["template"]["spec"]})
    assert fault.detail == "apiVersion is missing or no string"


def test_versions_that_have_to_be_switched_on_are_noted(tmp_path):
    off = "resource.k8s.io/v1beta1 is off in Kubernetes 1.36 unless it is switched on (--runtime-config)"
    for version, notes in (("v1", ()), ("v1beta1", (off,))):
        found = files(tmp_path, a=json.dumps({**claim(), "apiVersion": f"resource.k8s.io/{version}", "spec": {}}))
        assert (found.faults, found.notes) == ((), notes)


def test_a_kind_that_is_missing_is_told_at_its_line(tmp_path):
    head = "apiVersion: {}\nmetadata: {{name: n}}\n---\n"
    texts = ("resource.k8s.io/v1", "v1", "resource.k8s.io/v2\nkind: ResourceClaim")
    found = files(tmp_path, a="".join(map(head.format, texts)) + "a: [")
    told = [(each.where.line, "kind is missing" in next(each.lines())) for each in validate_report(found).findings]
    assert told == [(1, True), (4, True), (7, False), (12, False)]


def test_that_not_all_changes_of_pods_and_of_what_makes_them_are_known_is_said(tmp_path):
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    (tmp_path / "old.json").write_text(json.dumps(pod), encoding="utf-8")
    request = Request(before=found_in(load_readable([tmp_path])[0], "default"))
    for name, said in (("p", 1), ("q", 0)):
        (tmp_path / "new.json").write_text(json.dumps({**pod, "metadata": {"name": name}}), encoding="utf-8")
        found = validated(*load_readable([tmp_path / "new.json"]), Settings(), request)
        assert [note.endswith("is looked at: Pod") for note in found.notes] == [True] * said
        assert validate_report(found).notes == found.notes
