"""
The check: everything the manifests ask for, placed in order on one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dra_alloc.api import Node, ObjectMeta, Pod
from dra_alloc.cluster.attempts.grouping import GROUP_CODE
from dra_alloc.cluster.attempts.queue import Queued, in_order
from dra_alloc.cluster.attempts.rollouts import turns
from dra_alloc.cluster.attempts.schedule import queued_of
from dra_alloc.cluster.attempts.scheduled import NotAsked, PodOutcome, Scheduled, Unschedulable, Unsettled, Waiting
from dra_alloc.cluster.attempts.scheduling import Candidates, Scheduling, Ways
from dra_alloc.cluster.best_place import BestWanted, best_place
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.manifest import Documents
from dra_alloc.pods.expanding import ExpandedPod
from dra_alloc.pods.groups import group_name, is_grouping
from dra_alloc.pods.workloads.plans import Rollout
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.pods.workloads.states import PodState, state_of
from dra_alloc.problem.requests import claim_name
from dra_alloc.profiles import Semantics
from dra_alloc.scenario.advice import advised
from dra_alloc.scenario.explaining import NotTaken, choice_on
from dra_alloc.scenario.group_notes import GroupSeen, group_answers
from dra_alloc.scenario.looking import Looking
from dra_alloc.scenario.objective_notes import idle_notes
from dra_alloc.scenario.otherwise import broken_claims, gates_on, told_of_gates
from dra_alloc.scenario.pod_fixes import with_fixes
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.solve.allocator import DEFAULT_BUDGET, Budget
from dra_alloc.solve.best.objectives import Objective, knowing_nodes
from dra_alloc.solve.outcome import Work
from dra_alloc.work import evenly, ran_out

__all__ = ["Check", "CheckOptions", "SubjectAnswer", "check", "placed"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """
    How to check: on all nodes or one, and with how much work per question.

    `choices` asks why an allocation is the one it is, too. With `objectives`
    each subject gets the best answer instead of the first, with intended
    semantics whatever the settings say. `node_choice` is "score", the node
    that kube-scheduler scores highest, or "first", the first that fits. Without
    `reasons` it is only found out who is allocated.
    """

    settings: Settings = DEFAULT_SETTINGS
    node: str | None = None
    namespace: str = "default"
    budget: Budget = DEFAULT_BUDGET
    choices: bool = False
    objectives: tuple[Objective, ...] = ()
    taught: tuple[Taught, ...] = ()
    node_choice: str = "score"
    reasons: bool = True


@dataclass(frozen=True, slots=True)
class SubjectAnswer:
    """
    What became of one subject.

    `nodes` fit, in cluster order; `allocated` is the answer on one of them, and
    `equal` are those that kube-scheduler scores as high. Without one `refusals`
    say why not, node by node, as far as nodes were looked into (`nodes_asked`
    counts them all); `undecided` nodes ran out of budget. With `aborts`
    kube-scheduler gives the pod up with an error. `same_as` names an earlier
    copy of the same workload that was refused on the same cluster, and so for
    the same reasons. `solver_could` says that CP-SAT could decide an undecided
    node; `cause` what stands in the way on all nodes alike, `fix` what helps, `where` where the object was read.
    """

    kind: str
    name: str
    nodes: Sequence[str] = ()
    allocated: Allocated | None = None
    refusals: tuple[NodeRefusal, ...] = ()
    undecided: tuple[str, ...] = ()
    nodes_asked: int = 0
    aborts: bool = False
    choice: NotTaken | None = None
    same_as: str | None = None
    solver_could: bool = False
    equal: Sequence[str] = ()
    needs_devices: bool = True
    cause: str = ""
    fix: str = ""
    where: Where = field(default_factory=Where)

    @property
    def verdict(self) -> str:
        """Return allocated, undecided or unsatisfiable."""
        if self.allocated is not None:
            return "allocated"
        return "undecided" if self.undecided and not self.aborts else "unsatisfiable"

    @property
    def is_idle(self) -> bool:
        """Return whether it is a pod that runs and needs no devices."""
        return self.allocated is not None and not self.needs_devices

    @property
    def unexplained(self) -> int:
        """Return how many nodes refused without having been looked into; an error that ends it all speaks for all."""
        if self.allocated is not None or self.aborts:
            return 0
        return self.nodes_asked - len(self.refusals) - len(self.undecided)


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


def check(manifests: Documents, dump: Documents, options: CheckOptions = CheckOptions()) -> Check:
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
    if options.reasons and prepared.lacking and any(each.verdict == "unsatisfiable" for each in placements):
        placements = _with_gates(placements, prepared.lacking, partial(_prepared, manifests, dump), options)
    allocated = [each.allocated for each in placements if each.allocated is not None and not each.same_as]
    notes = (*notes, *found.notes, *broken_claims(found.cluster or prepared.cluster, allocated), *ran_out())
    if options.objectives:
        names = [claim_name(claim) for each in placements if each.allocated for claim in each.allocated.claims]
        notes = (*notes, *idle_notes(options.objectives, prepared.cluster, names))
    return replace(found, placements=placements, notes=notes)


def placed(prepared: Prepared, options: CheckOptions) -> Check:
    """Return what subjects that are prepared get on their cluster, one after the other as kube-scheduler goes."""
    checking = _Checking(prepared, options, Looking() if options.reasons else None)
    placements, channel = checking.placements(), str(options.settings.profile().channel)
    notes = (*prepared.notes, *checking.notes())
    return Check(placements, options.settings, channel, notes, checking.scheduling, prepared.pods)


def _prepared(manifests: Documents, dump: Documents, options: CheckOptions) -> Prepared:
    given = Prepared(manifests, dump, options.settings, options.namespace, options.node, options.taught)
    prepared = prepare(given).required()
    if options.node is not None:
        prepared.cluster.node(options.node)
    return prepared


def _with_gates(
    placements: Sequence[SubjectAnswer],
    gates: Sequence[str],
    prepared: Callable[[CheckOptions], Prepared],
    options: CheckOptions,
) -> tuple[SubjectAnswer, ...]:
    """
    Return the answers, with the gates as the cause of those that are allocated once these are on.

    Spec: EXPLAIN-14.
    """
    settings = gates_on(options.settings, gates)
    if settings is None:
        return tuple(placements)
    options_on = replace(options, settings=settings, choices=False)
    found = _Checking(prepared(options_on), options_on).placements()
    helped = {each.name for each in found if each.allocated is not None}
    told = told_of_gates([each for each in gates if each in settings.gates], options.settings)
    refused = (each.verdict == "unsatisfiable" and each.name in helped for each in placements)
    return tuple([replace(each, **told) if gate else each for each, gate in zip(placements, refused, strict=True)])


def _as_promised(options: CheckOptions) -> tuple[CheckOptions, tuple[str, ...]]:
    """Return the options with intended semantics if there are objectives, and a note if that is a change."""
    settings = options.settings
    if not options.objectives or settings.semantics == Semantics.INTENDED:
        return options, ()
    note = "objectives are asked for what the API promises: kube-scheduler takes the first answer, with its defects"
    return replace(options, settings=replace(settings, semantics=Semantics.INTENDED.value)), (note,)


class _Checking:
    """
    One check under way: subjects are asked in turn, and refusals explained as the cluster is then.

    Without anything for `looking` into refusals it is only found out who is allocated.
    """

    def __init__(self, prepared: Prepared, options: CheckOptions, looking: Looking | None = None) -> None:
        self._prepared = prepared
        self._options = options
        self._objectives = options.objectives
        self._looking = looking
        self._said: dict[str, list[str]] = {}
        self._groups: dict[str, GroupSeen] = {}
        self._others = _waiting_pods(prepared)
        self._others_placed = 0
        cluster = prepared.cluster
        self._grouping = is_grouping(options.settings.release, options.settings.effective_gates())
        best = self._best if options.objectives else None
        ways = Ways(options.node_choice == "first", options.node, best, options.budget)
        named = {each.name for each in prepared.subjects if each.pod is not None and each.pod.spec.node_name}
        self.scheduling = Scheduling(cluster, ways, prepared.book, named)
        self._amounts = not (prepared.manifests.limit_ranges or prepared.dump.limit_ranges)
        self._read_at = {} if looking is None else _places(prepared)
        self._nodes = cluster.nodes if options.node is None else (cluster.node(options.node),)

    def placements(self) -> tuple[SubjectAnswer, ...]:
        """Return what becomes of all subjects, in the order of the scheduler's queue; claims alone come last."""
        subjects = self._prepared.subjects
        only = self._options.node
        for each in (each for each in subjects if only is not None and each.node not in (None, only)):
            self._said.setdefault(f"for another node than {only}, so not asked", []).append(each.name)
        subjects = tuple(each for each in subjects if only is None or each.node in (None, only))
        pods = [each for each in subjects if each.pod is not None]
        alone = [each for each in subjects if each.pod is None]
        return (*self._asked(pods, self._others), *self._asked(alone, ()))

    def _asked(self, subjects: Sequence[Subject], others: Sequence[Queued]) -> Iterator[SubjectAnswer]:
        """Yield what becomes of subjects that wait together with other pods, which were there before."""
        found: dict[int, SubjectAnswer] = {}
        before = self.scheduling.cluster
        queued = list(map(_queued, subjects))
        tried = turns(self.scheduling, others, queued, list(self._rollouts(subjects)))
        for turn in evenly(tried, len(others) + len(queued)):
            number = turn.number - len(others)
            if number < 0:
                self._others_placed += isinstance(turn.outcome, Scheduled)
                continue
            self._note_group(subjects[number], turn.outcome)
            if turn.same_as is None:
                found[number] = self._placement(subjects[number], turn.outcome, before)
            else:
                first = found[turn.same_as - len(others)]
                found[number] = replace(first, name=subjects[number].name, same_as=first.name)
            if self._options.choices:
                before = self.scheduling.cluster
        yield from (found[number] for number in in_order(queued))

    def _rollouts(self, subjects: Sequence[Subject]) -> Iterator[tuple[Rollout, Sequence[int]]]:
        """Yield rollouts with the numbers of the pods that they make."""
        made = dict[int, list[int]]()
        for number, each in enumerate(subjects):
            made.setdefault(id(each.origin), []).append(number)
        for origin, rollout in self._prepared.rollouts:
            new = made.get(id(origin), [])
            if not any(group_name(pod) for number in new if (pod := subjects[number].pod) is not None):
                yield rollout, new

    def _note_group(self, subject: Subject, outcome: PodOutcome) -> None:
        """Note what becomes of a pod of a group; when the first is refused as one, all is as before the attempt."""
        name = group_name(subject.pod) if subject.pod is not None and self._grouping else ""
        if not name:
            return
        seen = self._groups.setdefault(name, GroupSeen({}, []))
        seen.pods[subject.name] = subject, isinstance(outcome, Scheduled)
        if isinstance(outcome, Unschedulable) and outcome.code == GROUP_CODE and not seen.before:
            seen.before.append(self.scheduling.cluster)

    def _placement(self, subject: Subject, outcome: PodOutcome, before: Cluster) -> SubjectAnswer:
        """Return what an outcome comes to; `before` is the cluster in which choices are explained."""
        nodes = self._nodes_for(subject)
        where = self._read_at.get(id(subject.origin), Where())
        placement = SubjectAnswer(
            subject.kind, subject.name, nodes_asked=len(nodes), needs_devices=subject.needs_devices, where=where
        )
        for note in outcome.notes:
            self._said.setdefault(note, []).append(subject.name)
        match outcome:
            case Scheduled(allocated=allocated, fits=fits, equal=equal, undecided=undecided):
                found = replace(placement, nodes=fits, allocated=allocated, equal=equal, undecided=undecided)
                if self._options.choices and not self._options.objectives:
                    found = replace(found, choice=choice_on(before, allocated))
                return found
            case Unsettled(undecided=undecided, solver_could=could):
                return replace(placement, undecided=undecided, solver_could=could)
            case NotAsked(node=node):
                return self._put(subject, placement, node)
            case Unschedulable(aborts=True):
                cluster, refused = self.scheduling.cluster, outcome.refusals
                advice = tuple(advised(cluster, outcome.claims_on(each.node), each) for each in refused)
                return replace(placement, refusals=advice, aborts=True)
            case Unschedulable(text="") if self._looking is not None:
                names = {node.metadata.name for node in nodes}
                asked = [each for each in outcome.refusals if each.node in names]
                told = self._looking.into(self.scheduling.cluster, outcome, asked)
                return replace(placement, refusals=with_fixes(self.scheduling, _queued(subject), told, self._amounts))
            case Unschedulable(code=code, text=text, detail=said) | Waiting(code=code, text=text, detail=said):
                return replace(placement, refusals=_everywhere(nodes, code, text, said))

    def _nodes_for(self, subject: Subject) -> Sequence[Node]:
        """Return the nodes that have something to say: a pod of a DaemonSet, or one that names its node, is for one."""
        named = subject.node or (subject.pod.spec.node_name if subject.pod is not None else None)
        place = self._prepared.cluster.known.roster.places.get(named or "")
        return self._nodes if place is None else (self._prepared.cluster.nodes[place],)

    def _put(self, subject: Subject, placement: SubjectAnswer, name: str) -> SubjectAnswer:
        """Return what becomes of a pod that names its node: nobody allocates its claims."""
        claims = self.scheduling.cluster.claims
        named = [claims[each] if isinstance(each, str) else each for each in subject.claims]
        lacking = [claim_name(each) for each in named if each.status.allocation is None]
        text = ""
        if name not in self._prepared.cluster.known.roster.places:
            text = f"the pod names node {name}, which is not there"
        elif lacking:
            text = f"the pod names node {name}, so that no scheduler allocates its claims: {first_few(lacking)}"
        if text:
            return replace(placement, refusals=_everywhere(self._nodes, "node-name", text))
        return replace(placement, nodes=(name,), allocated=Allocated(name, tuple(named), Work()))

    def _best(self, candidates: Candidates) -> Allocated | None:
        """Return the best answer by the objectives, to which its node is then known."""
        cluster, budget = candidates.cluster, self._options.budget
        wanted = BestWanted(candidates.claims, self._objectives, budget, same_everywhere=candidates.alike)
        answer = best_place(cluster, wanted, candidates.nodes)
        if answer is not None:
            self._objectives = tuple(knowing_nodes(each, (answer.node,)) for each in self._objectives)
        return answer

    def notes(self) -> Iterator[str]:
        """Yield what is not looked at and could change an answer."""
        if self._others:
            count, placed = len(self._others), self._others_placed
            yield f"pods that wait in the cluster are in the queue, too: {count}, of which {placed} find a node"
        yield from group_answers(self._groups, self._prepared.cluster)
        for note, names in self._said.items():
            yield f"{first_few(names)}: {note}"
        silent = [node.metadata.name or "" for node in self._nodes if not node.status.allocatable]
        pods = (each.pod for each in self._prepared.subjects if each.pod is not None)
        if silent and any(self.scheduling.tenancy.view(pod).requests for pod in pods):
            said = "no status.allocatable, so that cpu, memory and the like are not looked at there"
            yield f"{first_few(silent)}: {said}"


