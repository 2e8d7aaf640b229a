"""
Loading as a whole: what is found, what is complained about, and where.
"""

from __future__ import annotations

import gc
import gzip
import io
import json
from typing import Any

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import ReadBudget, load

CLAIM = """\
apiVersion: resource.k8s.io/{version}
kind: ResourceClaim
metadata: {{name: c, namespace: ns}}
spec:
  devices:
    requests:
    - name: gpu
{request}
"""
SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "d.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "a", "attributes": {"x": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}}],
    },
}


def read(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return load(["-"], stdin=io.BytesIO(data), **options)


def problems(text, **options):
    with pytest.raises(ManifestError) as caught:
        read(text, **options)
    return caught.value.problems


def told(text, **options):
    return [(problem.where.line, problem.where.path, problem.message) for problem in problems(text, **options)]


def test_one_claim_in_every_version():
    nested = "      exactly: {deviceClassName: c, count: 2, tolerations: [{key: k, operator: Exists}]}"
    flat = "      deviceClassName: c\n      count: 2\n      tolerations: [{key: k, operator: Exists}]"
    given = {"v1": nested, "v1beta2": nested, "v1beta1": flat, "v1alpha3": flat}
    claims = [read(CLAIM.format(version=version, request=text)).claims[0] for version, text in given.items()]
    assert len(set(claims)) == 1
    assert claims[0].spec.devices.requests[0].exactly.allocation_mode == "ExactCount"


def test_lists_typed_lists_and_lists_in_lists():
    member = {key: value for key, value in SLICE.items() if key not in ("apiVersion", "kind")}
    typed = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSliceList", "items": [member]}
    untyped = {"apiVersion": "v1", "kind": "List", "items": [SLICE]}
    nested = {"apiVersion": "v1", "kind": "List", "items": [untyped]}
    inside = {"apiVersion": "v1", "kind": "List", "items": [typed]}
    loaded = [read(json.dumps(value)).slices for value in (SLICE, typed, untyped, nested, inside)]
    assert all(slices == loaded[0] for slices in loaded)
    # JSON is YAML; the blank in front keeps it from being taken for JSON.
    assert all(
        read("# yaml\n" + json.dumps(value)).slices == loaded[0] for value in (SLICE, typed, untyped, nested, inside)
    )


def test_slices_of_old_versions():
    device: Any = {"name": "a", "basic": {"attributes": {"x": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}}}
    spec = {**SLICE["spec"], "allNodes": False, "devices": [device]}
    assert (
        read(json.dumps({**SLICE, "apiVersion": "resource.k8s.io/v1beta1", "spec": spec})).slices
        == read(json.dumps(SLICE)).slices
    )
    device["basic"]["capacity"] = {"m": "1Gi"}
    assert (
        read(json.dumps({**SLICE, "apiVersion": "resource.k8s.io/v1alpha3", "spec": spec})).slices
        == read(json.dumps(SLICE)).slices
    )


def test_null_and_empty_text_are_nothing():
    spec = {**SLICE["spec"], "sharedCounters": None, "nodeSelector": None}
    metadata = {**SLICE["metadata"], "generateName": ""}
    assert read(json.dumps({**SLICE, "metadata": metadata, "spec": spec})).slices == read(json.dumps(SLICE)).slices


def test_quantities_are_read_from_their_text():
    def capacity(text):
        spec = json.dumps(
            {**SLICE, "spec": {**SLICE["spec"], "devices": [{"name": "a", "capacity": {"m": {"value": "@"}}}]}}
        )
        return str(read(spec.replace('"@"', text)).slices[0].spec.devices[0].capacity["m"].value)

    assert [capacity(text) for text in ("5", "1.5", "1e3", '"1e3"', "1000", "null")] == [
        "5",
        "1500m",
        "1e3",
        "1e3",
        "1k",
        "0",
    ]
    head = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n"
    yaml = head + "spec: {{devices: [{{name: a, capacity: {{m: {{value: {}}}}}}}]}}"
    values = [
        read(yaml.format(text)).slices[0].spec.devices[0].capacity["m"].value
        for text in ("1e3", "8.0", "0x10", "'1e3'")
    ]
    assert [str(value) for value in values] == ["1k", "8", "16", "1e3"]


def test_workloads_keep_their_pods():
    spec = "{resourceClaims: [{name: x, resourceClaimName: z}], containers: [{name: c}]}"
    pod = f"{{metadata: {{labels: {{a: b}}}}, spec: {spec}}}"
    cron = f"{{jobTemplate: {{spec: {{parallelism: 2, template: {pod}}}}}}}"
    documents = read(
        "\n---\n".join(
            [
                (
                    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns}\n"
                    f"spec: {{replicas: 3, template: {pod}}}"
                ),
                f"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: ds}}\nspec: {{template: {pod}}}",
                f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{template: {pod}}}",
                f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: cj}}\nspec: {cron}",
                f"apiVersion: a.b/v2\nkind: Mine\nmetadata: {{name: m}}\nspec: {{parts: [{pod}]}}",
            ]
        )
    )
    assert [(one.kind, one.name, one.namespace) for one in documents.workloads] == [
        ("Deployment", "d", "ns"),
        ("DaemonSet", "ds", ""),
        ("Job", "j", ""),
        ("CronJob", "cj", ""),
        ("Mine", "m", ""),
    ]
    pods = {template.path: template.pod for one in documents.workloads for template in one.templates}
    assert set(pods) == {"spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec.parts[0].spec"}
    assert {pod.spec.resource_claims[0].resource_claim_name for pod in pods.values() if pod is not None} == {"z"}
    assert documents.workloads[0].templates[0].pod.metadata.namespace == "ns"
    assert documents.workloads[0].body["spec"]["replicas"] == 3


