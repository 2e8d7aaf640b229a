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
from dra_alloc.manifest.make.known_fields import CONTAINER, POD, QUEUED, words
from dra_alloc.manifest.make.workloads import at
from dra_alloc.manifest.read.paths import Path, render

_CONTAINERS: Final = ("containers", "initContainers")
_CLOSE_ENOUGH: Final = 0.8

#: The fields that releases 1.34 to 1.38 know of the specs of what makes pods.
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "Deployment": words(
        """
        minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector strategy
        template
        """
    ),
    "StatefulSet": words(
        """
        minReadySeconds ordinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas
        revisionHistoryLimit selector serviceName template updateStrategy volumeClaimTemplates
        """
    ),
    "DaemonSet": words(
        """
        minReadySeconds revisionHistoryLimit selector template updateStrategy
        """
    ),
    "ReplicaSet": words(
        """
        minReadySeconds replicas selector template
        """
    ),
    "Job": words(
        """
        activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions failedPodsLimit
        managedBy manualSelector maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy
        scheduling selector successPolicy suspend template ttlSecondsAfterFinished
        """
    ),
    "CronJob": words(
        """
        concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds
        successfulJobsHistoryLimit suspend timeZone
        """
    ),
    "ReplicationController": words(
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
    for steps, known in QUEUED.get((kind.group, kind.name), {}).items():
        for path in _places(value, tuple(steps.split(".")), ()):
            yield from _unlike(value, path, known)
    pod = ("spec",) if kind.name == "Pod" and not kind.group else (*kind.template, "spec") if kind.template else ()
    if not pod:
        return
    yield from _unlike(value, pod, POD)
    for name in _CONTAINERS:
        for path in _places(value, (*pod, name, "*"), ()):
            yield from _unlike(value, path, CONTAINER)
    if kind.name in _FIELDS:
        yield from _unlike(value, ("spec",), _FIELDS[kind.name])
    if kind.name == "CronJob":
        yield from _unlike(value, ("spec", "jobTemplate", "spec"), _FIELDS["Job"])


def _places(value: Any, steps: tuple[str, ...], before: Path) -> Iterator[Path]:
    """Yield the paths that are there of those that steps with stars stand for, a star for each member of a list."""
    if not steps:
        yield before
    elif steps[0] != "*":
        if isinstance(value, dict) and steps[0] in value:
            yield from _places(value[steps[0]], steps[1:], (*before, steps[0]))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _places(each, steps[1:], (*before, number))


def _unlike(value: Mapping[str, Any], path: Path, known: frozenset[str]) -> Iterator[Flaw]:
    found = _at(value, path)
    if isinstance(found, dict):
        for name in [each for each in found if each not in known]:
            meant = _meant(name, known) if isinstance(name, str) else ""
            if meant:
                place = (*path, name)
                yield Flaw(place, f'unknown field "{render(place)}"', f'did you mean "{meant}"?', unknown_field=True)


def _at(value: Any, path: Path) -> Any:
    try:
        return at(value, path)
    except (OtherShape, IndexError, KeyError, TypeError):
        return None


@lru_cache(maxsize=1024)
def _meant(name: str, known: frozenset[str]) -> str:
    """Return the known field that a name is nearly, or nothing."""
    names = sorted(known)
    same = next((each for each in names if each.lower() == name.lower()), "")
    close = [same] if same else difflib.get_close_matches(name, names, n=1, cutoff=_CLOSE_ENOUGH)
    return close[0] if close else ""
