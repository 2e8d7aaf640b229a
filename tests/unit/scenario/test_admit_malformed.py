"""
Queues written in any wrong way end in an answer, or in what is wrong and where.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from dra_alloc.errors import InputError, ManifestError
from dra_alloc.scenario.admit.admit import admit
from dra_alloc.scenario.admit.answers import AdmitOptions, AdmitVerdict
from tests.reading import documents
from tests.unit.scenario.queueing import CLASS, COMMON, CONFIGURATION, group, job, kueue, node, queue, template

JUNK: list[Any] = [None, -1, "x", [], {}, [3], {"a": 1}, True]
SOURCE = {"counter": {"name": "memory", "driver": "d.example.com", "deviceSelector": {"cel": {"expression": "true"}}}}
MAPPINGS = [
    {"name": "cards", "deviceClassNames": ["card"]},
    {"name": "memory", "deviceClassNames": ["part"], "sources": [SOURCE]},
]
RESERVED = {"flavorsReservation": [{"name": "f", "resources": [{"name": "cards", "total": "1"}]}]}
PREEMPTION = {"withinClusterQueue": "LowerPriority"}
CLUSTER_QUEUE, LOCAL_QUEUE = queue(
    "q",
    group(("f", 4), borrowingLimit=1, lendingLimit=1),
    cohortName="all",
    preemption=PREEMPTION,
    flavorFungibility={"whenCanBorrow": "TryNextFlavor"},
    admissionChecks=["c"],
)
TOLERATION = {"key": "t", "operator": "Exists"}
QUEUES = [
    {**CLUSTER_QUEUE, "status": RESERVED},
    LOCAL_QUEUE,
    kueue("AdmissionCheck", "c", {"controllerName": "example.com/checks"}),
    kueue("Cohort", "all", {"parentName": "root", "resourceGroups": [group(("f", 1))]}),
    kueue(
        "ResourceFlavor",
        "f",
        {"nodeLabels": {"a": "b"}, "nodeTaints": [{"key": "t", "effect": "NoSchedule"}], "tolerations": [TOLERATION]},
    ),
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "p"}, "value": 3},
    {
        **CONFIGURATION,
        "featureGates": {"KueueDRAIntegration": True},
        "resources": {"deviceClassMappings": MAPPINGS, "excludeResourcePrefixes": ["x/"]},
    },
]
REST = [CLASS, *node("n", a="b"), template("one", {"name": "r", "exactly": {"deviceClassName": "card"}})]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything below an object, but what says which it is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        if path or key not in ("apiVersion", "kind", "metadata"):
            yield (*path, key)
            yield from paths(each, (*path, key))


def changed(item: dict[str, Any], path: tuple[Any, ...], junk: Any) -> dict[str, Any]:
    made = copy.deepcopy(item)
    inner: Any = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = junk
    return made


@pytest.mark.parametrize("number", range(len(QUEUES)))
def test_whatever_stands_in_a_queue(number):
    answered, odd = 0, []
    for path in paths(QUEUES[number]):
        for junk in JUNK:
            items = [*QUEUES[:number], changed(QUEUES[number], path, junk), *QUEUES[number + 1 :]]
            try:
                answered += bool(admit(documents(job("j")), documents(*REST, *items)).workloads)
            except ManifestError as error:
                odd += [
                    (path, junk, str(each)) for each in error.problems if not (each.where.object and each.where.path)
                ]
            except InputError as error:
                odd += [(path, junk, str(error))]
    assert answered
    assert not odd


def test_all_that_is_wrong_is_told_at_once():
    """Wrong amounts and mappings, with their places."""
    bad = {**CONFIGURATION, "resources": {"deviceClassMappings": [{"name": "cards"}]}}
    cluster_queue = kueue("ClusterQueue", "q", {"resourceGroups": [group(("f", 1), lendingLimit="much")]})
    with pytest.raises(ManifestError) as told:
        admit(documents(job("j")), documents(bad, cluster_queue))
    said = "\n".join(map(str, told.value.problems))
    assert "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit" in said
    assert "resources.deviceClassMappings[0].deviceClassNames" in said


def test_a_mapping_whose_gate_is_off_is_wrong():
    source = {"capacity": {"name": "memory", "driver": "d.example.com"}}
    mapping = {"name": "cards", "deviceClassNames": ["card"], "sources": [source]}
    configured = {**CONFIGURATION, "resources": {"deviceClassMappings": [mapping]}}
    with pytest.raises(ManifestError, match="KueueDRAIntegrationConsumableCapacity, which is off") as told:
        admit(documents(job("j")), documents(*REST, configured, *node("a"), *queue("q", group(("f", 4)))))
    assert [each.where.path for each in told.value.problems] == ["resources.deviceClassMappings"]


def test_cohorts_in_a_circle_are_told_with_their_places():
    """Both circles at once, and not the cohort that leads to one."""
    parents = {"a": "b", "b": "a", "self": "self", "below": "a"}
    cohorts = [kueue("Cohort", name, {"parentName": parent}) for name, parent in parents.items()]
    with pytest.raises(ManifestError) as told:
        admit(
            documents(job("j")),
            documents(*REST, *cohorts, *node("a"), *queue("q", group(("f", 4)), cohortName="below")),
        )
    places = sorted((each.where.object, each.where.path) for each in told.value.problems)
    assert places == [(f"Cohort {name}", "spec.parentName") for name in ("a", "b", "self")]
    assert "in a circle: a, b" in str(told.value.problems[0])


@pytest.mark.parametrize(
    "named",
    [
        {"admissionChecks": ["c", "gone"]},
        {"admissionChecksStrategy": {"admissionChecks": [{"name": "gone"}, {"name": "gone", "onFlavors": ["f"]}]}},
    ],
)
def test_a_queue_that_names_a_check_that_is_not_there_admits_nobody(named):
    dump = [*REST, *QUEUES[2:], *queue("q", group(("f", 4)), **named)]
    found = admit(documents(job("j")), documents(*dump))
    admission = found.workloads[0].admission
    assert admission is not None
    assert (found.workloads[0].verdict, admission.code) == (AdmitVerdict.INADMISSIBLE, "check-missing")
    assert admission.reasons == ("ClusterQueue q is inactive, as there is no AdmissionCheck gone",)
    assert any("q (c)" in each for each in found.notes) == ("admissionChecks" in named)


@pytest.mark.parametrize(("status", "code"), [("True", ""), ("False", "check-inactive"), ("Unknown", "check-inactive")])
def test_a_queue_with_a_check_that_is_not_active_admits_nobody(status, code):
    check = kueue("AdmissionCheck", "c", {}, status={"conditions": [{"type": "Active", "status": status}]})
    dump = [*REST, *QUEUES[3:], check, *queue("q", group(("f", 4)), admissionChecks=["c"])]
    found = admit(documents(job("j")), documents(*dump))
    admission = found.workloads[0].admission
    assert admission is not None
    assert admission.code == code
    assert not any("taken for granted" in each for each in found.notes)


def test_of_a_check_that_says_nothing_it_is_said_that_it_is_taken_for_active():
    dump = [*REST, *QUEUES[2:], *queue("q", group(("f", 4)), admissionChecks=["c"])]
    found = admit(documents(job("j")), documents(*dump))
    assert found.workloads[0].verdict is AdmitVerdict.PLACED
    assert any("taken for granted, of AdmissionChecks: c" in each for each in found.notes)


def test_without_queues_there_is_no_answer():
    with pytest.raises(InputError, match="no objects of a queue system"):
        admit(documents(job("j")), documents(*node("a")))


def test_systems_that_are_not_modelled():
    with pytest.raises(InputError, match=r"kueue '0\.1' is not modelled"):
        admit(documents(job("j")), documents(*COMMON), AdmitOptions(system="kueue=0.1"))


def test_what_the_api_server_and_the_expansion_both_refuse_is_told_once():
    made = job("j")
    made["spec"]["parallelism"] = -1
    with pytest.raises(ManifestError) as told:
        admit(documents(made), documents(*COMMON, *queue("q", group(("f", 1)))), AdmitOptions())
    assert [each.where.path for each in told.value.problems] == ["spec.parallelism"]
