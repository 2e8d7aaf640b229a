"""
Subjects that quotas do not let be made, or not with all their claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.manifest import Documents
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.groups import group_name
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.quota.book import NO_QUOTAS, QuotaBook
from dra_alloc.pods.quota.creation import created, quota_book
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.prepare.subjects import Subject


def forbidden(
    subjects: Sequence[Subject], pods: Sequence[ExpandedPod], given: tuple[Documents, Documents], cluster: Cluster
) -> tuple[tuple[Subject, ...], QuotaBook, tuple[str, ...]]:
    """
    Return the subjects, those that quotas refuse with the API server's answer, the book with the rest, and notes.

    `pods` are those behind the first subjects, in order; `given` are the
    manifests and the dump.

    Spec: QUOTA-20 to QUOTA-26.
    """
    manifests, dump = given
    if not (manifests.quotas or dump.quotas):
        return tuple(subjects), NO_QUOTAS, ()
    extended = cluster.settings.effective_gates().get("DRAExtendedResource", False)
    book = quota_book(manifests, dump, cluster.classes.values(), extended=extended)
    asked = [
        (pod, [each for each in subject.claims if isinstance(each, ResourceClaim)])
        for pod, subject in zip(pods, subjects, strict=False)
    ]
    there = {claim_name(each) for each in (*dump.claims, *manifests.claims)}
    of_groups = [each for name, each in cluster.claims.items() if name not in there and _is_of_group(each)]
    found = created(book, manifests, dump, asked, of_groups)
    answers = [((each.refused or each.unclaimed), each.unmade) for each in found.pods]
    answers += [(None, None)] * (len(subjects) - len(answers))
    refused = {(item.kind, item.metadata.full_name): answer for item, answer in found.refused}
    marked = []
    for subject, (own, unmade) in zip(subjects, answers, strict=True):
        named = [("ResourceClaim", each) for each in subject.claims if isinstance(each, str)]
        if subject.pod is not None:
            named.append(("PodGroup", group_name(subject.pod)))
            named += [("ResourceClaimTemplate", each) for each in _templates(subject.pod)]
        others = [each for each in named if each in refused]
        answer = own or next((refused[each] for each in others), None)
        if answer is None:
            marked.append(subject)
            continue
        claims = {name: each for name, each in found.unmade.items() if name in subject.claims}
        parts = (*claims.values(), *([] if unmade is None else [unmade]))
        # Of what is not made for another reason as well it is not known what it needs.
        told = (own is None or unmade is not None) and all(name in claims for _, name in others)
        barred = Objection("quota", (answer.text,), answer.detail)
        marked.append(replace(subject, barred=barred, unmade=parts if told else ()))
    return tuple(marked), found.book, tuple(found.notes())


def _templates(pod: Pod) -> list[str]:
    """Return the full names of the templates of which a pod's claims are made."""
    named = [each.resource_claim_template_name for each in pod.spec.resource_claims]
    return [f"{pod.metadata.namespace or ''}/{each}" for each in named if each]


def _is_of_group(claim: ResourceClaim) -> bool:
    return any(each.kind == "PodGroup" for each in claim.metadata.owner_references)
