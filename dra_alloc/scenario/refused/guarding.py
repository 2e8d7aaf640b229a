"""
What is behind a selector that fails: the device, what it has instead, and what a guard would do.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

from dra_alloc import cel
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.expressions import in_a_sentence, reads
from dra_alloc.explain.facts import selector_called
from dra_alloc.explain.fewer import LESS_COST
from dra_alloc.explain.fix import Fix, after_alone
from dra_alloc.explain.reasons import reasons
from dra_alloc.explain.selecting import Selecting, in_other_words, selecting
from dra_alloc.explain.tally import explain
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.selecting import environment_for, prepared_devices

_FAILED: Final = re.compile(
    r"(?P<kind>class|claim) (?P<owner>\S+): selector #(?P<number>\d+)(?: on device (?P<device>\S+))?: "
    r"CEL runtime error: (?P<text>.*)"
)
_NO_KEY: Final = "no such key: "
_GUARD: Final = 'has(device.{}["{}"].{})'
#: How a comment begins, perhaps, and what ends one.
_COMMENT: Final = "//"
_END: Final = "\n"
#: It is told before what lets the selector fail on other days.
_GUARD_COST: Final = 5
#: What leaves the selector to fail another day comes after what does not.
_DOUBT_COST: Final = 25
#: Changes that are told to be enough beside a guard.
_MOST_SECOND: Final = 2
#: Of a guarded selector that is told whole.
_MOST_CHARACTERS: Final = 160
#: Other nodes of which it is told what is in the way once there is a guard.
_MOST_OTHERS: Final = 1


@dataclass(slots=True)
class Advice:
    """
    What was found out about an error so far; of `untried` changes the work allowed did not tell.

    `fails` says of a world whether the selector can fail there, on the device `culprit`.
    """

    cause: str = ""
    culprit: str = ""
    fails: Callable[[World], bool] = bool
    fixes: list[Fix] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)

    def doubted(self, fix: Fix, world: World) -> Fix:
        """Return a fix that leaves a selector to fail with what it rests on: that the search ends before the device."""
        if not self.culprit or not self.fails(fix.change(world)):
            return fix
        doubt = (*("",) * (len(fix.steps) - 1), f"while the search does not come to {self.culprit}")
        return replace(fix, asides=doubt, cost=fix.cost + _DOUBT_COST)

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
    node = world.node.metadata.name
    lacking = "".join(f"; on {node} {each}" for each in missing if each.startswith(f"{key} is missing"))
    owners = ", ".join(each.called for each in culprit.owners)
    said = in_a_sentence(" ".join(expression.split()))
    found.culprit, found.fails = (
        culprit.name.rpartition("/")[2],
        lambda changed: expression in _expressions(changed, failed),
    )
    found.cause = f"a selector of {owners} fails on device {culprit.name} ({culprit.failure}{lacking}): {said}"
    found.hints += cel.evaluation_hints(culprit.failure, culprit.program, culprit.device)[1:]
    found.hints += [each for each in missing if not each.startswith(f"{key} is missing")]
    read = [each for each in reads(expression) if each.name == key and not each.optional]
    if read:
        guard = f"{_GUARD.format(*read[0])} && ({expression}{_END if _COMMENT in expression else ''})"
        number, (first, *_) = int(failed["number"]), culprit.owners
        edit = partial(_with_guard, number=number, guard=guard)
        change = partial(in_other_words, owners=culprit.owners, edit=edit)
        matching = _matching(environment, here, guard)
        step = _step(selector_called(first.selectors, number), owners, key, guard)
        fix = Fix(
            (step,), _GUARD_COST, change, whose=first.whose, asides=(f"then {matching} on {node}",) if matching else ()
        )
        guarded = _with_a_guard(world, trials, fix, key)
        found.fixes, found.untried = guarded.fixes, guarded.untried
        # What the fix says is no hint besides.
        hints = () if found.fixes else (*cel.evaluation_hints(culprit.failure, culprit.program, culprit.device)[:1],)
        told = [f"guarded so, {matching}: {guard}"] if matching and not found.fixes else []
        found.hints = [*hints, *found.hints, *told, *guarded.hints]
    return found


def _step(selector: str, owners: str, key: str, guard: str) -> str:
    """Return how a guard is said: what the selector becomes, or what becomes of which: if long, or not of one line."""
    line = " ".join(guard.split())
    if len(line) > _MOST_CHARACTERS or _COMMENT in guard:
        return f"guarding {key} with has() in {selector} of {owners}"
    place = selector[selector.rindex(" (number ") :] if selector.endswith(")") and " (number " in selector else ""
    return f"changing the selector{place} of {owners} to {line}"


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
    """Return the guard as a fix, alone or with another change, or else why it is none."""
    found = Advice()
    tried = trials.outcome(guard.change(world))
    answer = trials.unspoilt(tried.fits, guard.steps, guard.change)
    found.note(guard, answer)
    if answer is not False:
        return found
    if not tried.error and not trials.spoilt(guard.steps, guard.change):
        taking = (each.node.metadata.name for each in trials.elsewhere if trials.fits(guard.change(each)))
        found.hints += [f"guarded so, the devices of node {name} are enough" for name in itertools.islice(taking, 1)]
        found.fixes += _with_another(found, world, trials, guard, key)
    if not found.fixes and not found.hints:
        node, spoilt = world.node.metadata.name, "but another node ends the question with an error then"
        enough = f"would be enough on {node}, {spoilt}" if tried.fits else "alone is not enough"
        found.hints.append(f"guarding {key} {enough}")
    return found


def _with_another(found: Advice, world: World, trials: Trials, guard: Fix, key: str) -> list[Fix]:
    """Return the guard with each other change that is enough once it is there, and is not without it."""
    guarded = guard.change(world)
    more = reasons(guarded, trials.left, elsewhere=[guard.change(each) for each in trials.elsewhere])
    trials.work += more.work
    others = trials.elsewhere if len(trials.elsewhere) <= _MOST_OTHERS else ()
    left = [told for each in (world, *others) if (told := _left(guard.change(each), trials))]
    leaves = after_alone(f"guarding {key}", "; ".join(left)) if left else ""
    single = [fix for fix in more.fixes if len(fix.steps) == 1]
    # Fewer devices fit without a guard as long as the search does not come to the one at which the selector fails.
    needed = [fix for fix in single if fix.cost == LESS_COST or trials.fits(fix.change(world)) is False]
    if not needed and (more.untried or not more.exact):
        found.untried.append(f"{guard} and another change")
    return [replace(guard.and_then(fix, leaves), cost=guard.cost) for fix in needed[:_MOST_SECOND]]


def _left(guarded: World, trials: Trials) -> str:
    """Return what is in the way on a node once there is a guard, which is told already itself."""
    trials.work += guarded.cost_of_a_tally()
    cause = explain(guarded.allocator(), guarded.node, guarded.claims).cause.partition(": its selector wants ")[0]
    return f"on {guarded.node.metadata.name}: {cause}" if cause else ""


def _with_guard(selectors: Sequence[Any], number: int, guard: str) -> tuple[Any, ...]:
    """Return selectors with an expression in place of that of this number."""
    guarded = type(selectors[number]).from_wire({"cel": {"expression": guard}})
    return (*selectors[:number], guarded, *selectors[number + 1 :])


def _matching(environment: cel.Environment, devices: Sequence[cel.CelDevice], expression: str) -> str:
    """Return how many devices a guarded expression matches; nothing if it fails on one."""
    try:
        program = environment.compile(expression)
        matching = sum(program.matches(each) for each in devices)
    except (cel.CompileError, cel.EvaluationError):
        return ""
    return f"{matching} of {len(devices)} {'matches' if matching == 1 else 'match'}"


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
