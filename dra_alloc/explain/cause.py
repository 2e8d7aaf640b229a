"""
The cause of a refusal in one sentence, with its numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.explain.counts import Group, RequestTally
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import describe
from dra_alloc.solve.allocator import Question

__all__ = ["alone", "together"]

#: Codes of devices that are not what was asked for, and of those that only other requests of the pod have.
_OTHER_KIND: Final = ("class-mismatch", "selector-mismatch")
_PICKED: Final = "device-picked"
_CONSTRAINT: Final = re.compile("attribute-")
_MOST: Final = 3
_READ: Final = re.compile(r'attributes\["([^"]+)"\]\.(\w+)')


def alone(question: Question, tallies: Sequence[RequestTally]) -> str:
    """Return why a request cannot be served though it were the only one; of alternatives the nearest is told."""
    tally = max(tallies, key=lambda each: (each.usable - each.needed, len(each.pools)))
    ask = _ask_of(question, tally)
    broken = [f"pool {pool.pool} ({pool.driver}) is {pool.state}" for pool in tally.pools if pool.state]
    missed = [group for group in _groups(tally) if group.code not in _OTHER_KIND]
    wants = f"{_who(question, ask)} needs {_wanted(tally)}"
    if missed or broken:
        told = [*map(_counted, missed[:_MOST]), *broken[:_MOST]]
        return f"{wants}, {tally.usable or 'none'} can be had; {'; '.join(told)}"
    if not tally.pools:
        return f"{wants}, and no pool offers any on this node"
    only = f"only {tally.usable} of {sum(pool.devices for pool in tally.pools)}" if tally.usable else "none"
    return f"{wants}, and {only} matches{_kind(question, ask)}"


def together(question: Question, served: Sequence[Sequence[RequestTally]], stuck: Sequence[RequestTally]) -> str:
    """Return why requests that could each be served alone cannot be served together."""
    tally = max(stuck, key=lambda each: each.usable)
    ask = _ask_of(question, tally)
    missed = [group for group in _groups(tally) if group.code not in (*_OTHER_KIND, _PICKED)]
    if any(_CONSTRAINT.match(group.code) for group in missed):
        spread = _spread(question, ask, served)
        if spread:
            return spread
    if missed:
        told = "; ".join(map(_counted, missed[:_MOST]))
        return f"{_who(question, ask)} needs {tally.needed} more than can be had; {told}"
    asks = [(_who(question, _ask_of(question, each[0])), each[0].needed) for each in served]
    devices = {
        (pool.driver, pool.pool, name) for each in served for one in each for pool in one.pools for name in pool.usable
    }
    each = ", ".join(f"{name}: {count}" for name, count in asks[:6]) + (" ..." if len(asks) > 6 else "")
    return f"{sum(count for _, count in asks)} devices are needed together ({each}), and {len(devices)} can be had"


def _ask_of(question: Question, tally: RequestTally) -> Ask:
    return next(
        ask
        for row in question.rows
        if row.name == tally.claim
        for request in row.requests
        for ask in request.asks
        if ask.full_name == tally.request
    )


def _who(question: Question, ask: Ask) -> str:
    """Return what the user calls the request: an extended resource, or its name, and its claim's if there are more."""
    row = question.rows[ask.claim]
    resource = row.extended_resource(ask)
    if resource:
        return resource
    return f'request "{ask.full_name}"' + (f" of claim {row.name}" if len(question.rows) > 1 else "")


def _wanted(tally: RequestTally) -> str:
    if tally.takes_all:
        return "all matching devices"
    return f"{tally.needed} {'device' if tally.needed == 1 else 'devices'}"


def _groups(tally: RequestTally) -> list[Group]:
    """Return what devices of all pools fell to, those of one reason together."""
    merged: dict[tuple[str, str], list[str]] = {}
    for pool in tally.pools:
        for group in pool.groups:
            merged.setdefault((group.code, group.detail), []).extend(group.devices)
    return [Group(code, detail, tuple(names)) for (code, detail), names in merged.items()]


def _counted(group: Group) -> str:
    names = group.devices
    return f"{names[0] if len(names) == 1 else f'{len(names)} devices'}: {group.detail}"


def _kind(question: Question, ask: Ask) -> str:
    """Return the selector that is false of most devices, with what devices have instead."""
    false: dict[tuple[str, str], list[DeviceRow]] = {}
    for device in question.candidates:
        code, detail = question.context.explain_selector(ask, device)
        if detail != "matches every selector":
            false.setdefault((code, detail), []).append(device)
    if not false:
        return ""
    (code, detail), devices = max(false.items(), key=lambda each: (each[0][0] == "selector-mismatch", len(each[1])))
    owner = f"class {ask.class_name}" if code == "class-mismatch" else "its selector"
    expression = detail.partition("is false: ")[2]
    return f": {owner} wants {expression}{_have(expression, devices)}"


def _have(expression: str, devices: Sequence[DeviceRow]) -> str:
    """Return which values devices have of the attributes that an expression reads."""
    told = []
    for domain, name in dict.fromkeys(_READ.findall(expression)):
        values = _values(f"{domain}/{name}", devices)
        if values:
            told.append(f"{name} {', '.join(values[:_MOST])}{' ...' if len(values) > _MOST else ''}")
    return f"; devices have {' and '.join(told[:2])}" if told else ""


def _values(attribute: str, devices: Iterable[DeviceRow]) -> list[str]:
    seen = Counter(describe(found) for each in devices if (found := each.attribute(attribute)) is not None)
    return [value for value, _ in seen.most_common()]


def _spread(question: Question, ask: Ask, served: Sequence[Sequence[RequestTally]]) -> str:
    """Return how the devices that could serve a constraint's requests spread over its values; empty without one."""
    row = question.rows[ask.claim]
    for constraint in row.wire.spec.devices.constraints:
        stated = constraint.stated
        if stated is None or not ask.named_by(constraint.requests):
            continue
        named = [each for each in served if _concerned(question, each[0], row.name, constraint.requests)]
        usable = {name for each in named for one in each for pool in one.pools for name in pool.usable}
        devices = [each for each in question.candidates if each.key.device in usable]
        values = Counter(
            "none" if (found := each.attribute(stated.attribute)) is None else describe(found) for each in devices
        )
        needed = sum(each[0].needed for each in named)
        each = ", ".join(f"{count} have {value}" for value, count in values.most_common(_MOST + 1))
        more = " ..." if len(values) > _MOST + 1 else ""
        who = _who(question, ask) if len(named) == 1 else f"claim {row.name}"
        return f"{who} needs {needed} devices under {stated}: {each}{more}"
    return ""


def _concerned(question: Question, tally: RequestTally, claim: str, names: Sequence[str]) -> bool:
    return tally.claim == claim and _ask_of(question, tally).named_by(names)