def test_problems_in_pod_templates_have_their_path():
    head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
    text = head + "spec:\n  template:\n    spec:\n      resourceClaims: x\n"
    assert told(text) == [(7, "spec.template.spec.resourceClaims", 'expected a list, got the string "x"')]


def test_other_kinds_are_counted():
    documents = read(
        "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: ConfigMap\n---\napiVersion: x/v1\nkind: Foo\n"
    )
    assert documents.unknown == {"v1 ConfigMap": 2, "x/v1 Foo": 1}


@pytest.mark.parametrize(
    ("api_version", "kind", "hint"),
    [
        ("resource.k8s.io/v1beta1", "DeviceTaintRule", "versions: v1, v1beta2, v1alpha3"),
        ("resource.k8s.io/v1alpha2", "ResourceClass", "classic DRA ended"),
        ("resource.k8s.io/v1alpha2", "ResourceClaim", "classic DRA ended"),
        ("resource.k8s.io/v1", "ResourceClaims", "kinds: ResourceSlice"),
        ("resource.k8s.io/v2", "ResourceClaim", "versions: v1, v1beta2, v1beta1, v1alpha3"),
        ("scheduling.k8s.io/v1", "PodGroup", "versions: v1beta1, v1alpha3, v1alpha2"),
    ],
)
def test_what_our_group_does_not_have_is_a_problem(api_version, kind, hint):
    (problem,) = problems(f"apiVersion: {api_version}\nkind: {kind}\n")
    assert problem.message == f'no matches for kind "{kind}" in version "{api_version}"'
    assert problem.hint.startswith(hint)


