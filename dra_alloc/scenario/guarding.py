"""
What is behind a selector that fails: the device, what it has instead, and what a guard would do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

from dra_alloc import cel
from dra_alloc.api import FrozenMap
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.expressions import in_a_sentence, reads
from dra_alloc.explain.facts import called
from dra_alloc.explain.reasons import LESS_COST, Fix, fewer_devices
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World, edit_requests
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.selecting import environment_for, prepared_devices

__all__ = ["Advice", "failed_selector"]

_FAILED: Final = re.compile(
    r"(?P<kind>class|claim) (?P<owner>\S+): selector #(?P<number>\d+)(?: on device (?P<device>\S+))?: "
    r"CEL runtime error: (?P<text>.*)"
)
_NO_KEY: Final = "no such key: "
_GUARD: Final = 'has(device.{}["{}"].{})'
_GUARD_COST: Final = 50
#: Smaller numbers of devices that are tried with a guard.
_MOST_TRIES: Final = 11


@dataclass(slots=True)
class Advice:
    """What was found out about an error so far; of `untried` changes the work allowed did not tell."""

    cause: str = ""
    fixes: list[Fix] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)

    def note(self, fix: Fix, answer: bool | None) -> None:
        """Note a change by whether it is enough; None if the work allowed does not tell."""
        if answer:
            self.fixes.append(fix)
        elif answer is None:
            self.untried.append(str(fix))


def failed_selector(world: World, settings: Settings, error: str, trials: Trials) -> Advice:
    """
    Return which device a selector fails on, what that has instead, and what a guard would do, tried.

    Spec: EXPLAIN-9.
    """
    found = Advice()
    failed = _FAILED.search(error)
    if failed is None:
        return found
    environment = environment_for(settings, "stored")
    devices = list(prepared_devices(world.slices, environment.reading))
    culprit = _culprit(_expressions(world, failed), environment, devices, failed)
    if culprit is None:
        return found
    here, expression, key = [each for _, each in devices], culprit.expression, culprit.failure.removeprefix(_NO_KEY)
    missing = [each.partition(":")[0] for each in cel.missing_hints(culprit.program, here)]
    lacking = "".join(f"; {each}" for each in missing if each.startswith(f"{key} is missing"))
    selector = f"selector {failed['number']} of {', '.join(map(str, culprit.owners))}"
    said = in_a_sentence(" ".join(expression.split()))
    found.cause = f"{selector} fails on device {culprit.name} ({culprit.failure}{lacking}): {said}"
    found.hints += cel.evaluation_hints(culprit.failure, culprit.program, culprit.device)
    found.hints += [each for each in missing if not each.startswith(f"{key} is missing")]
    read = [each for each in reads(expression) if each.name == key and not each.optional]
    if read:
        guard = f"{_GUARD.format(*read[0])} && ({expression})"
        change = partial(_with_guard, owners=culprit.owners, number=int(failed["number"]), guard=guard)
        step = f"guarding {key} with has() in {selector}"
        found.hints += _matching(environment, here, guard)
        guarded = _with_a_guard(world, trials, Fix((step,), _GUARD_COST, change), key)
        found.fixes, found.untried = guarded.fixes, guarded.untried
        found.hints += guarded.hints
    return found


class _Culprit(NamedTuple):
    """A selector with the device that it fails on, and the failure."""

    expression: str
    owners: Sequence[_Owner]
    program: cel.Program
    name: str
    device: cel.CelDevice
    failure: str


def _culprit(
    expressions: Mapping[str, Sequence[_Owner]],
    environment: cel.Environment,
    devices: Sequence[tuple[Sequence[str], cel.CelDevice]],
    failed: re.Match[str],
) -> _Culprit | None:
    """Return the first of the expressions that fails as was told, and where; None if none does."""
    for expression, owners in expressions.items():
        try:
            program = environment.compile(expression)
        except cel.CompileError:
            continue
        for names, device in devices:
            name, failure = "/".join(names), _failure(program, device)
            if failed["device"] in (None, name) and failure and failed["text"].startswith(failure):
                return _Culprit(expression, owners, program, name, device, failure)
    return None


def _failure(program: cel.Program, device: cel.CelDevice) -> str:
    """Return the error with which a selector fails on a device; empty if it does not."""
    try:
        program.matches(device)
    except cel.EvaluationError as failure:
        return failure.text
    return ""


def _with_a_guard(world: World, trials: Trials, guard: Fix, key: str) -> Advice:
    """Return the guard as a fix, or else with the largest number of devices with which it is one, or why it is none."""
    found = Advice()
    fits = trials.fits(guard.change(world))
    answer = trials.unspoilt(fits, guard.steps, guard.change)
    found.note(guard, answer)
    if not answer and not _note_fewer(found, world, trials, guard) and answer is False:
        node, spoilt = world.node.metadata.name, "but another node ends the question with an error then"
        enough = f"would be enough on {node}, {spoilt}" if fits else "alone is not enough"
        found.hints.append(f"guarding {key} {enough}")
    return found


def _note_fewer(found: Advice, world: World, trials: Trials, guard: Fix) -> bool:
    """Note the guard with the largest number of devices with which it is enough, and return whether there is one."""
    tried = [
        Fix((*guard.steps, said), guard.cost + LESS_COST, _then(guard.change, change))
        for alternatives in fewer_devices(guard.change(world))
        for said, change in alternatives
    ]
    unknown = len(tried) > _MOST_TRIES
    for fix in tried[:_MOST_TRIES]:
        answer = trials.unspoilt(trials.fits(fix.change(world)), fix.steps, fix.change)
        if answer:
            found.note(fix, answer)
            return True
        unknown = unknown or answer is None
    found.untried += [f"{guard} and asking for fewer devices"] if unknown else []
    return False


def _then(first: Callable[[World], World], second: Callable[[World], World]) -> Callable[[World], World]:
    return lambda world: second(first(world))


def _with_guard(world: World, owners: Sequence[_Owner], number: int, guard: str) -> World:
    """Return the world with an expression in place of the selector of that number of some requests, or of a class."""
    guarded = {"cel": {"expression": guard}}

    def put(selectors: Sequence[Any]) -> tuple[Any, ...]:
        return (*selectors[:number], type(selectors[number]).from_wire(guarded), *selectors[number + 1 :])

    def edit(index: int, name: str, ask: Any) -> Any:
        return ask.model_copy(update={"selectors": put(ask.selectors)}) if (index, name) in places else ask

    places = {(each.index, each.request) for each in owners}
    classes = {
        each.device_class: (found := world.classes[each.device_class]).replaced(
            spec=found.spec.replaced(selectors=put(found.spec.selectors))
        )
        for each in owners
        if each.device_class
    }
    return edit_requests(replace(world, classes=FrozenMap({**world.classes, **classes})), edit)


def _matching(environment: cel.Environment, devices: Sequence[cel.CelDevice], expression: str) -> Iterator[str]:
    """Yield how many devices a guarded expression matches, unless it fails on one."""
    try:
        program = environment.compile(expression)
        matching = sum(program.matches(each) for each in devices)
    except (cel.CompileError, cel.EvaluationError):
        return
    yield f"guarded so, {matching} of {len(devices)} {'matches' if matching == 1 else 'match'}"


@dataclass(frozen=True, slots=True)
class _Owner:
    """Whose selector it is: a request's of a claim, or a class's."""

    called: str
    index: int = -1
    request: str = ""
    device_class: str = ""

    def __str__(self) -> str:
        return self.called


def _expressions(world: World, failed: re.Match[str]) -> dict[str, list[_Owner]]:
    """Return the expressions that can be meant, each with whose it is."""
    number, lists = int(failed["number"]), []
    if failed["kind"] == "class":
        device_class = world.classes.get(failed["owner"])
        owner = _Owner(f"class {failed['owner']}", device_class=failed["owner"])
        lists = [(owner, device_class.spec.selectors)] if device_class is not None else []
    else:
        for index, name, ask in world.asks():
            if claim_name(world.claims[index]) == failed["owner"]:
                lists.append((_Owner(called(world, index, name), index, name), ask.selectors))
    found: dict[str, list[_Owner]] = {}
    for owner, selectors in lists:
        if number < len(selectors) and (selector := selectors[number].cel) is not None:
            found.setdefault(selector.expression, []).append(owner)
    return found
