"""
The check: everything the manifests ask for, placed in order on one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.settings import Settings
from dra_alloc.manifest import Documents
from dra_alloc.manifest.make.gates import DroppedField
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.scenario.answers import DEFAULT_OPTIONS, CheckOptions, SubjectAnswer
from dra_alloc.scenario.checking import Checking
from dra_alloc.scenario.objective_notes import idle_notes
from dra_alloc.scenario.prepare.notes import OF_TAINT_RULES
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.prepare.supply import EXTENDED, unserved
from dra_alloc.scenario.refused.looking import Looking
from dra_alloc.scenario.refused.otherwise import broken_claims, told_of_gates, ways_on
from dra_alloc.work import ran_out


@dataclass(frozen=True, slots=True)
class Check:
    """
    All placements in order, notes on how the input was read, the cluster after them, and the pods that were made.
    """

    placements: tuple[SubjectAnswer, ...]
    settings: Settings
    channel: str
    notes: tuple[str, ...] = ()
    scheduling: Scheduling | None = field(default=None, repr=False)
    pods: tuple[ExpandedPod, ...] = field(default=(), repr=False)

    @property
    def cluster(self) -> Cluster | None:
        """The cluster after all of them."""
        return None if self.scheduling is None else self.scheduling.cluster


def check(manifests: Documents, dump: Documents, options: CheckOptions = DEFAULT_OPTIONS) -> Check:
    """
    Return what the manifests' pods and claims get on the dumped cluster.

    The manifests are applied to the dump first, see :func:`prepare`. Pods are
    scheduled one after the other as kube-scheduler does it, together with those
    that wait in the dump; each sees what earlier ones took. Then claims and
    templates that no pod uses are placed.

    Raises: ManifestError with every reference and selector that is wrong;
    UnknownReference for a node that does not exist; InputError for settings;
    EngineUnavailable for objectives without OR-tools.
    """
    options, notes = _as_promised(options)
    prepared = _prepared(manifests, dump, options)
    found = placed(prepared, options)
    placements = found.placements
    if options.reasons and any(each.verdict == "unsatisfiable" for each in placements):
        lacking = prepared.lacking, unserved(prepared.subjects, prepared.cluster)
        placements = _with_gates(placements, *lacking, partial(_prepared, manifests, dump), options)
    broken = broken_claims(found.cluster or prepared.cluster, placements)
    if any(broken.values()):
        placements = tuple([replace(each, broken=broken.get(number, ())) for number, each in enumerate(placements)])
    notes = (*notes, *found.notes, *ran_out())
    if options.objectives:
        names = [claim_name(claim) for each in placements if each.allocated for claim in each.allocated.claims]
        notes = (*notes, *idle_notes(options.objectives, prepared.cluster, names))
    return replace(found, placements=placements, notes=notes)


def placed(prepared: Prepared, options: CheckOptions) -> Check:
    """Return what subjects that are prepared get on their cluster, one after the other as kube-scheduler goes."""
    looking = Looking(_lost(prepared)) if options.reasons else None
    checking = Checking(prepared, options, looking)
    placements, channel = checking.placements(), str(options.settings.profile().channel)
    notes = (*prepared.notes, *checking.notes())
    return Check(placements, options.settings, channel, notes, checking.scheduling, prepared.pods)


def _lost(prepared: Prepared) -> Iterator[str]:
    """Yield the gates with which there would be more of what is given: fields, or rules that taint devices."""
    yield from (each.gate for each in prepared.lacking)
    if (prepared.manifests.taint_rules or prepared.dump.taint_rules) and not prepared.settings.merges_taint_rules():
        yield from OF_TAINT_RULES


def _prepared(manifests: Documents, dump: Documents, options: CheckOptions) -> Prepared:
    given = Prepared(manifests, dump, options.settings, options.namespace, options.node, options.taught)
    prepared = prepare(given).required()
    if options.node is not None:
        prepared.cluster.node(options.node)
    return prepared


def _with_gates(
    placements: Sequence[SubjectAnswer],
    dropped: Sequence[DroppedField],
    resources: Sequence[str],
    prepared: Callable[[CheckOptions], Prepared],
    options: CheckOptions,
) -> tuple[SubjectAnswer, ...]:
    """
    Return the answers, with the fewest gates as the cause of those that are allocated once these are on.

    Spec: EXPLAIN-14.
    """
    gates = dict.fromkeys([*(each.gate for each in dropped), *([EXTENDED] if resources else [])])
    helping: dict[int, list[dict[str, bool]]] = {
        number: [] for number, each in enumerate(placements) if each.verdict == "unsatisfiable"
    }
    for chosen in ways_on(options.settings, gates):
        asked = [number for number, ways in helping.items() if not ways or len(ways[0]) == len(chosen)]
        if asked:
            options_on = replace(options, settings=options.settings.changed(None, chosen), choices=False)
            found = Checking(prepared(options_on), options_on).placements()
            helped = {each.name for each in found if each.allocated is not None}
            for number in asked:
                helping[number] += [chosen] if placements[number].name in helped else []
    told = {number: told_of_gates(ways, dropped, resources, options.settings) for number, ways in helping.items()}
    return tuple([replace(each, **told.get(number, {})) for number, each in enumerate(placements)])


def _as_promised(options: CheckOptions) -> tuple[CheckOptions, tuple[str, ...]]:
    """Return the options with intended semantics if there are objectives, and a note if that is a change."""
    settings = options.settings
    if not options.objectives or settings.semantics == Semantics.INTENDED:
        return options, ()
    note = "objectives are asked for what the API promises: kube-scheduler takes the first answer, with its defects"
    return replace(options, settings=replace(settings, semantics=Semantics.INTENDED.value)), (note,)