def test_every_problem_of_every_document_at_once():
    text = (
        CLAIM.format(version="v1", request="      count: 2\n      deviceClassName: c")
        + "---\n"
        + CLAIM.format(version="v1beta1", request="      exactly: {count: '2'}").replace("name: gpu", "name: y")
        + "---\napiVersion: v1\nkind: Pod\nmetadata: 5\n---\n- 1\n---\nkind: ResourceClaim\n---\na: [1"
    )
    found = told(text)
    assert found == [
        (8, "spec.devices.requests[0].count", 'unknown field "spec.devices.requests[0].count"'),
        (9, "spec.devices.requests[0].deviceClassName", 'unknown field "spec.devices.requests[0].deviceClassName"'),
        (17, "spec.devices.requests[0].name", "expected a string, got the boolean true"),
        (18, "spec.devices.requests[0].exactly", 'unknown field "spec.devices.requests[0].exactly"'),
        (22, "metadata", "expected an object (ObjectMeta), got the number 5"),
        (24, "", "expected an object with apiVersion and kind, got a list"),
        (26, "apiVersion", "apiVersion is missing or no string"),
        (29, "", "cannot be read as YAML: while parsing a flow sequence: did not find expected ',' or ']'"),
    ]


def test_json_problems_have_lines_too():
    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [SLICE, {**SLICE, "spec": {"devices": [{"nam": 1}]}}]}, indent=1
    )
    (problem,) = problems(text)
    assert (problem.where.object, problem.where.path) == ("ResourceSlice s", "spec.devices[0].nam")
    assert text.splitlines()[problem.where.line - 1].strip() == '"nam": 1'
    assert problem.hint == 'did you mean "name"?'


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("devices: {requests: [{name: a, count: 1}]}", 'move it below "exactly"'),
        ("deviceRequests: []", "requests stand in spec.devices.requests[]"),
        ("devices: {requests: [{name: a, exactly: {selectors: [{expression: x}]}}]}", 'indent it below "cel"'),
        ("devices: {requests: [{name: a, exactly: {selectors: [x]}}]}", "cel: {expression: ...}"),
        ("devices: {requests: [{name: a, exactly: {selectors: [{cel: x}]}}]}", "expression: ..."),
        (
            "devices: {requests: [{name: a, firstAvailable: [{adminAccess: true}]}]}",
            "an alternative cannot ask for admin access",
        ),
        ("devices: {requests: [{name: y}]}", "put it in quotes"),
        ("devices: {requests: [{name: 5}]}", "put it in quotes"),
        ("devices: {requests: [{name: a, exactly: {count: '2'}}]}", "without quotes"),
        ("devices: {requests: {name: a}}", "begin each member with a dash"),
        ("devices: {constraints: [{operator: Equal}]}", "a constraint has no operator"),
        ("devices: {config: {opaque: {}}}", "begin each member with a dash"),
        ("devices: {config: [{opaque: [1]}]}", "one object, without a dash"),
        ("devicess: {}", 'did you mean "devices"?'),
        ("Devices: {}", 'did you mean "devices"?'),
    ],
)
def test_well_known_mistakes_have_a_hint(spec, hint):
    (problem,) = problems(f"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {{{spec}}}\n")
    assert problem.hint.startswith(hint)


@pytest.mark.parametrize(
    ("device", "hint"),
    [
        ("attributes: {m: {quantity: 1}}", "an amount is a capacity"),
        ("attributes: {m: 80Gi}", "say the type"),
        ("capacity: {m: 80Gi}", "{value: 80Gi}"),
        ("basic: {}", "move its members up"),
        ("attributes: {m: {string: 1.5}}", "put it in quotes"),
        ("attributes: {m: {string: yes}}", "put it in quotes"),
    ],
)
def test_well_known_mistakes_in_slices_have_a_hint(device, hint):
    (problem,) = problems(
        f"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nspec: {{devices: [{{name: a, {device}}}]}}\n"
    )
    assert problem.hint.startswith(hint)


UNKNOWN = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  foo: 1
  devices: {}
  devices: {}
