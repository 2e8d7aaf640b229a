"""
What manifests ask for, placed as one gang.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dra_alloc.api import ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import InputError, in_brief
from dra_alloc.manifest import Documents
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.gang.gang import GangAnswers, place_gang, place_most, replicas
from dra_alloc.scenario.gang.joint_nodes import common_ground
from dra_alloc.scenario.gang.remarks import fell_short, remarks
from dra_alloc.scenario.gang.shortfall import FellShort
from dra_alloc.scenario.gang.types import Member, Topology
from dra_alloc.scenario.objective_notes import idle_notes
from dra_alloc.scenario.prepare.pipeline import Prepared, needing, prepare
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.work import ran_out


@dataclass(frozen=True, slots=True)
class JointOptions:
    """
    What kind of joint question: all or nothing, or as many as possible.

    With `copies` the manifests' one subject is asked for that often, 0 for as
    often as it fits. `topology` is a node label all must, or should, share;
    `objectives` make the joint placement the best one.
    """

    settings: Settings = DEFAULT_SETTINGS
    namespace: str = "default"
    most: bool = False
    copies: int | None = None
    topology: Topology | None = None
    objectives: tuple[Objective, ...] = ()
    taught: tuple[Taught, ...] = ()


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """
    The scheduler's order and the joint placement side by side.

    `wanted` is how many pods were asked for, `named` what makes them, `short` why they are not all placed.
    """

    answers: GangAnswers
    wanted: int | None
    settings: Settings
    notes: tuple[str, ...]
    cluster: Cluster
    short: FellShort = field(default_factory=FellShort)
    named: str = ""


def place_jointly(manifests: Documents, dump: Documents, options: JointOptions) -> JointAnswer:
    """
    Return where the manifests' pods, claims and templates can be placed together.

    Every subject is one member, with claims of its own. Only nodes count on
    which the pods may run by what they and the nodes say.

    Raises: ManifestError for what is wrong with the manifests; InputError for
    claims that several pods share and for pods that may run on different
    nodes, which no joint question takes;
    EngineUnavailable for objectives without OR-tools.
    """
    given = Prepared(manifests, dump, options.settings, options.namespace, taught=options.taught)
    prepared = needing(prepare(given).required())
    if not prepared.subjects:
        raise InputError("there is nothing to place: the manifests ask for no pods, claims or templates now")
    ground = common_ground(prepared.subjects, prepared.cluster)
    cluster = ground.cluster
    members = tuple(
        Member(each.name, (*_own(each, prepared), *([] if more is None else [more])))
        for each, more in zip(prepared.subjects, ground.extended, strict=True)
    )
    noted = (*prepared.notes, *ground.notes)
    if options.copies is not None:
        if len(members) > 1:
            raise InputError(f"copies are of one pod, claim or template, and the manifests hold {len(members)}")
        wanted = options.copies or None
        named = next((each for each in prepared.subjects[0].claims if isinstance(each, str)), None)
        if named is not None and prepared.subjects[0].pod is not None:
            raise InputError(
                f"{members[0].name} uses claim {named} by its name: copies of the pod would share it",
                hint="ask for copies of a pod whose claims come from a template",
            )
        answers = replicas(cluster, members[0].claims, wanted, options.objectives)
        notes = (*noted, *_idle(options, cluster, answers), *ran_out())
        return JointAnswer(answers, wanted, options.settings, notes, cluster)
    if options.most:
        answers = place_most(cluster, members, options.objectives)
    else:
        answers = place_gang(cluster, members, options.topology, objectives=options.objectives)
    short = fell_short(cluster, members, answers.joint, options.topology)
    said = remarks(cluster, answers.joint, options.topology)
    notes = (*noted, *_idle(options, cluster, answers), *said, *ran_out())
    return JointAnswer(answers, len(members), options.settings, notes, cluster, short, _named(prepared.subjects))


def _named(subjects: Sequence[Subject]) -> str:
    """Return what makes the pods, or which they are."""
    makers = list(dict.fromkeys((each.origin.kind, each.origin.metadata.full_name) for each in subjects))
    kind, name = makers[0]
    return f"{kind} {in_brief(name)}{f' and {len(makers) - 1} more' if len(makers) > 1 else ''}"


def _idle(options: JointOptions, cluster: Cluster, answers: GangAnswers) -> Iterator[str]:
    placed = [claim_name(claim) for each in answers.joint.placements for claim in each.member.claims]
    return idle_notes(options.objectives, cluster, placed)


def _own(subject: Subject, prepared: Prepared) -> Sequence[ResourceClaim]:
    claims = []
    for each in subject.claims:
        if not isinstance(each, str):
            claims.append(each)
            continue
        others = [other.name for other in prepared.subjects if each in other.claims and other is not subject]
        claim = prepared.cluster.claims[each]
        if others or claim.status.allocation is not None:
            reason = f"shared with {others[0]}" if others else "allocated already"
            raise InputError(
                f"{subject.name} uses claim {each}, which is {reason}", hint="a gang's pods need claims of their own"
            )
        claims.append(claim)
    return claims
