"""
A check under way: subjects are asked in turn, as kube-scheduler does it or together, and refusals explained.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dra_alloc.api import Node, ObjectMeta, Pod
from dra_alloc.cluster.attempts.grouping import GROUP_CODE
from dra_alloc.cluster.attempts.queue import Queued, in_order
from dra_alloc.cluster.attempts.rollouts import turns
from dra_alloc.cluster.attempts.schedule import queued_of
from dra_alloc.cluster.attempts.scheduled import NotAsked, PodOutcome, Scheduled, Unschedulable, Unsettled, Waiting
from dra_alloc.cluster.attempts.scheduling import Scheduling
from dra_alloc.cluster.attempts.ways import Candidates, Ways
from dra_alloc.cluster.availability import binds_after
from dra_alloc.cluster.best_place import BestWanted, best_place
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import Allocated, NodeRefusal
from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.pods.groups import group_name, is_grouping
from dra_alloc.pods.workloads.plans import Rollout
from dra_alloc.pods.workloads.states import PodState, state_of, waiting_in
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.answers import CheckOptions, SubjectAnswer
from dra_alloc.scenario.group_notes import GroupSeen, group_answers
from dra_alloc.scenario.prepare.pipeline import Prepared
from dra_alloc.scenario.prepare.subjects import Subject
from dra_alloc.scenario.refused.advice import Ended, advised
from dra_alloc.scenario.refused.explaining import choice_on
from dra_alloc.scenario.refused.looking import Looking
from dra_alloc.scenario.refused.pod_fixes import lifted, with_fixes, within_quotas
from dra_alloc.solve.best.objectives import knowing_nodes
from dra_alloc.solve.outcome import Work
from dra_alloc.work import evenly


class Checking:
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
        self._others_asked = self._others_placed = 0
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
        if self._options.turns:
            return tuple(self._in_turns(subjects))
        pods = [each for each in subjects if each.pod is not None]
        alone = [each for each in subjects if each.pod is None]
        return (*self.asked(pods, self._others), *self.asked(alone, ()))

    def _in_turns(self, subjects: Sequence[Subject]) -> Iterator[SubjectAnswer]:
        """Yield what becomes of sets of subjects, each once those before it have their places. Spec: ORDER-1."""
        self.ask_others()
        left = list(subjects)
        for names in (*self._options.turns, frozenset(each.name for each in left)):
            yield from self.asked([each for each in left if each.name in names], ())
            left = [each for each in left if each.name not in names]

    def ask_others(self) -> None:
        """Let the pods that wait, and are not the manifests', have their turns before these."""
        deque(self.asked((), self._others), 0)

    def asked(self, subjects: Sequence[Subject], others: Sequence[Queued]) -> Iterator[SubjectAnswer]:
        """Yield what becomes of subjects that wait together with other pods, which were there before."""
        found: dict[int, SubjectAnswer] = {}
        before = self.scheduling.cluster
        self._others_asked += len(others)
        queued = list(map(queued_subject, subjects))
        tried = turns(self.scheduling, others, queued, list(self._rollouts(subjects)))
        for turn in evenly(tried, len(others) + len(queued)):
            number = turn.number - len(others)
            if number < 0:
                self._others_placed += isinstance(turn.outcome, Scheduled)
                continue
            self._note_group(subjects[number], turn.outcome)
            if turn.same_as is None:
                found[number] = self.answer(subjects[number], turn.outcome, before)
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

    def read_at(self, subject: Subject) -> Where:
        """Return where a subject's object was read."""
        return self._read_at.get(id(subject.origin), Where())

    def answer(self, subject: Subject, outcome: PodOutcome, before: Cluster) -> SubjectAnswer:
        """Return what an outcome comes to; `before` is the cluster in which choices are explained."""
        nodes = self._nodes_for(subject)
        # Put together once: an answer has so many members that `replace` costs more than the rest.
        told = partial(SubjectAnswer, subject.kind, subject.name, nodes_asked=len(nodes), where=self.read_at(subject))
        told = partial(told, needs_devices=subject.needs_devices)
        for note in outcome.notes:
            self._said.setdefault(note, []).append(subject.name)
        match outcome:
            case Scheduled(allocated=allocated, fits=fits, equal=equal, undecided=undecided):
                if waits := binds_after(allocated.claims):
                    self._said.setdefault(waits, []).append(subject.name)
                had = subject.pod is None and self._had(subject)
                chosen = self._options.choices and not self._options.objectives
                choice = choice_on(before, allocated) if chosen else None
                return told(
                    nodes=fits, allocated=allocated, equal=equal, undecided=undecided, before=had, choice=choice
                )
            case Unsettled(undecided=undecided, solver_could=could):
                return told(undecided=undecided, solver_could=could)
            case NotAsked(node=node):
                return self._put(subject, told, node)
            case Unschedulable(aborts=True):
                lost = frozenset[str]() if self._looking is None else self._looking.lost
                ended = Ended(self.scheduling.cluster, outcome.ruled_out, lost)
                advice = [advised(ended, outcome.claims_on(each.node), each) for each in outcome.refusals]
                return told(refusals=tuple(advice), aborts=True)
            case Unschedulable(text="") if self._looking is not None:
                names = {node.metadata.name for node in nodes}
                asked = [each for each in outcome.refusals if each.node in names]
                why = self._looking.into(self.scheduling.cluster, outcome, asked)
                if subject.pod is not None:
                    why = within_quotas(self.scheduling, subject.pod, outcome, why)
                return told(refusals=with_fixes(self.scheduling, queued_subject(subject), why, self._amounts))
            case Unschedulable(code=code, text=text, detail=said) | Waiting(code=code, text=text, detail=said):
                everywhere = _everywhere(nodes, code, text, said)
                if code == "quota" and subject.unmade and self._looking is not None:
                    everywhere = lifted(self.scheduling, queued_subject(subject), subject.unmade, everywhere)
                return told(refusals=everywhere)

    def _had(self, subject: Subject) -> bool:
        """Return whether all claims of a subject were allocated before anything was asked."""
        claims = self._prepared.cluster.claims
        named = [claims.get(each) if isinstance(each, str) else each for each in subject.claims]
        return all(each is not None and each.status.allocation is not None for each in named)

    def _nodes_for(self, subject: Subject) -> Sequence[Node]:
        """Return the nodes that have something to say: a pod of a DaemonSet, or one that names its node, is for one."""
        named = subject.node or (subject.pod.spec.node_name if subject.pod is not None else None)
        place = self._prepared.cluster.known.roster.places.get(named or "")
        return self._nodes if place is None else (self._prepared.cluster.nodes[place],)

    def _put(self, subject: Subject, told: Callable[..., SubjectAnswer], name: str) -> SubjectAnswer:
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
            return told(refusals=_everywhere(self._nodes, "node-name", text))
        return told(nodes=(name,), allocated=Allocated(name, tuple(named), Work()))

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
        asked, placed = self._others_asked, self._others_placed
        if asked:
            yield f"pods that wait in the cluster are in the queue, too: {asked}, of which {placed} find a node"
        elif self._others:
            yield f"pods of other schedulers that wait in the cluster are not looked at: {len(self._others)}"
        yield from group_answers(self._groups, self._prepared.cluster)
        for note, names in self._said.items():
            yield f"{first_few(list(dict.fromkeys(names)))}: {note}"
        silent = [node.metadata.name or "" for node in self._nodes if not node.status.allocatable]
        pods = (each.pod for each in self._prepared.subjects if each.pod is not None)
        if silent and any(self.scheduling.tenancy.view(pod).requests for pod in pods):
            said = "no status.allocatable, so that cpu, memory and the like are not looked at there"
            yield f"{first_few(silent)}: {said}"


def queued_subject(subject: Subject) -> Queued:
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
    waiting = [each for each in waiting_in(prepared.dump) if state_of(each) is PodState.WAITING or group_name(each)]
    return tuple([queued_of(each, prepared.cluster) for each in waiting if each.metadata.full_name not in asked])


def _places(prepared: Prepared) -> dict[int, Where]:
    """Return where the objects were read that subjects stand in, by their identity; files are looked at once."""
    origins = {id(each.origin): each.origin for each in prepared.subjects}
    placed = prepared.manifests.placed([(each, Problem("")) for each in origins.values()])
    return {key: problem.where for key, problem in zip(origins, placed, strict=True)}


def _everywhere(nodes: Sequence[Node], code: str, text: str, detail: str = "") -> tuple[NodeRefusal, ...]:
    """Return the refusals of a pod that is not asked of any node, as what each of them says."""
    return tuple([NodeRefusal(node.metadata.name or "", code, text, detail=detail) for node in nodes])
