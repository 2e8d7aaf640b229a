"""
Jobs that name no queue: which of them Kueue puts into the queue `default`, and which it holds back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.api.labels import NAMESPACE_NAME, selector_of
from dra_alloc.queues.kueue.objects import KueueObjects

_DEFAULT: Final = "default"
#: Namespaces whose jobs Kueue leaves alone unless its Configuration says which are managed.
_EXEMPT: Final = ("kube-system", "kueue-system")
#: Kinds that Kueue manages as pods, or by their pods' templates, where its Configuration has them among its frameworks.
_BY_POD: Final = {"Pod": "pod", "ReplicaSet": "pod", "ReplicationController": "pod", "DaemonSet": "pod"}
_OF_APPS: Final = {"Deployment": "deployment", "StatefulSet": "statefulset"}


def queue_of(named: str, kind: tuple[str, str], namespace: Mapping[str, str], objects: KueueObjects) -> str:
    """
    Return the local queue of something of a group and kind, as ``namespace/name``; empty where Kueue lets it run.

    `namespace` are the labels of its namespace, with its name. What is held back for want of a queue is in one without
    a name.

    Spec: KUEUE-37, KUEUE-47.
    """
    name = namespace[NAMESPACE_NAME]
    if named:
        return f"{name}/{named}" if is_seen(kind, objects) else ""
    if not (_is_managed(kind, objects.frameworks) and _is_looked_at(name, namespace, objects)):
        return ""
    default = f"{name}/{_DEFAULT}"
    if default in objects.local:
        return default
    return f"{name}/" if objects.holds_nameless else ""


def is_nameless(queue: str) -> bool:
    """Return whether that is where jobs are that are held back for want of a queue."""
    return queue.endswith("/")


def is_seen(kind: tuple[str, str], objects: KueueObjects) -> bool:
    """Return whether Kueue sees the queue that a group and kind names: it lists the frameworks that it manages."""
    return not objects.listed or _is_managed(kind, objects.frameworks)


def _is_managed(kind: tuple[str, str], frameworks: tuple[str, ...]) -> bool:
    """Return whether Kueue looks at a group and kind; where nobody says which, at all but pods and what has no end."""
    group, name = kind
    framework = _BY_POD.get(name) or _OF_APPS.get(name) or f"{group}/{name.lower()}"
    if framework == "batch/cronjob":
        framework = "batch/job"
    return framework in frameworks if frameworks else "/" in framework


def _is_looked_at(name: str, labels: Mapping[str, str], objects: KueueObjects) -> bool:
    """Return whether Kueue sees to jobs of a namespace that name no queue."""
    return name not in _EXEMPT if objects.managed is None else selector_of(objects.managed).matches(labels)
