"""
`dra-alloc what-if`: exit codes, what is told of bad input, and the answer as JSON.
"""

from __future__ import annotations

import json

import pytest
import yaml

from dra_alloc.cli.main import run
from tests.paths import ROOT
from tests.unit.scenario.test_any_order import CLASS, GREEDY, workload

EXAMPLE = ROOT / "docs" / "examples" / "what-if"
CLUSTER = ("--cluster", str(EXAMPLE / "cluster.yaml"))


def asked(capsys, *arguments):
    code = run(["what-if", *map(str, arguments)])
    return code, *capsys.readouterr()


@pytest.fixture
def scenario(tmp_path):
    def written(text):
        file = tmp_path / "scenario.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return written


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("steps:\n- uncordonNodes: {names: [gpu-a]}", 0),
        ("steps:\n- cordonNodes: {names: [gpu-c]}", 0),
        ("steps:\n- addNodes: {like: gpu-a}\n- removeNodes: {names: [gpu-a]}", 0),
        ("steps:\n- removeNodes: {names: [gpu-a]}", 1),
        ("steps:\n- delete: {kind: Pod, name: notebook, namespace: shop}\n- removeNodes: {names: [gpu-a]}", 0),
        ("steps:\n- delete: {kind: Deployment, name: search, namespace: shop}\n- removeNodes: {names: [gpu-a]}", 0),
    ],
)
def test_exit_codes(steps, code, scenario, capsys):
    assert asked(capsys, scenario(steps), *CLUSTER)[0] == code


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            "steps:\n- addNodes: {like: gpu-q, count: 0}",
            "steps[0].addNodes.count: Input should be greater",
        ),
        (
            "steps:\n- drainNodes: {names: [gpu-q]}",
            "scenario.yaml:2: steps[0].drainNodes.names: there is no node gpu-q",
        ),
        ("steps:\n- apply: {paths: [nothing.yaml]}", "nothing.yaml: cannot be read"),
        *(
            (
                f"steps:\n- delete: {{kind: {kind}, name: x, namespace: shop}}",
                f"scenario.yaml:2: steps[0].delete.namespace: objects of kind {kind} are in no namespace",
            )
            for kind in ("DeviceClass", "ResourceSlice", "DeviceTaintRule", "PriorityClass", "RuntimeClass")
        ),
        ("- a", "a scenario is a mapping with steps"),
        ("apiVersion: v1\nkind: Pod\nspec: {}", "and this is a manifest (give it with -f: it is applied)"),
        ("", "a scenario is one document, and this file has none"),
        ("steps: [", "scenario.yaml:2: cannot be read as YAML"),
        (
            "{steps: [\n  drainNodes: {names: [gpu-q]}]}",  # flow YAML begins as JSON does
            "scenario.yaml:2: steps[0].drainNodes.names: there is no node gpu-q",
        ),
        ('{"steps": [', "scenario.yaml:1: cannot be read as JSON"),
        (
            '{"steps": [{"drainNodes": {"names": ["gpu-q"]}}]}',
            "scenario.yaml:1: steps[0].drainNodes.names: there is no",
        ),
    ],
)
def test_bad_scenarios(steps, said, scenario, capsys):
    code, out, err = asked(capsys, scenario(steps), *CLUSTER)
    assert (code, out) == (2, "")
    assert said in err


def test_without_a_change_or_a_cluster_nothing_is_asked(scenario, capsys):
    assert asked(capsys, *CLUSTER)[0] == 2
    assert asked(capsys, scenario("steps: []"))[0] == 2
    assert asked(capsys, scenario("steps: []"), *CLUSTER)[0] == 2
    assert asked(capsys, "--base", EXAMPLE / "cluster.yaml", *CLUSTER)[0] == 2
    empty = scenario("")
    code, _, err = asked(capsys, "--base", EXAMPLE / "cluster.yaml", "-f", empty, *CLUSTER)
    assert (code, "there is no object in the manifests" in err) == (2, True)


def test_json_has_every_workload_before_and_after(scenario, capsys):
    _, out, _ = asked(capsys, EXAMPLE / "drain.yaml", *CLUSTER, "--format", "json")
    found = json.loads(out)
    assert found["summary"] | {"stays": 1, "moves": 1, "gone for good": 1} == found["summary"]
    index = next(each for each in found["workloads"] if each["name"] == "shop/index")
    assert index["before"]["runs"] == {"shop/index-0": "gpu-a", "shop/index-1": "gpu-c"}
    assert index["after"]["runs"] == {"shop/index-0": "gpu-a"}
    assert index["after"]["placed"] == {"shop/index-1": "gpu-b-new-1"}
    assert index["evicted"] == {"shop/index-1": "node gpu-c is drained"}


def test_a_pull_request(tmp_path, capsys):
    new = tmp_path / "new.yaml"
    new.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: more, namespace: shop}\nspec:\n"
        "  containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]\n"
        "  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]\n",
        encoding="utf-8",
    )
    code, out, _ = asked(capsys, "-f", new, *CLUSTER)
    assert code == 0
    assert "shop/more: fits" in out
    old = tmp_path / "old.yaml"
    documents = (EXAMPLE / "cluster.yaml").read_text(encoding="utf-8").split("---\n")
    old.write_text(next(each for each in documents if "kind: Deployment" in each), encoding="utf-8")
    code, out, _ = asked(capsys, "-f", new, "--base", old, *CLUSTER)
    assert (code, "shop/search (Deployment): deleted" in out) == (0, True)


