"""
`dra-alloc admit`: exit codes, what is told of bad input, and the answer as JSON.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

JOBS = EXAMPLES / "admit" / "jobs.yaml"
CLUSTER = ("--cluster", str(EXAMPLES / "admit" / "cluster.yaml"))


def asked(capsys, *arguments):
    code = run(["admit", *map(str, arguments)])
    return code, *capsys.readouterr()


def written(tmp_path, change):
    """The example's jobs, changed."""
    file = tmp_path / "jobs.yaml"
    file.write_text(change(JOBS.read_text(encoding="utf-8")), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text, 1),
        (lambda text: text.replace("count: 6", "count: 4"), 0),
        (lambda text: text.replace("count: 6", "count: 9"), 1),
        (lambda text: text.replace("queue-name: team", "queue-name: nobody"), 1),
    ],
)
def test_exit_codes(change, code, tmp_path, capsys):
    assert asked(capsys, written(tmp_path, change), *CLUSTER)[0] == code


def test_the_answer_in_json(capsys):
    code, out, _ = asked(capsys, JOBS, *CLUSTER, "--format", "json")
    answer = json.loads(out)
    assert code == 1
    assert (answer["system"], answer["version"]) == ("kueue", "0.19")
    assert answer["summary"] == {"placed": 1, "admitted-not-allocatable": 1, "waiting": 1}
    large, pair, late = answer["workloads"]
    assert (large["verdict"], large["admitted"], large["order"]) == ("admitted-not-allocatable", True, 1)
    (pod_set,) = large["podSets"]
    assert (pod_set.pop("name"), pod_set.pop("count"), pod_set.pop("domains")) == ("main", 1, None)
    assert pod_set == {"asked": {"cards": "6", "pods": "1"}, "flavors": {"cards": "card-nodes"}}
    assert [each["verdict"] for each in pair["pods"]] == ["allocated", "allocated"]
    assert (late["verdict"], late["code"], late["pods"]) == ("waiting", "waits-for-quota", [])
    assert large["line"] == 12


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([JOBS], "there are no objects of a queue system"),
        ([JOBS, "--system", "kueue"], "there are no objects of Kueue"),
        ([JOBS, *CLUSTER, "--system", "slurm"], "there is no queue system 'slurm'"),
        ([JOBS, *CLUSTER, "--system", "kueue=0.1"], "write kueue=0.19, or kueue alone"),
        ([JOBS, *CLUSTER, "--system", "kai"], "there are no objects of KAI"),
    ],
)
def test_what_cannot_be_asked(arguments, said, capsys):
    code, out, err = asked(capsys, *arguments)
    assert code == 2
    assert not out
    assert said in err


def test_places_of_what_is_wrong_in_queues(tmp_path, capsys):
    """A queue of the manifests with an amount that is none, by file, line and path."""
    queue = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: other}
spec:
  resourceGroups:
  - coveredResources: [cards]
    flavors: [{name: card-nodes, resources: [{name: cards, nominalQuota: several}]}]
"""
    file = written(tmp_path, lambda text: text + queue)
    code, _, err = asked(capsys, file, *CLUSTER)
    assert code == 2
    line = (
        file.read_text(encoding="utf-8")
        .splitlines()
        .index("    flavors: [{name: card-nodes, resources: [{name: cards, nominalQuota: several}]}]")
        + 1
    )
    assert f"{file}:{line}: ClusterQueue other: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota" in err
