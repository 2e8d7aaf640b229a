"""
A kind of constraint that is in the two tables alone: every engine answers it rightly, or says that it does not know it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pytest

from dra_alloc.api import DeviceClass, Node, ResourceClaim
from dra_alloc.api import constraints as kinds
from dra_alloc.api._base import KubeModel, OptText
from dra_alloc.api.constraints import ConstraintKind, DeviceConstraint
from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.explain.core import core_of
from dra_alloc.explain.facts import facts_of
from dra_alloc.explain.tally import explain
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import CONSTRAINTS, About, Pick, Rule
from dra_alloc.rules.constraints.attribute_constraint import AttributeConstraint, ConstraintRule
from dra_alloc.rules.constraints.match_attribute import MatchScalars
from dra_alloc.rules.facts import Agree
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.cpsat.first import first_answer
from dra_alloc.solve.ladder import Engine
from dra_alloc.solve.outcome import NoFit, Solved
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.bounds import refuted
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.pruned import PrunedSearch
from dra_alloc.solve.table.table import Knows, NotModelled, Table
from dra_alloc.solve.table.trust import judged
from dra_alloc.solve.verify import violations
from tests.unit.solve.questions import ask, claim, device, request


class AtLeast(KubeModel):
    """So many values of an attribute."""

    attribute: str = ""
    min: int = 0


class Trial(DeviceConstraint):
    """A constraint with members that no release has."""

    min_distinct_attribute: AtLeast | None = None
    agree_attribute: OptText = None
    careless_attribute: OptText = None
    high_attribute: OptText = None


class MinDistinct(AttributeConstraint):
    """The devices have at least so many values: nothing to object to before all are picked."""

    code = "too-few-values"
    __slots__ = ("_min",)

    def __init__(self, claim: Any, constraint: Any, context: Any) -> None:
        super().__init__(claim, constraint, context)
        self._min = constraint.min_distinct_attribute.min

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        return self._source.read(ask, device) is not None

    def complete(self, picks: Sequence[Pick]) -> bool:
        read = [self._source.read(ask, device) for ask, device in picks if self.concerns(ask)]
        return len({each.int_ for each in read if each is not None}) >= int(self._min)

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        if not self.complete(picks):
            yield f"fewer than {self._min} values of {self._attribute}"


class Careless(Rule):
    """All devices have the first one's value, by a rule that says nothing of itself but how it is searched for."""

    code = "careless"
    about = About.CONSTRAINT
    __slots__ = ("_held", "_name")

    def __init__(self, claim: Any, constraint: Any, context: Any) -> None:
        self._name = constraint.careless_attribute
        self._held: list[Any] = []

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        found = device.attribute(self._name)
        if found is None or (self._held and found != self._held[0]):
            return False
        self._held.append(found)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        self._held.pop()


class High(MatchScalars):
    """All devices agree on a value that is above 1: an old form, and more that is judged at the end."""

    code = "too-low"
    __slots__ = ()

    def complete(self, picks: Sequence[Pick]) -> bool:
        read = [self._source.read(ask, device) for ask, device in picks if self.concerns(ask)]
        return all(each is not None and (each.int_ or 0) > 1 for each in read)

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        yield from super().violations(picks)
        yield from () if self.complete(picks) else ("too low",)