def test_no_report_replaces_a_file_that_a_scenario_names(scenario, tmp_path, capsys):
    applied = tmp_path / "applied.yaml"
    applied.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n", encoding="utf-8")
    before = applied.read_text(encoding="utf-8")
    file = scenario("steps:\n- apply: {paths: [applied.yaml]}")
    assert asked(capsys, file, *CLUSTER)[0] == 0
    assert asked(capsys, file, *CLUSTER, "--report", f"json={applied}")[0] == 2
    assert applied.read_text(encoding="utf-8") == before


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all, namespace: shop}
spec: {selector: {}, minAvailable: 100}
"""


def test_every_format_tells_of_pods_that_hold_up_a_drain(scenario, tmp_path, capsys):
    (tmp_path / "budget.yaml").write_text(BUDGET, encoding="utf-8")
    file = scenario("steps:\n- apply: {paths: [budget.yaml]}\n- drainNodes: {names: [gpu-a]}")
    code, out, _ = asked(capsys, file, *CLUSTER, "--format", "json")
    stuck = json.loads(out)["stuck"]
    assert (code, len(stuck)) == (1, 2)
    code, out, _ = asked(capsys, file, *CLUSTER)
    assert code == 1
    assert "2 pods that hold up a drain (Kubernetes" in out
    for form in ("text", "sarif", "junit", "github", "gitlab", "rdjson", "markdown"):
        code, out, _ = asked(capsys, file, *CLUSTER, "--format", form)
        assert code == 1
        for name in stuck:
            assert f"{name} (Pod): holds up its drain" in out, form
        assert out.count("the disruption budget shop/all needs 100 healthy pods") >= 2, form
    for each in json.loads(asked(capsys, file, *CLUSTER, "--format", "sarif")[1])["runs"][0]["results"]:
        place = each["locations"][0]["physicalLocation"]
        assert each["ruleId"] != "stuck" or place["artifactLocation"]["uri"].endswith("cluster.yaml")


def test_the_schema_is_printed(capsys):
    code, out, err = asked(capsys, "--schema")
    assert (code, err) == (0, "")
    schema = json.loads(out)
    assert {"addNodes", "drainNodes"} <= schema["properties"]["steps"]["items"]["properties"].keys()


def test_an_order_that_fits_is_told_and_leaves_the_exit_code(tmp_path, capsys):
    cluster, manifests = tmp_path / "cluster.yaml", tmp_path / "new.yaml"
    cluster.write_text(yaml.safe_dump_all([*GREEDY, CLASS]), encoding="utf-8")
    manifests.write_text(yaml.safe_dump_all([*workload("small", 1), *workload("large", 2)]), encoding="utf-8")
    code, out, _ = asked(capsys, "-f", manifests, "--cluster", cluster, "--any-order", "--format", "json")
    found = json.loads(out)
    assert (code, found["anyOrder"]["verdict"]) == (1, "another order")
    assert [each["name"] for each in found["anyOrder"]["order"]] == ["ns/large", "ns/small"]
    assert found["summary"]["does not fit"] == 1
    assert asked(capsys, "-f", manifests, "--cluster", cluster)[0] == 1


def test_that_no_order_fits_is_told(scenario, capsys):
    steps = scenario("steps:\n- removeNodes: {names: [gpu-a]}")
    code, out, _ = asked(capsys, steps, *CLUSTER, "--any-order", "--format", "json")
    found = json.loads(out)["anyOrder"]
    assert (code, found["verdict"], found["order"]) == (1, "no order", [])
    assert found["why"] == "not all can have their devices at once"
    code, out, _ = asked(capsys, steps, *CLUSTER, "--any-order")
    assert "order: all fits in none: not all can have their devices at once" in out
    code, out, _ = asked(capsys, scenario("steps:\n- uncordonNodes: {names: [gpu-a]}"), *CLUSTER, "--any-order")
    assert (code, "order: all that is to run fits in the order at hand" in out) == (0, True)
    assert "anyOrder" not in asked(capsys, steps, *CLUSTER, "--format", "json")[1]
    code, _, err = asked(capsys, "--sweep", steps, *CLUSTER, "--any-order")
    assert (code, "--any-order does not go with --sweep" in err) == (2, True)


@pytest.mark.parametrize(
    ("steps", "said", "has_budgets_note"),
    [
        ("delete: {kind: ReplicaSet, name: search-7c9f, namespace: shop}", "  2 pods deleted\n", False),
        ("removeNodes: {names: [gpu-c]}", "  1 pod evicted: node gpu-c ", False),
        ("drainNodes: {names: [gpu-c]}", "  1 pod evicted: node gpu-c is drained\n", True),
    ],
)
def test_who_is_deleted_is_not_evicted_and_budgets_hold_only_drains(steps, said, has_budgets_note, scenario, capsys):
    _, out, _ = asked(capsys, scenario(f"steps:\n- {steps}"), *CLUSTER)
    assert said in out
    assert "evicted: deleted" not in out
    assert ("no PodDisruptionBudgets" in out) is has_budgets_note


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_what_is_free_on_cordoned_nodes_is_not_called_stranded(verbose, scenario, capsys):
    steps = "steps:\n- addNodes: {like: gpu-a, count: 2}\n- cordonNodes: {names: [gpu-a-new-1, gpu-a-new-2, gpu-b]}"
    manifests = EXAMPLE.with_name("capacity") / "more.yaml"
    _, out, _ = asked(capsys, scenario(steps), "-f", manifests, *CLUSTER, *verbose)
    said = " ".join(out.split())
    assert "free, once their nodes take pods again: 5 devices of gpu.example.com: node gpu-b is cordoned (1" in said
    assert "stranded" not in said
    assert "uncordoning node gpu-b on the other nodes: their own names in place of gpu-b" in said
