"""
What Kueue makes of each kind of workload: pod sets, groups, and what is held back.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.cluster.settings import Settings
from dra_alloc.scenario.admit.admit import Admit, AdmitOptions, AdmitVerdict, WorkloadAnswer, admit
from tests.unit.scenario.queueing import CLASS, COMMON, CONFIGURATION, group, job, node, objects, queue


def asked(job: dict[str, Any], *dump: dict[str, Any]) -> Admit:
    return admit(objects(job), objects(*COMMON, *dump), AdmitOptions(Settings("1.36")))


def reasons(answer: WorkloadAnswer) -> str:
    assert answer.admission is not None
    return "; ".join(answer.admission.reasons)


def test_extended_resources_of_one_mapping_add_up():
    names = ("ca", "cb")
    classes = [{**CLASS, "metadata": {"name": n}, "spec": {"extendedResourceName": f"example.com/{n}"}} for n in names]
    configured = {
        **CONFIGURATION,
        "resources": {"deviceClassMappings": [{"name": "cards", "deviceClassNames": list(names)}]},
    }
    asking = job("j")
    pod = asking["spec"]["template"]["spec"]
    del pod["resourceClaims"]
    amounts = {f"example.com/{n}": "1" for n in names}
    pod["containers"] = [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]
    common = [each for each in COMMON if each is not CONFIGURATION]
    for quota, verdict in ((1, AdmitVerdict.NEVER), (2, AdmitVerdict.PLACED)):
        cluster = objects(*common, configured, *classes, *node("a"), *queue("q", group(("f", quota))))
        (answer,) = admit(
            objects(asking), cluster, AdmitOptions(Settings("1.36", {"DRAExtendedResource": True}))
        ).workloads
        assert answer.verdict is verdict
        assert ("2 asked" in reasons(answer)) == (quota == 1)
