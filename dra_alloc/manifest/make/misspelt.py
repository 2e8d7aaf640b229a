"""
Fields of pods and of what makes them that are hardly what was meant: strict servers refuse them, others drop them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from dra_alloc.manifest.convert.conversion import OtherShape
from dra_alloc.manifest.kinds import Kind
from dra_alloc.manifest.make.inspection import Flaw
from dra_alloc.manifest.make.workloads import at
from dra_alloc.manifest.read.paths import Path, render

__all__ = ["misspelt"]

_CONTAINERS: Final = ("containers", "initContainers")
_CLOSE_ENOUGH: Final = 0.8


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: The fields that releases 1.34 to 1.38 know: of a pod's spec, of a container, and of the specs of what makes pods.
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "Pod": _words(
        """
        activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy
        enableServiceLinks ephemeralContainers evictionResponders hostAliases hostIPC hostNetwork hostPID
        hostUsers hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os
        overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources
        restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext
        serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
        terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef
        """
    ),
    "Container": _words(
        """
        args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe
        resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce
        terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir
        """
    ),
    "Deployment": _words(
        """
        minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector strategy
        template
        """
    ),
    "StatefulSet": _words(
        """
        minReadySeconds ordinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas
        revisionHistoryLimit selector serviceName template updateStrategy volumeClaimTemplates
        """
    ),
    "DaemonSet": _words(
        """
        minReadySeconds revisionHistoryLimit selector template updateStrategy
        """
    ),
    "ReplicaSet": _words(
        """
        minReadySeconds replicas selector template
        """
    ),
    "Job": _words(
        """
        activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions failedPodsLimit
        managedBy manualSelector maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy
        scheduling selector successPolicy suspend template ttlSecondsAfterFinished
        """
    ),
    "CronJob": _words(
        """
        concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds
        successfulJobsHistoryLimit suspend timeZone
        """
    ),
    "ReplicationController": _words(
        """
        minReadySeconds replicas selector template templateRef
        """
    ),
}


def misspelt(value: Mapping[str, Any], kind: Kind) -> Iterator[Flaw]:
    """
    Yield each field that no release knows and that is nearly one they know; others may be of a newer release.

    Spec: CONV-24.
    """
    pod = ("spec",) if kind.name == "Pod" and not kind.group else (*kind.template, "spec") if kind.template else ()
    if not pod:
        return
    yield from _unlike(value, pod, "Pod")
    for name in _CONTAINERS:
        found = _at(value, (*pod, name))
        if isinstance(found, list):
            for number in range(len(found)):
                yield from _unlike(value, (*pod, name, number), "Container")
    if kind.name in _FIELDS and kind.name != "Pod":
        yield from _unlike(value, ("spec",), kind.name)
    if kind.name == "CronJob":
        yield from _unlike(value, ("spec", "jobTemplate", "spec"), "Job")


def _unlike(value: Mapping[str, Any], path: Path, fields: str) -> Iterator[Flaw]:
    found = _at(value, path)
    if isinstance(found, dict):
        for name in [each for each in found if each not in _FIELDS[fields]]:
            meant = _meant(name, fields) if isinstance(name, str) else ""
            if meant:
                place = (*path, name)
                yield Flaw(place, f'unknown field "{render(place)}"', f'did you mean "{meant}"?', unknown_field=True)


def _at(value: Any, path: Path) -> Any:
    try:
        return at(value, path)
    except (OtherShape, IndexError, KeyError, TypeError):
        return None


@lru_cache(maxsize=1024)
def _meant(name: str, fields: str) -> str:
    """Return the known field that a name is nearly, or nothing."""
    known = sorted(_FIELDS[fields])
    same = next((each for each in known if each.lower() == name.lower()), "")
    close = [same] if same else difflib.get_close_matches(name, known, n=1, cutoff=_CLOSE_ENOUGH)
    return close[0] if close else ""
