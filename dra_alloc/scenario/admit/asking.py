"""
What is asked of every queue system alike: documents prepared, what is wrong with them, and where objects were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra_alloc.cluster.attempts.queue import DEFAULT_SCHEDULER, scheduler_of
from dra_alloc.errors import ManifestError, Problem, Where, by_place, first_few
from dra_alloc.manifest import Documents, Workload
from dra_alloc.queues.systems import QueueSystem
from dra_alloc.scenario.admit.answers import AdmitOptions, AdmitVerdict, WorkloadAnswer
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.prepare.subjects import Subject

#: What the API server's own word bars a pod for, before any queue is asked.
_UNMADE: Final = ("quota", "admin-access")


@dataclass(frozen=True, slots=True)
class AdmitQuestion:
    """The question: manifests and dump as they were read, and the system that answers it."""

    manifests: Documents
    dump: Documents
    options: AdmitOptions
    system: QueueSystem


def prepared_for(
    asked: AdmitQuestion,
    manifests: Documents,
    wrong: Iterable[tuple[Workload, Problem]],
    more: Callable[[Prepared], Iterable[tuple[Any, Problem]]] = lambda _: (),
) -> Prepared:
    """
    Return the manifests prepared for their pods to be placed on the dump's cluster.

    `wrong` are problems of the system's objects, `more` finds those of workloads.

    Raises: ManifestError with all that is wrong.
    """
    options, queueing = asked.options, frozenset((*asked.system.groups, *asked.system.beside))
    given = Prepared(
        _left_alone(manifests, queueing),
        _left_alone(asked.dump, queueing),
        options.settings,
        options.namespace,
        taught=options.taught,
    )
    prepared = prepare(given)
    problems = [*prepared.problems, *prepared.manifests.placed(more(prepared))]
    listed = [*wrong, *_shapeless(asked)]
    for documents in (asked.manifests, asked.dump):
        own = set(map(id, documents.queueing))
        problems += documents.placed([each for each in listed if id(each[0]) in own])
    if problems:
        raise ManifestError(by_place(problems))
    return prepared


def _shapeless(asked: AdmitQuestion) -> Iterator[tuple[Workload, Problem]]:
    """Yield objects of queue systems whose spec is none: nothing of it would be read."""
    for each in (*asked.manifests.queueing, *asked.dump.queueing):
        if not isinstance(each.body.get("spec", {}), Mapping | None):
            yield each, Problem("has to be an object", Where(path="spec"))


def _left_alone(documents: Documents, groups: frozenset[str]) -> Documents:
    """Return the documents without those of a queue system among what nobody reads."""
    unknown = {name: count for name, count in documents.unknown.items() if name.partition("/")[0] not in groups}
    return replace(documents, unknown=unknown)


def read_at(prepared: Prepared, items: Sequence[Any]) -> list[Where]:
    """Return where objects of the manifests were read."""
    return [each.where for each in prepared.manifests.placed([(item, Problem("")) for item in items])]


def unmade(subjects: Sequence[Subject]) -> tuple[str, ...]:
    """Return why the API server does not make pods, or not their claims, each reason once."""
    barred = [each.barred for each in subjects if each.barred is not None and each.barred.code in _UNMADE]
    return tuple(dict.fromkeys(each.text for each in barred))


def placed_elsewhere(subjects: Sequence[Subject]) -> str:
    """Return that a scheduler that is not modelled places pods, nothing where kube-scheduler does. Spec: QUEUE-7."""
    named = dict.fromkeys(scheduler_of(each.pod) for each in subjects if each.pod is not None)
    others = [each for each in named if each != DEFAULT_SCHEDULER]
    return f"scheduler {first_few(others)} places its pods, which is not modelled" if others else ""


def left_open(answers: Sequence[WorkloadAnswer]) -> Iterator[str]:
    """Yield that others are placed as if there were none of what is undecided, and was not placed. Spec: QUEUE-5."""
    names = [each.name for each in answers if each.verdict is AdmitVerdict.UNDECIDED and not each.running]
    if names and len(answers) > 1:
        yield f"undecided, and not placed: {first_few(names)}; others are placed as if these took no room on nodes"


def no_pods_of(idle: Sequence[Subject]) -> Iterator[str]:
    """Yield that claims and templates which no pod uses are not asked about."""
    if idle:
        names = first_few([f"{each.kind} {each.name}" for each in idle])
        yield f"queues admit pods; no pod uses these, which are not asked about: {names}"
