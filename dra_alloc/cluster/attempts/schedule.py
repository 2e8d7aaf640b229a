"""
Pods as programs give them, scheduled on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.arguments import listed
from dra_alloc.cluster.attempts.queue import Queued
from dra_alloc.cluster.attempts.scheduled import PodOutcome, Scheduled
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.attempts.taking import with_taken
from dra_alloc.cluster.attempts.turns import scheduled
from dra_alloc.cluster.attempts.ways import Ways
from dra_alloc.cluster.population import Population
from dra_alloc.errors import InputError
from dra_alloc.pods.claims import claim_from_template
from dra_alloc.pods.groups import group_name, is_of_group
from dra_alloc.pods.objections import Objection
from dra_alloc.solve.ladder import Budget

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

#: How a node is chosen of those that fit: as kube-scheduler scores them, or the first.
CHOICES = ("score", "first")
_WANTED = "pods: Pod objects, dictionaries, or models of the Kubernetes client"


@dataclass(frozen=True, eq=False)
class Schedule:
    """What became of each pod, in the order asked; `before` is the cluster they were scheduled on."""

    before: Cluster = field(repr=False)
    pods: tuple[Pod, ...] = field(repr=False)
    outcomes: tuple[PodOutcome, ...]
    population: Population = field(repr=False)

    @property
    def scheduled(self) -> int:
        """Return how many pods found a node."""
        return sum(isinstance(each, Scheduled) for each in self.outcomes)

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster in which the pods run that found a node."""
        placed = [
            (pod, each) for pod, each in zip(self.pods, self.outcomes, strict=True) if isinstance(each, Scheduled)
        ]
        bound = [
            with_taken(pod.replaced(spec=pod.spec.replaced(node_name=each.node)), each.takes) for pod, each in placed
        ]
        after = self.before.with_claims(claim for _, each in placed for claim in each.claims)
        return type(after)(after.known.populated(self.population.with_pods(bound)))

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[PodOutcome]:
        return iter(self.outcomes)

    def __getitem__(self, number: int) -> PodOutcome:
        return self.outcomes[number]


def schedule(cluster: Cluster, given: Iterable[Any], node_choice: str, budget: Budget) -> Schedule:
    """Return what becomes of the pods. Raises: InputError for what is no pod, and for another way to choose."""
    if node_choice not in CHOICES:
        raise InputError(f"unknown node_choice {node_choice!r}", hint=f"one of {', '.join(CHOICES)}")
    pods = [_pod(each, f"pods[{number}]") for number, each in enumerate(listed(given, "pods", _WANTED))]
    queued, population = _created([queued_of(pod, cluster) for pod in pods], cluster.population)
    scheduling = Scheduling(cluster, Ways(node_choice == "first", budget=budget), population.book)
    outcomes = tuple(scheduled(scheduling, queued))
    return Schedule(cluster, tuple(pods), outcomes, replace(population, book=scheduling.book))


def _created(pods: Sequence[Queued], population: Population) -> tuple[Sequence[Queued], Population]:
    """
    Return the pods, those barred that quotas do not let be made, or not with all their claims; and what quotas know.

    Spec: QUOTA-12, QUOTA-23.
    """
    if not population.book.accounts:
        return pods, population
    book, charged, made = population.book, set(population.charged), list[Queued]()
    for each in pods:
        items: list[Pod | ResourceClaim] = [] if each.name in charged else [each.pod]
        book, refusal = book.charge_all(items)
        if refusal is None:
            charged.add(each.name)
            book, refusal = book.charge_all(claim for claim in each.claims if not isinstance(claim, str))
        made.append(
            each if refusal is None else replace(each, barred=Objection("quota", (refusal.text,), refusal.detail))
        )
    return made, replace(population, book=book, charged=frozenset(charged))


def queued_of(pod: Pod, cluster: Cluster) -> Queued:
    """
    Return the pod with its claims.

    Those that were made from templates are the ones its status names; others
    are made from the cluster's templates, and where there is none, it waits.
    Those of its group are shared, and made before.
    """
    meta = pod.metadata
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    claims: list[str | ResourceClaim] = []
    generated: set[str] = set()
    missing: list[str] = []
    group = cluster.population.groups.get(group_name(pod))
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_name:
            claims.append(_full(pod, entry.resource_claim_name))
        elif group is not None and is_of_group(entry, group.spec.resource_claims):
            found = next((each for each in group.status.resource_claim_statuses if each.name == entry.name), None)
            name = made.get(entry.name) or (found.resource_claim_name if found is not None else None)
            if name:
                claims.append(_full(pod, name))
            else:
                missing.append(f'pod "{meta.full_name}": ResourceClaim not created yet')
        elif entry.name in made:
            name = made[entry.name]
            if name:
                claims.append(_full(pod, name))
                generated.add(_full(pod, name))
        elif entry.resource_claim_template_name:
            template = cluster.population.templates.get(_full(pod, entry.resource_claim_template_name))
            if template is None:
                missing.append(f'pod "{meta.full_name}": ResourceClaim not created yet')
            else:
                claims.append(claim_from_template(template, pod, entry.name))
    return Queued(pod, tuple(_each_once(claims)), frozenset(generated), tuple(missing))


def _each_once(claims: Sequence[str | ResourceClaim]) -> Iterator[str | ResourceClaim]:
    """Yield the claims; entries of a pod that name one claim share it."""
    seen: set[str] = set()
    for each in claims:
        if not isinstance(each, str) or each not in seen:
            yield each
        if isinstance(each, str):
            seen.add(each)


def _full(pod: Pod, name: str) -> str:
    return f"{pod.metadata.namespace}/{name}" if pod.metadata.namespace else name


def _pod(given: Any, place: str) -> Pod:
    """Return a pod of ours, of plain values or of the client's model. Raises: InputError."""
    if isinstance(given, Pod):
        return given
    plain = given.to_dict() if hasattr(given, "to_dict") and not isinstance(given, Mapping) else given
    if not isinstance(plain, Mapping):
        raise InputError(
            f"{place} is a {type(given).__name__}, not a pod", hint=f"schedule takes a sequence of {_WANTED}"
        )
    kind = plain.get("kind") or "Pod"
    if kind != "Pod":
        raise InputError(f"{place} is a {kind}, not a pod", hint="expand makes the pods of a workload")
    try:
        return Pod.model_validate(_timed(plain))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(map(str, first["loc"]))
        raise InputError(f"{place}.{path}: {first['msg']}") from None


def _timed(value: Any) -> Any:
    """Return plain values with times as text: the client's models have them as objects."""
    if isinstance(value, Mapping):
        return {key: _timed(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_timed(each) for each in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value
