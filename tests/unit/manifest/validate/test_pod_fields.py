"""
Fields of pods and jobs that only several of them together make wrong, as an API server of 1.37.2 answered.
"""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc

COMPLETIONS = "when completions are above 100000 and used with backoff limit per index"


def told(item: dict[str, Any]) -> list[tuple[str, str]]:
    """Path and detail of each fault, the first word of long ones alone."""
    found = [(each.where.path, each.detail) for each in dra_alloc.validate(item, release="1.37")]
    return sorted((path, "label" if "RFC 1123" in detail else detail) for path, detail in found)


def pod(**spec: Any) -> dict[str, Any]:
    given = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": given}


@pytest.mark.parametrize(
    ("uses", "found"),
    [
        (("x", "x"), [("[1]", "x")]),
        (("x", "x/r", "x/A_"), [("[1]", "x"), ("[2]", "x")]),
        (("x/r", "x"), [("[1]", "x")]),
        (("x/r", "x/r"), [("[1]", "x/r")]),
        (("x/r", "x/s", "x/A_"), [("[2].request", "label")]),
    ],
)
def test_claims_used_twice(uses: tuple[str, ...], found: list[tuple[str, str]]):
    """A use beside one of the whole claim is told by the name of the claim, and its request not looked at."""
    pairs = [each.partition("/") for each in uses]
    given = [{"name": name, **({"request": request} if request else {})} for name, _, request in pairs]
    resources = {"claims": given}
    asked = pod(
        resourceClaims=[{"name": "x", "resourceClaimName": "t"}],
        containers=[{"name": "c", "image": "i", "resources": resources}],
    )
    place = "spec.containers[0].resources.claims"
    values = [(fault.where.path, fault.message) for fault in dra_alloc.validate(asked, release="1.37")]
    assert [path for path, _ in values] == [f"{place}{path}" for path, _ in found]
    assert all(said == "label" or f'"{said}"' in text for (_, said), (_, text) in zip(found, values, strict=True))


def test_containers_without_a_name():
    """One of the containers stands for the others: given again it is told as that, too; init containers do not."""
    nameless = {"image": "i"}
    containers = told(pod(containers=[nameless, nameless]))
    assert [path for path, _ in containers] == [f"spec.containers[{each}].name" for each in (0, 1, 1)]
    first = told(pod(initContainers=[nameless, nameless]))
    assert [path for path, _ in first] == [f"spec.initContainers[{each}].name" for each in (0, 1)]


def test_ports_of_init_containers_on_the_network_of_the_host():
    ports = [{"containerPort": 80, "hostPort": 81}]
    made = {"name": "d", "image": "i", "ports": ports}
    assert not told(pod(hostNetwork=True, initContainers=[made]))
    assert told(pod(hostNetwork=True, containers=[made]))


def job(name: str = "j", **spec: Any) -> dict[str, Any]:
    given = {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}},
        "completionMode": "Indexed",
        **spec,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": given,
    }


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"completions": 100_000, "backoffLimitPerIndex": 1}, []),
        ({"completions": 100_001}, []),
        (
            {"completions": 100_001, "backoffLimitPerIndex": 1},
            [("spec.maxFailedIndexes", "must be specified when completions is above 100000")],
        ),
        (
            {"completions": 100_001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 10_001, "parallelism": 10_001},
            [
                ("spec.maxFailedIndexes", f"must be less than or equal to 10000 {COMPLETIONS}"),
                ("spec.parallelism", f"must be less than or equal to 10000 {COMPLETIONS}"),
            ],
        ),
        ({"completions": 100_001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 10_000, "parallelism": 10_000}, []),
        (
            {"parallelism": 1, "backoffLimitPerIndex": 1, "maxFailedIndexes": 100_001},
            [
                ("spec.completions", "when completion mode is Indexed"),
                ("spec.maxFailedIndexes", "must be less than or equal to 100000"),
            ],
        ),
    ],
)
def test_jobs_with_many_indexes(spec: dict[str, Any], found: list[tuple[str, str]]):
    assert told(job(**spec)) == found


def test_names_of_pods_of_a_job_without_completions():
    """Nobody knows what its last pod is called."""
    assert [path for path, _ in told(job("x" * 62, parallelism=1))] == ["spec.completions"]
    assert [path for path, _ in told(job("x" * 62, completions=1))] == ["metadata.name"]
