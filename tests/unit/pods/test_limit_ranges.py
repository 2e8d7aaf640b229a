"""
What LimitRanges make of new pods; amounts and words are those of an API server of 1.37.2 that was given the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.pods.expanding import MadePods, expanded
from tests.reading import documents

Json = dict[str, Any]
#: The first is what the two test namespaces have; `max` gives memory a default.
CONTAINERS: Json = {
    "type": "Container",
    "default": {"cpu": "1"},
    "defaultRequest": {"cpu": "500m", "memory": "64Mi"},
    "min": {"cpu": "100m"},
    "max": {"cpu": "2", "memory": "1Gi"},
    "maxLimitRequestRatio": {"cpu": "3"},
}
PODS: Json = {
    "type": "Pod",
    "max": {"cpu": "3"},
    "min": {"memory": "1Mi"},
    "maxLimitRequestRatio": {"memory": "2"},
}
BARE: Json = {"type": "Pod", "min": {"cpu": "1"}, "max": {"memory": "1Gi"}, "maxLimitRequestRatio": {"cpu": "2"}}
TIGHT: Json = {"type": "Container", "max": {"cpu": "1"}}


def made(limits: list[Json], *containers: Json, init: tuple[Json, ...] = ()) -> MadePods:
    meta = {"name": "l", "namespace": "ns"}
    limit_range = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": limits}}
    spec = {
        "containers": [{"name": f"c{n}", "image": "i", "resources": each} for n, each in enumerate(containers)],
        "initContainers": [{"name": f"i{n}", "image": "i", "resources": each} for n, each in enumerate(init)],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "p"}, "spec": spec}
    return expanded(documents(pod), documents(limit_range), ())


def refused(found: MadePods) -> list[str]:
    return [problem.message.removeprefix("Forbidden: ") for _, problem in found.problems]


NO_LIMIT = "maximum memory usage per Pod is 1Gi.  No limit is specified"


@pytest.mark.parametrize(
    ("limits", "asked", "init", "words"),
    [
        (
            [CONTAINERS, PODS],
            {},
            (),
            ["memory max limit to request ratio per Pod is 2, but provided ratio is 16.000000"],
        ),
        (
            [CONTAINERS, PODS],
            {"requests": {"cpu": "50m"}, "limits": {"memory": "1Gi"}},
            (),
            [
                "minimum cpu usage per Container is 100m, but request is 50m",
                "cpu max limit to request ratio per Container is 3, but provided ratio is 20.000000",
            ],
        ),
        (
            [CONTAINERS, PODS],
            {"limits": {"cpu": "4", "memory": "2Gi"}},
            (),
            [
                "maximum cpu usage per Container is 2, but limit is 4",
                "maximum memory usage per Container is 1Gi, but limit is 2Gi",
                "maximum cpu usage per Pod is 3, but limit is 4",
            ],
        ),
        ([CONTAINERS, PODS], {"limits": {"memory": "1Gi"}}, (), []),
        ([CONTAINERS, PODS], {"requests": {"cpu": "1", "memory": "1Gi"}}, ({},), []),
        (
            [BARE],
            {},
            (),
            [
                "minimum cpu usage per Pod is 1.  No request is specified",
                NO_LIMIT,
                "cpu max limit to request ratio per Pod is 2, but no request is specified or request is 0",
            ],
        ),
        (
            [BARE],
            {"requests": {"cpu": "1"}},
            (),
            [NO_LIMIT, "cpu max limit to request ratio per Pod is 2, but no limit is specified or limit is 0"],
        ),
        ([BARE], {"limits": {"cpu": "1"}}, (), [NO_LIMIT]),
        ([TIGHT], {}, (), []),
        ([TIGHT], {"requests": {"cpu": "2"}}, (), ['Invalid value: "2": must be less than or equal to cpu limit of 1']),
        (
            [TIGHT],
            {},
            ({"requests": {"cpu": "2"}, "limits": {"cpu": "3"}},),
            ["maximum cpu usage per Container is 1, but limit is 3"],
        ),
    ],
)
def test_who_is_refused(limits: list[Json], asked: Json, init: tuple[Json, ...], words: list[str]) -> None:
    found = refused(made(limits, asked, init=init))
    assert found[: len(words)] == words
    assert bool(found) == bool(words)


def test_what_is_left_out_is_filled_in() -> None:
    found = made([CONTAINERS, PODS], {"requests": {"cpu": "1", "memory": "1Gi"}}, init=({},))
    (pod,) = (each.pod for each in found.pods)
    container, before = *pod.spec.containers, *pod.spec.init_containers
    assert {name: str(each) for name, each in container.resources.limits.items()} == {"cpu": "1", "memory": "1Gi"}
    assert {name: str(each) for name, each in before.resources.requests.items()} == {"cpu": "500m", "memory": "64Mi"}


def test_other_namespaces_are_not_bound() -> None:
    meta = {"name": "l", "namespace": "other"}
    limit_range = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [BARE]}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    assert not expanded(documents(pod), documents(limit_range), ()).problems
