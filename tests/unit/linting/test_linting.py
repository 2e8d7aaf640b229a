"""
What lint finds in files and objects, and in what form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dra_alloc
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.linting.codes import RULES
from dra_alloc.linting.pages import page_of
from dra_alloc.linting.running import LintAsked, Linted, linted
from dra_alloc.manifest import Documents, Manner, load, load_readable
from dra_alloc.manifest.given import read_given
from dra_alloc.scenario.validating import validated
from tests.paths import EXAMPLES


def wrong(code: str) -> str:
    """The example of a code that is wrong."""
    page = page_of(code)
    assert page is not None
    return page.bad


CLAIM = wrong("S121")


def found_in(folder: Path, text: str, cluster: Documents | None = None, name: str = "a.yaml") -> Linted:
    (folder / name).write_text(text, encoding="utf-8")
    manner = Manner("strict", "keep", LintAsked().settings.profile().release)
    return linted(load_readable([folder], manner=manner), LintAsked(cluster=cluster))


def codes(found: Linted) -> list[str]:
    return [each.code for each in found.findings]


def slices(tmp_path: Path, attributes: str, name: str = "gpu.example.com") -> Documents:
    """A cluster of one device and its class."""
    text = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: one}}
spec:
  driver: {name}
  nodeName: node
  pool: {{name: node, generation: 1, resourceSliceCount: 1}}
  devices:
  - name: gpu
    attributes: {attributes}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: gpu.example.com}}
spec:
  selectors:
  - cel: {{expression: device.driver == "gpu.example.com"}}
"""
    path = tmp_path.parent / f"{tmp_path.name}-cluster.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def selecting(expression: str) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.example.com", "selectors": [{"cel": {"expression": expression}}]}
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "one"}, "spec": spec}


def test_every_fault_of_validation_is_a_finding():
    manner = Manner("strict", "keep", LintAsked().settings.profile().release)
    read = load_readable([EXAMPLES / "validate"], manner=manner)
    told = [(each.where.line, each.where.path, each.message) for each in linted(read).findings]
    faults = validated(*read, LintAsked().settings).faults
    assert faults
    assert told == [(each.where.line, each.where.path, each.message) for each in faults]


def test_without_a_cluster_nothing_is_said_of_what_is_published(tmp_path):
    misspelt = 'device.attributes["gpu.exmaple.com"].model == "a"'
    assert dra_alloc.lint(selecting(misspelt)) == ()
    assert "--cluster" in found_in(tmp_path, wrong("E203")).notes[-1]
    (finding,) = dra_alloc.lint(selecting(misspelt), cluster=slices(tmp_path, "{model: {string: a}}"))
    assert (finding.code, finding.hint) == ("E204", "did you mean gpu.example.com?")


def test_a_device_that_cannot_be_read_is_no_candidate(tmp_path):
    expression = 'device.attributes["gpu.example.com"].model == "a"'
    unreadable = slices(tmp_path, "{model: {string: a}, links: {strings: [a, b]}}")
    assert dra_alloc.lint(selecting(expression), cluster=unreadable) == ()


def test_more_is_found_in_what_cannot_be_decoded(tmp_path):
    text = wrong("E208").replace("      exactly:\n", "").replace("        ", "      ")
    assert codes(found_in(tmp_path, text)) == ["S101", "S101", "E208"]
    rule = wrong("T601").replace("v1beta2", "v1beta1")
    assert codes(found_in(tmp_path, rule)) == ["R701", "T601"]


def test_fingerprints_stay_when_lines_move(tmp_path):
    two = f"{CLAIM}---\n{CLAIM.replace('one', 'two')}"
    before, after = found_in(tmp_path, two), found_in(tmp_path, f"# moved\n\n---\n{two}")
    assert [each.fingerprint for each in before.findings] == [each.fingerprint for each in after.findings]
    assert [each.where.line for each in before.findings] != [each.where.line for each in after.findings]
    assert len({each.fingerprint for each in before.findings}) == len(before.findings) == 2


def test_what_looks_alike_is_numbered(tmp_path):
    found = found_in(tmp_path, f"{CLAIM}---\n{CLAIM}")
    assert len({each.fingerprint for each in found.findings}) == len(found.findings) == 2


def test_templates_that_were_not_rendered_are_passed_over(tmp_path):
    found = found_in(tmp_path, CLAIM.replace("-1", "{{ .Values.count }}"))
    assert (found.findings, found.unreadable, len(found.warnings), found.checked) == ((), (), 1, 0)
    made = CLAIM.replace("-1", "1").replace("one", '"{{ .Values.name }}"')
    found = found_in(tmp_path, f"{made}---\n{CLAIM}")
    assert (codes(found), len(found.warnings), found.checked) == (["S121"], 1, 1)


def test_text_that_cannot_be_read_is_no_finding(tmp_path):
    found = found_in(tmp_path, f"{CLAIM}---\n[")
    assert codes(found) == ["S121"]
    assert len(found.unreadable) == 1


