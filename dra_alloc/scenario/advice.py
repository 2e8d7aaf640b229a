"""
What would help where kube-scheduler gives a pod up with an error: tried, as all fixes are, or read off the selector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.api import DeviceRequest, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.cluster.settings import Settings
from dra_alloc.explain.facts import called
from dra_alloc.explain.hints import Hints
from dra_alloc.explain.reasons import WORK, Fix, Reasons
from dra_alloc.explain.trials import Trials
from dra_alloc.explain.world import World, edit_requests
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.explaining import world_of
from dra_alloc.scenario.selecting import environment_for, prepared_devices

__all__ = ["advised"]

_FAILED: Final = re.compile(
    r"(?P<kind>class|claim) (?P<owner>\S+): selector #(?P<number>\d+)(?: on device (?P<device>\S+))?: "
    r"CEL runtime error: (?P<text>.*)"
)
_READ: Final = re.compile(r'attributes\["([^"]+)"\]\.(\w+)')
_TOO_MANY: Final = f"a claim can have {ALLOCATION_RESULTS_MAX} devices at most"


def advised(cluster: Cluster, claims: Sequence[ResourceClaim], refusal: NodeRefusal, work: int = WORK) -> NodeRefusal:
    """
    Return the refusal of a question that ended with an error, with what would help: fixes and hints, and no facts.

    Spec: EXPLAIN-2, EXPLAIN-4, EXPLAIN-9.
    """
    try:
        world = world_of(cluster, claims, cluster.node(refusal.node))
    except GatherError:
        return refusal
    return replace(refusal, reasons=_advice(world, cluster.settings, refusal, work))


def _advice(world: World, settings: Settings, refusal: NodeRefusal, work: int) -> Reasons:
    trials = Trials(world, work)
    if trials.fits_without(()) is not False:
        return Reasons((), exact=False, work=trials.work)
    code, error = refusal.code, refusal.error
    hints: list[str] = []
    fixes: tuple[Fix, ...] = ()
    if code == "too-many-devices":
        fixes = tuple(_in_several_claims(world, trials))
        hints += [] if fixes else [_TOO_MANY]
    elif code == "selector-runtime-error":
        hints += _selector_hints(world, settings, error, trials)
    hints += Hints(world, trials).told
    return Reasons((), fixes, hints=tuple(dict.fromkeys(hints)), work=trials.work)


def _in_several_claims(world: World, trials: Trials) -> Iterator[Fix]:
    """Yield the fix of asking for the devices of a claim that is too large in several claims, if that is enough."""
    for index, claim in enumerate(world.claims):
        parts = _parts(claim)
        change = partial(_instead, index=index, parts=parts)
        if len(parts) > 1 and trials.fits(change(world)):
            step = f"asking for the devices of claim {claim_name(claim)} in {len(parts)} claims"
            yield Fix((f"{step} of at most {ALLOCATION_RESULTS_MAX}",), 30, change)


def _instead(world: World, index: int, parts: Sequence[ResourceClaim]) -> World:
    return replace(world, claims=(*world.claims[:index], *parts, *world.claims[index + 1 :]))


def _parts(claim: ResourceClaim) -> tuple[ResourceClaim, ...]:
    """Return claims that together ask for the same, none for too many devices; constraints would not reach so far."""
    devices = claim.spec.devices
    if devices.constraints or any(each.exactly is None or each.exactly.count is None for each in devices.requests):
        return (claim,)
    parts: list[list[DeviceRequest]] = [[]]
    room = ALLOCATION_RESULTS_MAX
    for request in devices.requests:
        exactly = request.exactly
        left = exactly.count if exactly is not None and exactly.count is not None else 0
        while exactly is not None and left:
            if not room:
                parts.append([])
                room = ALLOCATION_RESULTS_MAX
            taken = min(room, left)
            parts[-1].append(request.replaced(exactly=exactly.replaced(count=taken)))
            room, left = room - taken, left - taken
    meta = claim.metadata
    return tuple(
        [
            claim.replaced(
                metadata=meta.replaced(name=f"{meta.name or ''}-{number}"),
                spec=claim.spec.replaced(devices=devices.replaced(requests=tuple(part))),
            )
            for number, part in enumerate(parts)
        ]
    )


def _selector_hints(world: World, settings: Settings, error: str, trials: Trials) -> Iterator[str]:
    """Yield what the device at which a selector failed has instead, and how many others lack the same."""
    found = _FAILED.search(error)
    if found is None:
        return
    environment = environment_for(settings, "stored")
    devices = list(prepared_devices(world.slices, environment.reading))
    named: dict[str, str] = {}
    for owner, expression in _expressions(world, found):
        named.setdefault(expression, owner)
    for expression, owner in named.items():
        try:
            program = environment.compile(expression)
        except cel.CompileError:
            continue
        for names, device in devices:
            if found["device"] not in (None, "/".join(names)):
                continue
            try:
                program.matches(device)
            except cel.EvaluationError as failure:
                if not found["text"].startswith(failure.text):
                    continue
                yield f"selector {found['number']} of {owner} is {' '.join(expression.split())}"
                yield from (
                    f"device {'/'.join(names)}: {hint}" for hint in cel.evaluation_hints(failure.text, program, device)
                )
                here, key = [each for _, each in devices], failure.text.removeprefix("no such key: ")
                # What to do about this one is told above.
                said = f"{key} is missing"
                missing = cel.missing_hints(program, here)
                yield from (each.partition(":")[0] if each.startswith(said) else each for each in missing)
                yield from _guard_alone(world, expression, key, trials, partial(_matching, environment, here))
                return


def _matching(environment: cel.Environment, devices: Sequence[cel.CelDevice], expression: str) -> str:
    """Return how many devices an expression matches; empty where it fails on one."""
    try:
        program = environment.compile(expression)
        matching = sum(program.matches(each) for each in devices)
    except (cel.CompileError, cel.EvaluationError):
        return ""
    return f": then {matching} of {len(devices)} {'matches' if matching == 1 else 'match'}"


def _guard_alone(
    world: World, expression: str, key: str, trials: Trials, matching: Callable[[str], str]
) -> Iterator[str]:
    """Yield whether a guard against the attribute that is missing lets the claims onto the node, tried."""
    guards = [f'has(device.attributes["{domain}"].{name})' for domain, name in _READ.findall(expression) if name == key]
    if not guards:
        return
    guard = f"{guards[0]} && ({expression})"
    guarded = {"cel": {"expression": guard}}

    def edit(index: int, name: str, ask: Any) -> Any:
        selectors = [
            type(each).from_wire(guarded) if each.cel is not None and each.cel.expression == expression else each
            for each in ask.selectors
        ]
        return ask.model_copy(update={"selectors": tuple(selectors)})

    changed = edit_requests(world, edit)
    fits = trials.fits(changed)
    if fits is not None and changed != world:
        said = "would be enough" if fits else "alone is not enough"
        yield f"guarding {key} {said} on {world.node.metadata.name}{matching(guard)}"


def _expressions(world: World, found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield the expressions that can be meant, each with whose it is."""
    number, lists = int(found["number"]), []
    if found["kind"] == "class":
        device_class = world.classes.get(found["owner"])
        lists = [(f"class {found['owner']}", device_class.spec.selectors)] if device_class is not None else []
    else:
        for index, name, ask in world.asks():
            if claim_name(world.claims[index]) == found["owner"]:
                lists.append((called(world, index, name), ask.selectors))
    for owner, selectors in lists:
        if number < len(selectors) and (selector := selectors[number].cel) is not None:
            yield owner, selector.expression