def _queued(subject: Subject) -> Queued:
    """Return a subject as the scheduler has it."""
    pod = subject.pod
    if pod is None:
        namespace, _, name = subject.name.rpartition("/")
        bare = Pod.made(metadata=ObjectMeta.made(name=name, namespace=namespace))
        return Queued(bare, subject.claims, barred=subject.barred, alone=True)
    return Queued(pod, subject.claims, barred=subject.barred, template=subject.template, follows=subject.follows)


def _waiting_pods(prepared: Prepared) -> tuple[Queued, ...]:
    """Return the pods of the dump that wait for a node and are not the manifests'."""
    asked = {each.name for each in prepared.pods}
    waiting = [each for each in prepared.dump.pods if state_of(each) is PodState.WAITING or _holds_back(each)]
    return tuple([queued_of(each, prepared.cluster) for each in waiting if each.metadata.full_name not in asked])


def _holds_back(pod: Pod) -> bool:
    """Return whether a pod that waits for a gate has a group, which waits with it."""
    return state_of(pod) is PodState.GATED and bool(group_name(pod))


def _places(prepared: Prepared) -> dict[int, Where]:
    """Return where the objects were read that subjects stand in, by their identity; files are looked at once."""
    origins = {id(each.origin): each.origin for each in prepared.subjects}
    placed = prepared.manifests.placed([(each, Problem("")) for each in origins.values()])
    return {key: problem.where for key, problem in zip(origins, placed, strict=True)}


def _everywhere(nodes: Sequence[Node], code: str, text: str, detail: str = "") -> tuple[NodeRefusal, ...]:
    """Return the refusals of a pod that is not asked of any node, as what each of them says."""
    return tuple([NodeRefusal(node.metadata.name or "", code, text, detail=detail) for node in nodes])