def test_codes_are_selected_by_their_beginnings():
    broken = selecting("device.driver ==")
    assert [each.code for each in dra_alloc.lint(broken)] == ["E201"]
    assert dra_alloc.lint(broken, ignore=["E2"]) == ()
    assert dra_alloc.lint(broken, select=["S"]) == ()
    assert [each.code for each in dra_alloc.lint(broken, select=["S"], extend_select=["E201"])] == ["E201"]
    with pytest.raises(InputError, match="no code begins with 'E299'"):
        dra_alloc.lint(broken, select=["E299"])


def test_what_is_off_by_default_is_asked_for():
    off = [rule.code for rule in RULES if not rule.by_default]
    reading = selecting('device.attributes["gpu.example.com"].model == "a"')
    assert off == ["E210"]
    assert dra_alloc.lint(reading) == ()
    assert [each.code for each in dra_alloc.lint(reading, extend_select=off)] == off


def test_gates_and_releases_are_asked_about():
    claim = selecting("true")
    claim["spec"]["devices"]["constraints"] = [{"distinctAttribute": "gpu.example.com/serial"}]
    assert dra_alloc.lint(claim) == ()
    dropped = dra_alloc.lint(claim, gates={"DRAConsumableCapacity": False})
    assert [(each.code, each.where.path) for each in dropped if each.code == "R703"] == [
        ("R703", "spec.devices.constraints[0].distinctAttribute")
    ]
    older = {"apiVersion": "resource.k8s.io/v1beta1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}}
    assert [each.code for each in dra_alloc.lint(older)] == ["R704"]
    (gone,) = dra_alloc.lint(older, release="1.38")
    assert (gone.code, gone.hint) == ("R702", "it has v1, v1beta2: dra-alloc convert --to v1 rewrites it")
    assert "switched on" not in str(validated(*read_given(older, Manner()), Settings("1.38")).notes)


def test_kinds_that_no_server_has_are_told_where_they_stand(tmp_path):
    found = found_in(tmp_path, CLAIM.replace("resource.k8s.io/v1", "v1"))
    assert [(each.code, each.where.line, each.where.column) for each in found.findings] == [("R701", 2, 1)]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], [[1]], {"a": [1]}])
def test_whatever_stands_where_codes_look_is_no_bug(tmp_path, value):
    selector = {"matchLabels": {"app": value}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [value, term]}}
    claims = [value, {"name": value}, {"name": "gpu", "resourceClaimName": "one"}]
    container = {"name": "c", "image": "i", "resources": {"claims": [value, {"name": value, "request": value}]}}
    spec = {"containers": [value, container], "resourceClaims": claims, "affinity": affinity}
    template = {"metadata": {"labels": {"app": value}, "annotations": value}, "spec": spec}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}}
    job["spec"] = {"parallelism": 2, "template": template}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}, "spec": {"hard": value}}
    text = "\n".join(map(json.dumps, (job, quota)))
    assert found_in(tmp_path, text, name="a.json").checked == 2


def test_slices_of_dumps_are_looked_at(tmp_path):
    text = '{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"one"},"spec":{"driver":'
    text += (
        '"d.example.com","nodeName":"n","pool":{"name":"n","generation":1,"resourceSliceCount":1},"devices":[{"name":'
    )
    text += '"g","nodeAllocatableResourceMappings":{"cpu":{"capacityKey":"cpus"}},"capacity":{"cpus":{"value":"8"}}}]}}'
    found = found_in(tmp_path, text, name="a.json")
    assert [(each.code, each.where.line, each.where.path) for each in found.findings] == [
        ("R703", 1, "spec.devices[0].nodeAllocatableResourceMappings")
    ]
    assert found.checked == 1


BROKEN = '{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":%s,"spec":{"devices":{"requests":[%s]}}}'
LIST = '{"apiVersion":"v1","kind":"List","items":[%s]}\n'


def test_an_annotation_is_about_its_own_object_among_those_of_one_name_and_line(tmp_path):
    ignored = '{"name":"c","namespace":"b","annotations":{"dra-alloc/ignore":"S101 wanted"}}'
    wrong_request = '{"name":"r","deviceClassName":"x"}'
    made = ",".join(BROKEN % (each, wrong_request) for each in ('{"name":"c","namespace":"a"}', ignored))
    found = found_in(tmp_path, LIST % made, name="a.json")
    assert [(each.code, each.where.object) for each in found.findings if each.code == "S101"] == [
        ("S101", "ResourceClaim a/c")
    ]


def test_a_template_hides_nothing_of_other_objects_in_its_line(tmp_path):
    template = BROKEN % ('{"name":"{{ x }}"}', '{"name":"r","exactly":{"deviceClassName":"x"}}')
    old = (BROKEN % ('{"name":"c"}', '{"name":"r","exactly":{"deviceClassName":"x"}}')).replace("io/v1", "io/v1beta2")
    found = found_in(tmp_path, LIST % f"{template},{old}", name="a.json")
    assert (len(found.warnings), codes(found)) == (1, ["R704"])


