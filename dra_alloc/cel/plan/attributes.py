"""
Code for identifiers, selections and indices: a root and the qualifiers applied to it.

Chains that start at `device` with constant names read its dicts directly.

Spec: CEL-16, CEL-18
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.cel.check.checking import Checked
from dra_alloc.cel.device import CelDevice
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.plan.frame import Frame, Run
from dra_alloc.cel.plan.qualifiers import MISSING, bad_qualifier, lookup, lookup_if_present
from dra_alloc.cel.syntax.ast import Literal, Node, Select
from dra_alloc.cel.values.runtime import NONE, Optional


class Qualifier(NamedTuple):
    """One step: a constant `key`, or code for one; `optional` for ``.?`` and ``[?]``, `test` for ``has()``."""

    key: Any = None
    run: Run | None = None
    optional: bool = False
    test: bool = False


def attribute(root: Run, qualifiers: Sequence[Qualifier], on_device: bool) -> Run:
    """Code for `root` with `qualifiers` applied; `on_device` says that the root is the device variable."""
    if on_device:
        fast = _device_chain(qualifiers)
        if fast is not None:
            return fast
    steps = tuple(qualifiers)
    if any(step.optional or step.test or step.run is not None for step in steps):
        return _general(root, steps)
    return _constant_keys(root, tuple(step.key for step in steps))


def _constant_keys(root: Run, keys: tuple[Any, ...]) -> Run:
    def run(frame: Frame) -> Any:
        value = root(frame)
        if type(value) is Optional:
            return _through_optional(value, keys)
        for key in keys:
            value = lookup(value, key)
        return value

    return run


def _through_optional(value: Optional, keys: tuple[Any, ...]) -> Any:
    if not value.present:
        return value
    inner = value.value
    for key in keys:
        inner = lookup_if_present(inner, key)
        if inner is MISSING:
            return NONE
    return Optional(inner)


def key_of_step(step: Qualifier, frame: Frame) -> Any:
    """The key of one step; raises CelError if it cannot index anything."""
    if step.run is None:
        return step.key
    key = step.run(frame)
    bad = bad_qualifier(key)
    if bad is not None:
        raise CelError(bad)
    return key


def _general(root: Run, steps: tuple[Qualifier, ...]) -> Run:
    testing = steps[-1].test

    def run(frame: Frame) -> Any:
        value = root(frame)
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return False if testing else value
            value = value.value
        for step in steps:
            optional = optional or step.optional
            key = key_of_step(step, frame)
            if optional or step.test:
                value = lookup_if_present(value, key)
                if value is MISSING:
                    return False if testing else NONE
            else:
                value = lookup(value, key)
        if testing:
            return True
        return Optional(value) if optional else value

    return run


def domains_of(steps: Sequence[Qualifier]) -> str:
    """``attributes`` or ``capacity`` if that alone is selected from the device, else nothing."""
    plain = len(steps) == 1 and not steps[0].test and not steps[0].optional
    return steps[0].key if plain and steps[0].key in ("attributes", "capacity") else ""


def domain_steps(node: Node, checked: Checked) -> tuple[Qualifier, ...]:
    """The steps from the device to one of its domains, which never fail, if `node` is nothing but these."""
    resolved = checked.calls.get(node.id)
    if resolved is None or resolved.function != "_[_]":
        return ()
    over, key = resolved.args
    if not isinstance(over, Select) or not isinstance(key, Literal) or type(key.value) is not str:
        return ()
    if over.test or over.field not in ("attributes", "capacity") or checked.names.get(over.operand.id) != "device":
        return ()
    return Qualifier(over.field), Qualifier(key.value)


_FIELDS: Final = frozenset(("driver", "allowMultipleAllocations", "attributes", "capacity"))


def _device_chain(steps: Sequence[Qualifier]) -> Run | None:
    """Code for ``device.field`` and ``device.map[domain].name``, None for other shapes."""
    if not steps or any(step.run is not None for step in steps):
        return None
    field = steps[0].key
    if steps[0].optional or steps[0].test or field not in _FIELDS:
        return None
    if len(steps) == 1:
        return _field(field)
    if len(steps) != 3 or field not in ("attributes", "capacity"):
        return None
    domain, name = steps[1], steps[2]
    if domain.optional or type(domain.key) is not str or type(name.key) is not str:
        return None
    return _named(field, domain.key, name)


def _field(field: str) -> Run:
    if field == "driver":
        return lambda frame: frame[0].driver
    if field == "allowMultipleAllocations":
        return lambda frame: frame[0].multi

    def run(frame: Frame) -> Any:
        device: CelDevice = frame[0]
        return device.value.entries[field]

    return run


_NOTHING: Final[dict[str, Any]] = {}


def _named(field: str, domain: str, step: Qualifier) -> Run:
    name = step.key
    of_attributes = field == "attributes"

    def attribute_value(frame: Frame) -> Any:
        try:
            return frame[0].attributes[domain][name]
        except KeyError:
            raise CelError(f"no such key: {name}") from None

    def capacity_value(frame: Frame) -> Any:
        try:
            return frame[0].capacity[domain][name]
        except KeyError:
            raise CelError(f"no such key: {name}") from None

    def optional(frame: Frame) -> Any:
        device: CelDevice = frame[0]
        domains = device.attributes if of_attributes else device.capacity
        value = domains.get(domain, _NOTHING).get(name, MISSING)
        return NONE if value is MISSING else Optional(value)

    def test(frame: Frame) -> bool:
        device: CelDevice = frame[0]
        domains = device.attributes if of_attributes else device.capacity
        return domains.get(domain, _NOTHING).get(name, MISSING) is not MISSING

    if step.test:
        return test
    if step.optional:
        return optional
    return attribute_value if of_attributes else capacity_value
