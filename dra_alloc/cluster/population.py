"""
What else is in a cluster that matters to pods: pods with a node and groups, namespaces, templates of claims, quotas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.api import FrozenMap, Namespace, ObjectMeta, Pod, PodGroup, ResourceClaimTemplate, ResourceQuota
from dra_alloc.manifest import Documents
from dra_alloc.pods.filters.claimed_volumes import NO_VOLUMES, Volumes
from dra_alloc.pods.groups import groups_by_name
from dra_alloc.pods.quota.book import NO_QUOTAS, QuotaBook
from dra_alloc.pods.siblings import NO_SIBLINGS, Siblings
from dra_alloc.pods.views import is_finished


@dataclass(frozen=True, slots=True)
class Population:
    """
    The pods that hold room on nodes, the labels of namespaces, and templates of claims by ``namespace/name``.

    Where there are quotas the `book` has what is used of them, that of the pods
    of `charged` names included. `siblings` says which pods a set makes, `groups` are pod groups by full name.
    """

    pods: tuple[Pod, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=FrozenMap)
    templates: Mapping[str, ResourceClaimTemplate] = field(default_factory=FrozenMap)
    quotas: tuple[ResourceQuota, ...] = ()
    book: QuotaBook = field(default=NO_QUOTAS, repr=False, compare=False)
    charged: frozenset[str] = frozenset()
    siblings: Siblings = NO_SIBLINGS
    groups: Mapping[str, PodGroup] = field(default_factory=FrozenMap)
    volumes: Volumes = NO_VOLUMES

    @classmethod
    def of(cls, documents: Documents, *, extended: bool = False) -> Population:
        """Return what loaded objects say; `extended` is the gate DRAExtendedResource."""
        book, charged = NO_QUOTAS, frozenset[str]()
        if documents.quotas:
            book = QuotaBook.of(documents.quotas, documents, documents.classes, extended=extended)
            charged = frozenset([each.metadata.full_name for each in documents.pods])
        return cls(
            _running(documents.pods),
            FrozenMap({each.metadata.name or "": each.metadata.labels for each in documents.namespaces}),
            FrozenMap({each.metadata.full_name: each for each in documents.templates}),
            documents.quotas,
            book,
            charged,
            siblings=Siblings.of(documents.workloads, documents.services),
            groups=FrozenMap(dict(groups_by_name(documents.pod_groups, documents.priority_classes))),
            volumes=Volumes.of(documents),
        )

    @property
    def objects(self) -> tuple[object, ...]:
        """All there is, with namespaces as they are known here."""
        namespaces = [
            Namespace.made(metadata=ObjectMeta.made(name=name, labels=labels))
            for name, labels in self.namespaces.items()
        ]
        others = (*self.quotas, *self.groups.values(), *self.volumes.objects)
        return (*self.pods, *self.templates.values(), *namespaces, *others)

    def with_pods(self, pods: Iterable[Pod]) -> Population:
        """Return the same with those more pods that hold room."""
        return replace(self, pods=(*self.pods, *_running(pods)))


def _running(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    return tuple(pod for pod in pods if pod.spec.node_name and not is_finished(pod))


NOBODY: Final = Population()
