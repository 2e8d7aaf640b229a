"""
What manifests ask for: pods with their claims, and claims and templates no pod uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from dra_alloc.api import ObjectMeta, Pod, ResourceClaim
from dra_alloc.errors import NAME_SHOWN, Problem, Where, first_few, in_brief
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.lost import Lost
from dra_alloc.pods.claim_uses import idle_uses
from dra_alloc.pods.claims import ClaimsThere, going
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.extended_resources import asks_for_extended
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.workloads.names import unique
from dra_alloc.problem.requests import claim_name

if TYPE_CHECKING:
    from dra_alloc.pods.quota.creation import Unmade


@dataclass(frozen=True, slots=True)
class Subject:
    """
    One thing to place: a pod with all its claims, or a claim of its own.

    `claims` holds claim names that exist already or are shared, and claims
    that are made for this subject only. Subjects of one `template`, the name
    of a workload, differ in name only. A `node` is the one that a DaemonSet's pod is for.
    Those that `follow` each other, by the name of their workload, are made one when the one before runs.
    `barred` is why it is never asked of a node: the API server makes no such
    object, or not all its claims, or one of these serves nobody; `unmade` is what quotas refuse of these. `origin` is
    the object of the input that it stands in.
    """

    kind: str
    name: str
    claims: tuple[str | ResourceClaim, ...]
    pod: Pod | None = None
    template: str | None = None
    node: str | None = None
    barred: Objection | None = None
    follows: str = ""
    origin: Any = field(default=None, repr=False, compare=False)
    unmade: tuple[Unmade, ...] = field(default=(), repr=False, compare=False)

    @property
    def needs_devices(self) -> bool:
        """Return whether there is anything to place for DRA, or anything to say."""
        return bool(self.claims or self.barred) or self.pod is None or asks_for_extended(self.pod)


class Subjects(NamedTuple):
    """What manifests ask for, what is wrong with it, and what to know of it."""

    subjects: tuple[Subject, ...]
    wrong: tuple[tuple[Any, Problem], ...]
    notes: tuple[str, ...]


def subjects_of(pods: Sequence[ExpandedPod], manifests: Documents, merged: Documents, lost: Lost) -> Subjects:
    """
    Return the pods with their claims, then the manifests' claims that no pod uses, and templates if nothing else asks.

    `merged` has all claims and templates; what may be among the `lost` is not called missing.
    """
    if not (pods or manifests.claims or manifests.templates):
        return Subjects((), (), ())
    reading = _Reading(manifests, ClaimsThere.of(merged.claims, merged.templates, merged.pod_groups), lost)
    asked = [reading.pod(each) for each in pods]
    subjects = [*(each for each in asked if each is not None), *reading.free_claims()]
    templates = list(reading.free_templates())
    # What is rendered for a cluster can have templates for other days; alone they are what is asked about.
    if manifests.pods or manifests.workloads:
        if templates:
            names = first_few([each.name for each in templates])
            reading.notes[f"no pod uses these claim templates, which are not asked about: {names}"] = None
    else:
        subjects += templates
    return Subjects(tuple(subjects), tuple(reading.wrong.values()), tuple(reading.notes))


@dataclass(slots=True)
class _Reading:
    """One pass over the pods; names are full ones."""

    manifests: Documents
    there: ClaimsThere
    lost: Lost
    used: set[str] = field(default_factory=set)
    specs: set[int] = field(default_factory=set)
    wrong: dict[tuple[int, str], tuple[Any, Problem]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    looked_at: set[tuple[int, str]] = field(default_factory=set)

    def pod(self, asked: ExpandedPod) -> Subject | None:
        """Return the pod with its claims, None for one that is not to be scheduled now."""
        owner, pod = asked.owner, asked.pod
        namespace = pod.metadata.namespace or ""
        for entry in pod.spec.resource_claims if self.manifests.claims or self.manifests.templates else ():
            self.used.add(f"{namespace}/{entry.resource_claim_name}")
            self.used.add(f"template {namespace}/{entry.resource_claim_template_name}")
        if not asked.is_asked:
            return None
        claims: dict[str, str | ResourceClaim] = {}
        entries: dict[str, ResourceClaim] = {}
        barred: Objection | None = None
        for use in self.there.of_pod(pod):
            barred = barred or use.objection
            if use.missing is not None:
                place = "resourceClaimName" if use.missing[0] == "ResourceClaim" else "resourceClaimTemplateName"
                self._missing(owner, f"{asked.path}.resourceClaims[{use.position}].{place}", *use.missing)
            elif use.claim is not None:
                # Entries of one pod may share a claim that is there.
                name = use.claim if isinstance(use.claim, str) else claim_name(use.claim)
                claims.setdefault(name, use.claim)
                called = pod.spec.resource_claims[use.position].name
                entries[called] = self.there.claims[name] if isinstance(use.claim, str) else use.claim
        self._look_at_uses(asked, entries)
        follows = owner.metadata.full_name if asked.in_order else ""
        used = tuple(claims.values())
        return Subject(owner.kind, asked.name, used, pod, asked.template, asked.node, barred, follows, owner)

    def _look_at_uses(self, asked: ExpandedPod, entries: Mapping[str, ResourceClaim]) -> None:
        """Note what containers do not get; pods of one workload are alike."""
        owner = asked.owner
        if entries and (id(owner), asked.path) not in self.looked_at:
            self.looked_at.add((id(owner), asked.path))
            key = f"{owner.kind} {owner.metadata.full_name}"
            self.notes |= dict.fromkeys(f"{key}: {each}" for each in idle_uses(asked.pod, entries))

    def _missing(self, owner: Pod | Workload, path: str, kind: str, full: str) -> None:
        namespace, _, name = full.partition("/")
        if self.lost.may_hold(kind, name, namespace):
            return
        text = f"there is no {kind} {_shown(full)}"
        problem = Problem(text, Where(path=path), "it is neither in the manifests nor in the cluster")
        self.wrong[id(owner), path] = owner, problem  # the same for all pods of a workload

    def free_claims(self) -> Iterator[Subject]:
        """Return the manifests' claims that none of their pods use."""
        for claim in self.manifests.claims:
            name = claim_name(claim)
            if name not in self.used:
                yield Subject("ResourceClaim", name, (name,), barred=going(self.there.claims[name]), origin=claim)

    def free_templates(self) -> Iterator[Subject]:
        """Return one claim for every template that none of the manifests' pods use."""
        for template in self.manifests.templates:
            name = template.metadata.full_name
            if f"template {name}" not in self.used:
                called, namespace = template.metadata.name or "", template.metadata.namespace
                if name in self.there.claims:
                    called = next(unique(f"{called}-", self.there.taken[namespace or ""]))
                claim = ResourceClaim(metadata=ObjectMeta(name=called, namespace=namespace), spec=template.spec.spec)
                yield Subject("ResourceClaimTemplate", name, (claim,), origin=template)


def _shown(full: str) -> str:
    return "/".join(in_brief(part, NAME_SHOWN) for part in full.split("/", 1))