"""


def test_unknown_and_repeated_fields_as_kubectl_would():
    assert told(UNKNOWN) == [
        (5, "spec.foo", 'unknown field "spec.foo"'),
        (7, "spec.devices", 'duplicate field "spec.devices"'),
    ]
    warned = read(UNKNOWN, validate="warn")
    assert [problem.message for problem in warned.warnings] == [
        'unknown field "spec.foo"',
        'duplicate field "spec.devices"',
    ]
    ignored = read(UNKNOWN, validate="ignore")
    assert not ignored.warnings
    assert warned.claims == ignored.claims
    assert len(ignored.claims) == 1


def test_repeated_fields_in_json():
    text = json.dumps(SLICE, indent=1).replace('"driver": "d.example.com",', '"driver": "a",\n"driver": "b",')
    (problem,) = problems(text)
    assert problem.message == 'duplicate field "spec.driver"'
    assert text.splitlines()[problem.where.line - 1] == '"driver": "b",'
    assert read(text, validate="ignore").slices[0].spec.driver == "b"


def test_types_are_checked_whatever_is_ignored():
    text = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {devices: 5}\n"
    for mode in ("strict", "warn", "ignore"):
        assert len(problems(text, validate=mode)) == 1


def test_objects_given_twice():
    claim = CLAIM.format(version="v1", request="      exactly: {deviceClassName: c}")
    other = claim.replace("deviceClassName: c", "deviceClassName: d")
    same = read(claim + "---\n" + claim)
    assert len(same.claims) == 1
    assert same.warnings[0].message == "given again, the same as at <stdin>:1"
    replaced = read(claim + "---\n" + other)
    assert [item.spec.devices.requests[0].exactly.device_class_name for item in replaced.claims] == ["d"]
    assert replaced.warnings[0].message == "given again, replaces the one at <stdin>:1"
    (problem,) = problems(claim + "---\n" + other, repeated="refuse")
    assert problem.message == "given twice with different content; first at <stdin>:1"
    assert problem.where.line == 10
    generated = claim.replace("name: c,", "generateName: c-,")
    assert len(read(generated + "---\n" + generated).claims) == 2


def test_a_core_kind_without_version_is_read_and_warned_about():
    documents = read("kind: Pod\nmetadata: {name: p}\n")
    assert documents.pods[0].metadata.name == "p"
    assert documents.warnings[0].message == "apiVersion is missing, read as v1"


def test_problems_are_capped_per_file(tmp_path):
    text = "\n---\n".join(["apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {foo: 1}"] * 30)
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(text)
    with pytest.raises(ManifestError) as caught:
        load(tmp_path, limits=ReadBudget(problems_per_file=10))
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 22
    assert messages[10] == messages[21] == "and 20 more problems in this file"


def test_where_things_stand(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("---\n" + CLAIM.format(version="v1beta1", request="      deviceClassName: c\n      count: 2"))
    documents = load(path)
    (claim,) = documents.claims
    assert str(documents.where(claim)) == f"{path}:2: ResourceClaim ns/c"
    # A v1 path is found in the text of the version it was written in.
    assert documents.where(claim, "spec.devices.requests[0].exactly.count").line == 10
    assert documents.where(claim, "spec.devices.requests[0].exactly.selectors").line == 8
    packed = tmp_path / "y.json.gz"
    packed.write_bytes(
        gzip.compress(json.dumps({"apiVersion": "v1", "kind": "List", "items": [SLICE]}, indent=1).encode())
    )
    documents = load(packed)
    assert documents.where(documents.slices[0]).line == 5
    line = documents.where(documents.slices[0], "spec.devices[0].attributes[x].int").line
    assert line is not None
    assert line > 5


def test_flow_yaml_that_looks_like_json():
    assert read("{apiVersion: v1, kind: Pod, metadata: {name: p}}").pods[0].metadata.name == "p"
    assert "cannot be read as JSON" in str(problems('{"apiVersion": "v1", "kind": ')[0])


def test_nothing_is_nothing():
    assert read("") == read("---\n---\n") == read("# only words\n")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before(enabled):
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        read("")
        assert gc.isenabled() is enabled
        problems("a: [")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
