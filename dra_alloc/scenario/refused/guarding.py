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
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.counting import fewer_devices
from dra_alloc.explain.expressions import in_a_sentence, reads
from dra_alloc.explain.facts import Whose, selector_called
from dra_alloc.explain.fix import Fix
from dra_alloc.explain.reasons import LESS_COST
from dra_alloc.explain.selecting import Selecting, in_other_words, selecting
from dra_alloc.explain.tally import explain
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World
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
    owners = ", ".join(each.called for each in culprit.owners)
    said = in_a_sentence(" ".join(expression.split()))
    found.cause = f"a selector of {owners} fails on device {culprit.name} ({culprit.failure}{lacking}): {said}"
    found.hints += cel.evaluation_hints(culprit.failure, culprit.program, culprit.device)
    found.hints += [each for each in missing if not each.startswith(f"{key} is missing")]
    read = [each for each in reads(expression) if each.name == key and not each.optional]
    if read:
        guard = f"{_GUARD.format(*read[0])} && ({expression})"
        number, (first, *_) = int(failed["number"]), culprit.owners
        edit = partial(_with_guard, number=number, guard=guard)
        change = partial(in_other_words, owners=culprit.owners, edit=edit)
        step = f"guarding {key} with has() in {selector_called(first.selectors, number)} of {owners}"
        found.hints += _matching(environment, here, guard)
        guarded = _with_a_guard(world, trials, Fix((step,), _GUARD_COST, change, whose=first.whose), key)
        found.fixes, found.untried = guarded.fixes, guarded.untried
        found.hints += guarded.hints
    return found


class _Culprit(NamedTuple):
    """A selector with the device that it fails on, and the failure."""

    expression: str
    owners: Sequence[Selecting]
    program: cel.Program
    name: str
    device: cel.CelDevice
    failure: str


def _culprit(
    expressions: Mapping[str, Sequence[Selecting]],
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
    guarded = guard.change(world)
    trials.work += guarded.cost_of_a_tally()
    tried = [
        Fix(
            (*guard.steps, said),
            guard.cost + LESS_COST,
            _then(guard.change, change),
            whose=guard.whose,
            parties=frozenset((guard.whose, Whose.MANIFEST)),
        )
        for alternatives in fewer_devices(guarded)
        for said, change in alternatives
    ]
    # The guarded selector is told already.
    left = explain(guarded.allocator(), guarded.node, guarded.claims).cause.partition(": its selector wants ")[0]
    leaves = f"the first alone is not enough, as then on {guarded.node.metadata.name}: {left}" if left else ""
    unknown = len(tried) > _MOST_TRIES
    for fix in tried[:_MOST_TRIES]:
        answer = trials.unspoilt(trials.fits(fix.change(world)), fix.steps, fix.change)
        if answer:
            found.note(replace(fix, leaves=leaves), answer)
            return True
        unknown = unknown or answer is None
    found.untried += [f"{guard} and asking for fewer devices"] if unknown else []
    return False


def _then(first: Callable[[World], World], second: Callable[[World], World]) -> Callable[[World], World]:
    return lambda world: second(first(world))


def _with_guard(selectors: Sequence[Any], number: int, guard: str) -> tuple[Any, ...]:
    """Return selectors with an expression in place of that of this number."""
    guarded = type(selectors[number]).from_wire({"cel": {"expression": guard}})
    return (*selectors[:number], guarded, *selectors[number + 1 :])


def _matching(environment: cel.Environment, devices: Sequence[cel.CelDevice], expression: str) -> Iterator[str]:
    """Yield how many devices a guarded expression matches, unless it fails on one."""
    try:
        program = environment.compile(expression)
        matching = sum(program.matches(each) for each in devices)
    except (cel.CompileError, cel.EvaluationError):
        return
    yield f"guarded so, {matching} of {len(devices)} {'matches' if matching == 1 else 'match'}: {expression}"


def _expressions(world: World, failed: re.Match[str]) -> dict[str, list[Selecting]]:
    """Return the expressions that can be meant, each with whose it is."""
    number = int(failed["number"])
    found: dict[str, list[Selecting]] = {}
    for owner in selecting(world):
        claim = claim_name(world.claims[owner.index]) if owner.request else ""
        is_meant = failed["owner"] == (claim if failed["kind"] == "claim" else owner.device_class)
        if is_meant and number < len(owner.selectors) and owner.selectors[number].cel is not None:
            found.setdefault(owner.expressions[number], []).append(owner)
    return found
