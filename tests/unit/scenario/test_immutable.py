"""What is returned cannot be changed, and what a caller keeps can: it was copied."""

from __future__ import annotations

from typing import Any

import pytest

import dra_alloc
from dra_alloc.api import ResourceClaim
from dra_alloc.errors import InputError
from tests.paths import EXAMPLES


def _gpus(name: str, count: int) -> ResourceClaim:
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": count}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}
    return ResourceClaim.from_wire({"metadata": {"name": name, "namespace": "research"}, "spec": spec})


@pytest.fixture(scope="module")
def cluster() -> dra_alloc.Cluster:
    return dra_alloc.load(EXAMPLES / "cluster")


@pytest.mark.parametrize("count", [1, 99])
def test_members_of_answers_cannot_be_assigned_to(cluster: dra_alloc.Cluster, count: int) -> None:
    asked = [_gpus("a", count)]
    outcome = cluster.allocate(asked)
    assert bool(outcome) is (count == 1)
    fits = cluster.filter(asked)
    answers: list[tuple[Any, list[str]]] = [
        (outcome, ["node", "claims", "work", "scores"] if outcome else ["refusals", "aborts"]),
        (fits, ["nodes", "undecided", "aborted"]),
        (fits.outcome("h100-a"), ["node", "claims", "aborts"]),
        (cluster.place([asked]), ["outcomes", "before", "cluster", "placed"]),
        (cluster, ["nodes", "claims", "settings"]),
        (cluster.settings, ["gates"]),
    ]
    for answer, members in answers:
        for member in members:
            before = getattr(answer, member, None)
            with pytest.raises((AttributeError, TypeError)):
                setattr(answer, member, "z")
            assert getattr(answer, member, None) == before


def test_settings_keep_a_copy_of_the_gates() -> None:
    gates = {"DRAAdminAccess": True}
    settings = dra_alloc.Settings("1.36", gates)
    gates["DRAAdminAccess"] = False
    assert settings.gates == {"DRAAdminAccess": True}
    assert {settings: 1}[dra_alloc.Settings("1.36", {"DRAAdminAccess": True})] == 1
    with pytest.raises(TypeError):
        settings.gates["DRAAdminAccess"] = False  # type: ignore[index]


@pytest.mark.parametrize("gates", ["x", 5, None, [("DRAAdminAccess", True)], {"DRAAdminAccess": "false"}])
def test_gates_that_are_no_map_are_refused(gates: Any) -> None:
    with pytest.raises(InputError, match="gate"):
        dra_alloc.Settings(gates=gates)
