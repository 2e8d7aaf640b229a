"""
Numbers of pods that no workload may have.
"""

from __future__ import annotations

import pytest

from dra_alloc.manifest import validate_object
from tests.reading import read

API = {"Job": "batch/v1", "CronJob": "batch/v1"}
REFUSED = "Invalid value: {}: must be greater than or equal to 0"


#: The rest of each is as it should be.
TEMPLATE = "template: {metadata: {labels: {a: b}}, spec: {RESTARTScontainers: [{name: c, image: i}]}}"


def workload(kind: str, counts: str):
    ends = kind in ("Job", "CronJob")
    selector = "" if ends else "selector: {matchLabels: {a: b}}, "
    inner = f"{{{counts}, {selector}{TEMPLATE.replace('RESTARTS', 'restartPolicy: Never, ' if ends else '')}}}"
    spec = f"{{schedule: '@hourly', jobTemplate: {{spec: {inner}}}}}" if kind == "CronJob" else inner
    text = f"apiVersion: {API.get(kind, 'apps/v1')}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
    (found,) = read(text).workloads
    return found


@pytest.mark.parametrize(
    ("kind", "counts", "path", "message"),
    [
        ("Deployment", "replicas: -5", "spec.replicas", REFUSED.format(-5)),
        ("ReplicaSet", "replicas: -1", "spec.replicas", REFUSED.format(-1)),
        ("Job", "parallelism: -1", "spec.parallelism", REFUSED.format(-1)),
        ("Job", "completions: -1", "spec.completions", REFUSED.format(-1)),
        ("CronJob", "completions: -2", "spec.jobTemplate.spec.completions", REFUSED.format(-2)),
        ("Deployment", f"replicas: {1 << 31}", "spec.replicas", f"Invalid value: {1 << 31}: does not fit into 32 bits"),
    ],
)
def test_numbers_that_are_refused(kind, counts, path, message):
    (problem,) = validate_object(workload(kind, counts))
    assert (problem.where.path, problem.message) == (path, message)
