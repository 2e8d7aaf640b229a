"""
Harness op `allocate`: one call of the allocator for one node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.cli.harness.reading import read_model, read_models, read_quantity
from dra_alloc.cli.harness.shapes import check_shape
from dra_alloc.errors import InputError
from dra_alloc.limits import DEFAULT_STEP_BUDGET
from dra_alloc.problem.devices import DeviceKey
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.tainting import has_effect
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature, Profile, gates_of, profile, with_selector_lists
from dra_alloc.solve.allocator import Allocator, State
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome

_SHAPE: Final = {
    "aggregated": list,
    "allocated": list,
    "allocatedShared": list,
    "channel": str,
    "claims": list,
    "classes": list,
    "engine": str,
    "features": dict,
    "node": dict,
    "release": str,
    "selectorLists": bool,
    "semantics": str,
    "slices": list,
    "taintRules": list,
    "timeoutMs": float,
}
_ENGINES: Final = ("auto", "first-fit", "cp-sat")


def answer_allocate(request: Mapping[str, Any], *, steps: int = DEFAULT_STEP_BUDGET) -> dict[str, Any]:
    """
    Return `results`, `err`, `onNode`, `n` and `verdict`; what takes more steps stays undecided.

    Raises: InputError or ValueError for a request that cannot be understood.
    """
    check_shape(request, _SHAPE)
    engine = request.get("engine") or "auto"
    if engine not in _ENGINES:
        raise InputError(f"unknown engine {engine!r}")
    allocator, node, claims = read_request(request)
    chosen = allocator.profile
    if chosen.unsupported:
        names = ", ".join(sorted(chosen.unsupported))
        return _error(f"channel {chosen.channel} of {chosen.release} does not support {names}")
    return _answer(allocator.allocate(node, claims, engine=engine, budget=_budget(request, steps)))


def read_request(request: Mapping[str, Any]) -> tuple[Allocator, Node, list[ResourceClaim]]:
    """
    Return the allocator a request describes, and the node and claims it asks for.

    Raises: InputError or ValueError for a request that cannot be understood.
    """
    chosen = profile(
        request.get("release") or "1.36",
        _features(request.get("features") or {}),
        request.get("channel") or "auto",
        request.get("semantics") or "upstream",
    )
    gate = request.get("selectorLists")
    if gate is not None:
        chosen = _with_selector_lists(chosen, on=gate)
    node = read_model(Node, request.get("node") or {"metadata": {"name": "node-1"}}, ("node",))
    claims = read_models(ResourceClaim, request.get("claims"), "claims")
    return _allocator(request, chosen), node, claims


def _with_selector_lists(chosen: Profile, *, on: bool) -> Profile:
    if on and "DRAListTypeAttributes" not in gates_of(chosen.release):
        raise InputError(f"selectorLists: {chosen.release} has no list-typed attributes")
    return with_selector_lists(chosen, on=on)


def _features(switches: Mapping[str, bool]) -> list[Feature]:
    known = [str(each) for each in Feature]
    for name, on in switches.items():
        if name not in known:
            raise InputError(f"features: unknown feature {name!r} (known: {', '.join(known)})")
        if not isinstance(on, bool | None):
            raise InputError(f"features.{name} has to be true or false")
    return [Feature(name) for name, on in switches.items() if on]


def _budget(request: Mapping[str, Any], steps: int) -> Budget:
    milliseconds = request.get("timeoutMs") or 0
    if milliseconds < 0:
        raise InputError("timeoutMs has to be 0 or more")
    return Budget(steps=steps, seconds=milliseconds / 1000 if milliseconds else None)


def _allocator(request: Mapping[str, Any], chosen: Profile) -> Allocator:
    rules = read_models(DeviceTaintRule, request.get("taintRules"), "taintRules")
    rules = [rule for rule in rules if has_effect(rule, chosen)]
    slices = read_models(ResourceSlice, request.get("slices"), "slices")
    classes = {each.metadata.name or "": each for each in read_models(DeviceClass, request.get("classes"), "classes")}
    state = State(
        Inventory.build(slices, rules),
        classes,
        _usage(request),
        class_not_found=lambda name: LookupError(' "not found" not found'),
    )
    return Allocator(state, chosen)


def _usage(request: Mapping[str, Any]) -> Usage:
    consumed = {}
    for number, entry in enumerate(request.get("aggregated") or ()):
        place = f"aggregated[{number}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("cap"), dict):
            raise InputError(f'{place} has to be {{"id": [driver, pool, device], "cap": {{name: quantity}}}}')
        amounts = {name: read_quantity(each, f"{place}.cap", name).nano for name, each in entry["cap"].items()}
        consumed[_key(entry.get("id"), 3, f"{place}.id")] = amounts
    return Usage(frozenset(_keys(request, "allocated", 3)), frozenset(_keys(request, "allocatedShared", 4)), consumed)


def _keys(request: Mapping[str, Any], name: str, length: int) -> Iterator[DeviceKey]:
    for number, entry in enumerate(request.get(name) or ()):
        yield _key(entry, length, f"{name}[{number}]")


def _key(entry: Any, length: int, where: str) -> DeviceKey:
    """Return the device that a list of names stands for; a share ID behind it is dropped."""
    if not isinstance(entry, list) or len(entry) != length or not all(isinstance(name, str) for name in entry):
        raise InputError(f"{where} has to be a list of {length} strings")
    return DeviceKey(*entry[:3])


def _error(text: str) -> dict[str, Any]:
    return {"results": None, "err": text, "n": 0, "verdict": "error"}


def _answer(outcome: SolveOutcome) -> dict[str, Any]:
    match outcome:
        case Solved(results, _, work):
            return {"results": [each.to_wire() for each in results], "n": work.steps, "verdict": "allocated"}
        case NoFit(work):
            return {"results": None, "n": work.steps, "verdict": "unsatisfiable"}
        case Aborted(text, _, work, on_node):
            node = {"onNode": True} if on_node else {}
            return {"results": None, "err": text, **node, "n": work.steps, "verdict": "error"}
        case OutOfBudget(work, text):
            return {"results": None, "err": text, "n": work.steps, "verdict": "undecided"}