KINDS: Final = (
    ConstraintKind(
        "minDistinctAttribute",
        "min_distinct_attribute",
        attribute=lambda value: value.attribute,
        says=lambda value: f"{value.attribute} (at least {value.min})",
    ),
    ConstraintKind("agreeAttribute", "agree_attribute"),
    ConstraintKind("carelessAttribute", "careless_attribute"),
    ConstraintKind("highAttribute", "high_attribute"),
)
RULES: Final = {
    "minDistinctAttribute": ConstraintRule(MinDistinct, {"too-few-values": "too few values are picked"}),
    # An old form under another name: it states the facts of matchAttribute.
    "agreeAttribute": ConstraintRule(CONSTRAINTS["matchAttribute"].make, {}, form=Agree),
    "carelessAttribute": ConstraintRule(Careless, {}),
    "highAttribute": ConstraintRule(High, {}),
}
STATED: Final[dict[str, tuple[dict[str, Any], Callable[[list[int]], bool]]]] = {
    "minDistinctAttribute": (
        {"minDistinctAttribute": {"attribute": "d/x", "min": 2}},
        lambda values: len(set(values)) >= 2,
    ),
    "agreeAttribute": ({"agreeAttribute": "d/x"}, lambda values: len(set(values)) <= 1),
    "carelessAttribute": ({"carelessAttribute": "d/x"}, lambda values: len(set(values)) <= 1),
    "highAttribute": ({"highAttribute": "d/x"}, lambda values: len(set(values)) <= 1 and min(values) > 1),
}
#: Values by device, and devices wanted by each request.
CASES: Final = (
    ((1, 1, 2), (2,)),
    ((1, 1, 1), (2,)),
    ((1, 2, 3), (2,)),
    ((1, 2, 2, 1), (1, 2)),
    ((1, 1, 1, 2), (1, 1, 1)),
    ((2, 1, 1, 1), (3,)),
    ((1, 1, 2, 2), (2, 2)),
    ((1, 1, 2, 2), (2,)),
    ((1,), (1,)),
    (tuple(number // 12 for number in range(14)), (4,)),
    ((1,) * 14, (4,)),
)


@pytest.fixture(autouse=True)
def trial_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "CONSTRAINT_KINDS", (*KINDS, *kinds.CONSTRAINT_KINDS))
    for name, rule in RULES.items():
        monkeypatch.setitem(CONSTRAINTS, name, rule)


Asked = tuple[Allocator, Node, list[ResourceClaim]]


def asked(kind: str, values: Sequence[int | None], counts: Sequence[int]) -> Asked:
    """The question with the constraint, which cannot come in as JSON: no model has its member."""
    devices = [device(f"d{n:02}") if each is None else device(f"d{n:02}", x=each) for n, each in enumerate(values)]
    made = request(devices, claim(*map(ask, counts)))
    allocator, node, (plain,) = read_request({**made, "semantics": "intended"})
    constraint = Trial.from_wire(STATED[kind][0])
    wanted = plain.spec.devices.model_copy(update={"constraints": (constraint,)})
    return allocator, node, [plain.model_copy(update={"spec": plain.spec.model_copy(update={"devices": wanted})})]


def expected(kind: str, values: Sequence[int], counts: Sequence[int]) -> list[int] | None:
    """The first answer in the order of the search, of all there are, by the plain law."""
    law = STATED[kind][1]
    return next((picks for picks in every(len(values), counts) if law([values[index] for index in picks])), None)


def every(number: int, counts: Sequence[int]) -> Iterator[list[int]]:
    """Yield every choice of devices."""
    if not counts:
        yield []
        return
    for first in itertools.combinations(range(number), counts[0]):
        for rest in every(number, counts[1:]):
            if set(first).isdisjoint(rest):
                yield [*first, *rest]


def indexes(picks: Sequence[Pick]) -> list[int]:
    return [int(pick.device.key.device[1:]) for pick in picks]


@pytest.fixture(params=STATED)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("values", "counts"), CASES)
@pytest.mark.parametrize("engine", Engine)
def test_the_allocator_answers_rightly(kind: str, values: Any, counts: Any, engine: Engine) -> None:
    if engine is Engine.CP_SAT:
        pytest.importorskip("ortools", reason="needs solver: OR-tools")
    allocator, node, claims = asked(kind, values, counts)
    outcome = allocator.allocate(node, claims, engine=engine)
    right = expected(kind, values, counts)
    if right is None:
        assert isinstance(outcome, NoFit)
    else:
        assert isinstance(outcome, Solved)
        assert indexes(outcome.picks) == right


@pytest.mark.parametrize(("values", "counts"), CASES)
def test_masks_answer_rightly_or_not_at_all(kind: str, values: Any, counts: Any) -> None:
    allocator, node, claims = asked(kind, values, counts)
    answer = allocator.direct.answer(node, claims, None)
    assert (answer is not None) == (kind == "agreeAttribute")
    if answer is not None:
        right = expected(kind, values, counts)
        assert ([index for _, index in answer.choice.picks] if answer.choice.found else None) == right


