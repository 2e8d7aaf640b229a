"""One budget for all that a command works: what it leaves undecided is named, the rest is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.harness import serve
from dra_alloc.cli.main import run

NODES, DEVICES = 3, 4
#: What a selector that nests as many macros costs on a device, and so all of them.
NESTED, ALL = 8, 3_000


def nested(inner: str) -> str:
    for number in range(NESTED):
        inner = f"[1, 2].exists(x{number}, {inner})"
    return inner


COSTLY = nested('device.attributes["d"].model == "none"')
CHEAP = 'device.attributes["d"].model == "m2-1"'


def claim(name: str, selector: str) -> dict[str, Any]:
    exactly = {"deviceClassName": "any", "selectors": [{"cel": {"expression": selector}}]}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


def written(folder: Path, name: str, *items: dict[str, Any]) -> str:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    api = {"apiVersion": "resource.k8s.io/v1"}
    items: list[dict[str, Any]] = [{**api, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}]
    for node in range(NODES):
        name = f"n{node}"
        devices = [{"name": f"d{k}", "attributes": {"model": {"string": f"m{node}-{k}"}}} for k in range(DEVICES)]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "d", "nodeName": name, "pool": pool, "devices": devices}
        items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        items.append({**api, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})
    return written(tmp_path_factory.mktemp("budget"), "cluster.json", *items)


@pytest.fixture
def answer(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command says of a costly claim and a cheap one, and its exit code."""
    manifests = written(tmp_path, "claims.json", claim("costly", COSTLY), claim("cheap", CHEAP))

    def asked(command: str, budget: int, *options: str) -> tuple[int, str]:
        given = ["-f", manifests] if command == "what-if" else [manifests]
        code = run([command, *given, "--cluster", cluster, "--budget", str(budget), *options])
        return code, capsys.readouterr().out

    return asked


def test_check_names_what_it_leaves_undecided_and_answers_the_rest(answer):
    code, out = answer("check", ALL // 2)
    assert code == 3
    assert "default/costly (ResourceClaim): undecided, the budget ran out on n1, n2\n" in out
    assert "default/cheap (ResourceClaim): allocated; fits 1 of 3 nodes: n2\n" in out
    assert "note: the budget of 1,500 units of work ran out" in out
    assert "--budget N" in out


def test_with_enough_of_it_the_answer_is_the_same_as_without(answer):
    assert answer("check", 20 * ALL) == answer("check", 300_000_000)
    code, out = answer("check", 20 * ALL)
    assert code == 1
    assert "budget" not in out


def test_the_same_budget_decides_the_same(answer):
    assert answer("explain", ALL // 2, "--format", "json") == answer("explain", ALL // 2, "--format", "json")


def test_what_if_has_one_for_both_sides(answer):
    code, out = answer("what-if", ALL)
    assert code == 3
    assert "default/costly (ResourceClaim): undecided" in out
    assert "default/cheap" in out
    assert "note: the budget of 3,000 units of work ran out" in out


def test_gang_is_undecided(answer):
    code, out = answer("gang", ALL // 2)
    assert code == 3
    assert "undecided (the budget of 1,500 units of work ran out" in " ".join(out.split())
    assert "note: the budget" in out


#: Questions whose answers have a verdict, with what their documents call it.
VERDICTS = {
    ("check",): ("placements",),
    ("gang",): ("joint", "greedy"),
    ("gang", "--most"): ("joint", "greedy"),
    ("what-if",): ("workloads",),
    ("capacity",): ("workloads",),
}


@pytest.mark.parametrize("command", VERDICTS, ids=" ".join)
def test_whatever_the_budget_an_answer_is_the_one_without_or_undecided(command, answer):
    whole, out = answer(command[0], 300_000_000, "--format", "json", *command[1:])
    expected = verdicts(json.loads(out), VERDICTS[command])
    codes = set()
    for budget in (2**power for power in range(17)):
        code, out = answer(command[0], budget, "--format", "json", *command[1:])
        codes.add(code)
        found = verdicts(json.loads(out), VERDICTS[command])
        assert {name for name in expected if found[name] not in (expected[name], "undecided")} == set(), budget
        assert code == whole or (code == 3 and found != expected), budget
    assert codes == {whole, 3}


def verdicts(told: dict[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for key in keys:
        for number, each in enumerate(told[key] if isinstance(told[key], list) else [told[key]]):
            found[each.get("name", f"{key}-{number}")] = each.get("verdict") or each.get("fate") or each["outlook"]
    return found


def test_cel_asks_as_many_devices_as_it_can(cluster, capsys):
    code = run(["cel", COSTLY, "--cluster", cluster, "--budget", "6000", "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert code == 3
    undecided = [each["device"] for each in told["devices"] if each["undecided"]]
    assert told["summary"]["undecided"] == len(undecided)
    assert 0 < len(undecided) < NODES * DEVICES
    assert run(["cel", COSTLY, "--cluster", cluster, "--budget", "6000"]) == 3
    assert "undecided, the budget ran out" in capsys.readouterr().out


def test_cel_evaluates_what_reads_no_device_once(cluster, capsys):
    assert run(["cel", nested("1 == 1"), "--cluster", cluster, "--budget", "200", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["matches"] for each in told["devices"]} == {True}


def test_explanations_are_cut_not_answers(answer):
    code, out = answer("explain", 2 * ALL)
    assert code == 1
    assert "default/costly (ResourceClaim): cannot be allocated on any of 3 nodes" in out


def test_lint_says_nothing_of_what_it_could_not_look_at(answer):
    code, out = answer("lint", ALL // 2, "--select", "E203")
    assert code == 3
    assert "match none" not in out
    said = " ".join(out.split())
    assert "undecided: selectors and constraints were not all looked at: the budget of 1,500 units of work" in said
    code, out = answer("lint", 10 * ALL, "--select", "E203")
    assert code == 1
    assert "the selectors match none of the 12 devices of class any" in " ".join(out.split())


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "1.5"])
def test_a_budget_is_a_whole_number(wrong, answer, capsys):
    code, _ = answer("check", wrong)
    assert code == 2


def test_the_harness_has_one_for_each_request(monkeypatch):
    monkeypatch.setattr(serve, "DEFAULT_WORK", 0)
    request = json.dumps({"op": "cel", "expr": COSTLY})
    assert "budget of 0 units" in serve.answer(request)["bad"]
    monkeypatch.setattr(serve, "DEFAULT_WORK", 1)
    assert "err" in serve.answer(request)
    assert "err" in serve.answer(request)


def test_an_answer_that_was_found_is_given_where_no_better_one_can_be_looked_for(cluster, tmp_path, capsys):
    """12 units find the node, as many as there are devices; nothing is left for the objective then."""
    pytest.importorskip("ortools", reason="needs ortools: objectives")
    manifests = written(tmp_path, "claims.json", claim("cheap", CHEAP))
    options = ["--objective", "least-fragmented", "--budget", str(NODES * DEVICES)]
    assert run(["check", manifests, "--cluster", cluster, *options]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "default/cheap (ResourceClaim): allocated; fits 1 of 3 nodes: n2" in out
    assert "least-fragmented: 1,000, and 0 is not ruled out: the budget of 12 units of work ran out" in out