def test_several_findings_of_a_code_at_one_place_are_all_told(tmp_path):
    expression = 'device.attributes["gpu.example.com"].a == "a" && device.attributes["gpu.example.com"].b == "b"'
    found = dra_alloc.lint(selecting(expression), cluster=slices(tmp_path, "{model: {string: a}}"))
    assert [each.message.split()[3] for each in found if each.code == "E205"] == ["a", "b"]


def test_a_cluster_without_devices_is_noted(tmp_path):
    assert "publishes no device" in found_in(tmp_path, wrong("E203"), Documents()).notes[-1]


@pytest.mark.parametrize(
    ("kind", "version", "release", "hint"),
    [
        ("DeviceTaintRule", "v1beta2", "1.36", ""),
        ("DeviceTaintRule", "v1beta2", "1.37", "dra-alloc convert --to v1 rewrites it"),
        ("ResourceClaim", "v1beta1", "1.34", "dra-alloc convert --to v1 rewrites it"),
        ("ResourcePoolStatusRequest", "v1alpha3", "1.36", ""),
    ],
)
def test_every_version_that_is_off_is_told(kind, version, release, hint):
    value = {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": "one"}, "spec": {}}
    found = dra_alloc.lint(value, release=release, select=["R704"])
    assert [(each.code, each.hint) for each in found] == [("R704", hint)]


@pytest.mark.parametrize("name", ["version", "string", "int", "bool"])
def test_attributes_may_be_called_like_types(tmp_path, name):
    expression = f'device.attributes["gpu.example.com"].{name} == "a"'
    both = f"{{{name}: {{string: a}}}}\n  - name: other\n    attributes: {{}}"
    assert [each.code for each in dra_alloc.lint(selecting(expression), cluster=slices(tmp_path, both))] == ["E206"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"parallelism": 300, "completions": 300}, ["W806"]),
        ({"parallelism": 300, "completions": 10}, []),
        ({"parallelism": 300, "completions": None}, ["W806"]),
        ({"parallelism": 10**4000}, []),  # is refused for that
        ({"parallelism": 300, "suspend": True}, []),
    ],
)
def test_no_more_pods_of_a_job_are_counted_than_run_at_a_time(spec, told):
    pod = {"containers": [], "resourceClaims": [{"name": "a", "resourceClaimName": "a"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}}
    found = dra_alloc.lint({**job, "spec": {**spec, "template": {"spec": pod}}}, select=["W806"])
    assert [each.code for each in found] == told


@pytest.mark.parametrize(("asked", "told"), [("team", []), ("default", ["W806"])])
def test_pods_of_who_names_no_namespace_are_counted_in_that_which_is_asked(asked, told):
    """The Job of a JobSet is half done in a namespace that the JobSet leaves to the command."""
    pod = {"containers": [], "resourceClaims": [{"name": "a", "resourceClaimName": "a"}]}
    spec = {"parallelism": 300, "completions": 300, "template": {"spec": pod}}
    api = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "one"}}
    jobs = {**api, "spec": {"replicatedJobs": [{"name": "of", "template": {"spec": spec}}]}}
    done = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one-of-0", "namespace": "team"}}
    done |= {"spec": {"template": {"spec": {"containers": []}}}, "status": {"completedIndexes": "0-99"}}
    both = {"apiVersion": "v1", "kind": "List", "items": [jobs, done]}
    assert [each.code for each in dra_alloc.lint(both, select=["W806"], namespace=asked)] == told


def test_leaders_are_one_a_group_and_workers_the_rest():
    pod = {"spec": {"containers": [], "resourceClaims": [{"name": "a", "resourceClaimName": "a"}]}}
    groups = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "one"}}
    template = {"size": 3, "leaderTemplate": pod, "workerTemplate": pod}
    found = dra_alloc.lint({**groups, "spec": {"replicas": 129, "leaderWorkerTemplate": template}}, select=["W806"])
    assert [each.message.partition(" ")[0] for each in found] == ["258"]


def test_pods_of_a_daemon_set_are_one_a_node():
    pod = {"spec": {"containers": [], "resourceClaims": [{"name": "a", "resourceClaimName": "a"}]}}
    everywhere = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "one"}, "spec": {"template": pod}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    nodes = [{**node, "metadata": {"name": f"n{number}"}} for number in range(300)]
    assert dra_alloc.lint(everywhere, select=["W806"], cluster=nodes[:1]) == ()
    (found,) = dra_alloc.lint(everywhere, select=["W806"], cluster=nodes)
    assert found.message.startswith("300 pods")


def test_a_read_behind_a_look_at_the_driver_needs_a_guard_too():
    read = 'device.attributes["d.example.com"].a'
    guarded = '"a" in device.attributes["d.example.com"]'
    for expression, told in ((read, ["E210"]), (f"{guarded} && {read}", [])):
        obj = selecting(f'device.driver == "d.example.com" && {expression} == "x"')
        assert [each.code for each in dra_alloc.lint(obj, select=["E210"])] == told