def table_of(question: Question) -> Table:
    rules = question.table_rules()
    return judged(build_table(question.rows, question.candidates, rules, knows=Knows.ALL), rules, Knows.ALL)


@pytest.mark.parametrize(("values", "counts"), CASES)
def test_tables_answer_rightly_or_not_at_all(kind: str, values: Any, counts: Any, solver: Any) -> None:
    allocator, node, claims = asked(kind, values, counts)
    question = allocator.question(node, claims)
    if kind != "agreeAttribute":
        with pytest.raises(NotModelled):
            table_of(question)
        return
    table = table_of(question)
    right = expected(kind, values, counts)
    assert right is None or refuted(table) is None
    search = PrunedSearch(table)
    assert search.run(10_000) == (right is not None)
    answer = first_answer(table, 5.0)
    assert answer.found == (right is not None)
    if right is not None:
        assert indexes(search.picks) == indexes(answer.picks) == right


@pytest.mark.parametrize(("values", "counts"), CASES[:9])
def test_answers_are_checked_by_the_law(values: Any, counts: Any) -> None:
    for kind in ("minDistinctAttribute", "agreeAttribute", "highAttribute"):
        allocator, node, claims = asked(kind, values, counts)
        question = allocator.question(node, claims)
        asks = [each for row in question.rows for wanted in row.requests for each in wanted.asks]
        wanting = [each for each in asks for _ in range(each.count)]
        for picks in every(len(values), counts):
            made = [Pick(each, question.candidates[index]) for each, index in zip(wanting, picks, strict=True)]
            wrong = violations(made, question.rows, question.context)
            assert bool(wrong) != STATED[kind][1]([values[index] for index in picks])


def test_a_refusal_says_what_it_rests_on() -> None:
    allocator, node, claims = asked("minDistinctAttribute", (1, 1, 1), (2,))
    classes = {"any": DeviceClass.from_wire({"metadata": {"name": "any"}})}
    slices = tuple(row.wire for rows in allocator.state.inventory.by_pool.values() for row in rows)
    world = World(node, tuple(claims), {}, classes, slices, (), allocator.profile)
    core = core_of(facts_of(world), Trials(world, 100_000))
    texts = {fact.text for fact in core.facts}
    assert "claim c0 wants minDistinctAttribute d/x (at least 2)" in texts
    assert core.proven
    assert "dropping minDistinctAttribute d/x (at least 2)" in {fact.fix for fact in core.facts}
    assert explain(allocator, node, claims).requests == ()


def test_the_cause_takes_no_kind_for_another() -> None:
    cause = explain(*asked("agreeAttribute", (1, 2, 3), (2,))).cause
    assert "needs 2 devices that share one x (agreeAttribute d/x), and no two do" in cause
    for kind in ("minDistinctAttribute", "highAttribute"):
        assert "differ" not in explain(*asked(kind, (1, 1, 1), (2,))).cause


def test_a_device_without_the_attribute_falls_to_the_kind() -> None:
    found = explain(*asked("minDistinctAttribute", (None, None), (2,)))
    groups = [group for tally in found.requests for pool in tally.pools for group in pool.groups]
    said = "no attribute d/x, which minDistinctAttribute needs"
    assert [(group.code, group.detail) for group in groups] == [("attribute-missing", said)]


def test_a_kind_that_no_allocator_knows_ends_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CONSTRAINTS, "agreeAttribute")
    allocator, node, claims = asked("agreeAttribute", (1, 1), (2,))
    assert "empty constraint" in getattr(allocator.allocate(node, claims), "text", "")


def test_every_kind_has_a_rule_and_a_member() -> None:
    own = [kind for kind in kinds.CONSTRAINT_KINDS if kind not in KINDS]
    assert {kind.wire for kind in own} == CONSTRAINTS.keys() - RULES.keys()
    assert {kind.member for kind in own} | {"requests"} == set(DeviceConstraint.model_fields)
    assert {DeviceConstraint.model_fields[kind.member].alias or kind.wire for kind in own} == {
        kind.wire for kind in own
    }
