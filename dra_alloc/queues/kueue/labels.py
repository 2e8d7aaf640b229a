"""
Kueue's labels: where they stand in what makes pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.pods.workloads.reading import value_at

#: In which queue of its namespace something is.
QUEUE: Final = "kueue.x-k8s.io/queue-name"


def labels_path(kind: str) -> str:
    """
    Return where an object of a kind has the labels that Kueue sees.

    Those of a CronJob are its Jobs': Kueue makes no Workload for itself. Spec: KUEUE-36.
    """
    return "spec.jobTemplate.metadata.labels" if kind == "CronJob" else "metadata.labels"


def kueue_label(key: str, kind: str, body: Any, pods: Mapping[str, Any]) -> str:
    """Return a label of an object as it was written, or else of its pods; empty if neither has it. Spec: KUEUE-36."""
    for labels in (value_at(body, labels_path(kind)), pods):
        found = labels.get(key) if isinstance(labels, Mapping) else None
        if found and isinstance(found, str):
            return found
    return ""
