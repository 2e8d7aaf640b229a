"""
The cause of a refusal in one sentence, with its numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dra_alloc.api import DeviceConstraint
from dra_alloc.explain.counts import Group, RequestTally, number_of_devices
from dra_alloc.explain.expressions import in_a_sentence, reads
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.rules import CONSTRAINTS, describe, lacking
from dra_alloc.rules.facts import Agree
from dra_alloc.solve.question import Question

#: Codes of devices that are not what was asked for, and of those that other requests of the question have.
_OTHER_KIND: Final = ("class-mismatch", "selector-mismatch")
_PICKED: Final = "device-picked"
_IN_USE: Final = "device-in-use"
_LACKING: Final = "attribute-missing"
_MOST: Final = 3
_MOST_ALIKE: Final = 2
_MOST_NAMED: Final = 2
_MOST_REQUESTS: Final = 6
_FALSE: Final = re.compile(r"selector (\d+) is false: (.*)", re.DOTALL)


class Told(NamedTuple):
    """A request, or one alternative of it, and what its devices fell to."""

    ask: Ask
    tally: RequestTally


def alone(question: Question, alternatives: Sequence[Told]) -> str:
    """Return why a request cannot be served though it were the only one; of alternatives each of the first few."""
    if len(alternatives) == 1:
        told = alternatives[0]
        return f"{called(question, told.ask)} {_lacks(question, told)}"
    owner = f" of claim {question.rows[alternatives[0].ask.claim].name}" if len(question.rows) > 1 else ""
    few = [f'"{told.ask.full_name.partition("/")[2]}" {_lacks(question, told)}' for told in alternatives[:_MOST]]
    more = [f"{len(alternatives) - _MOST} more"] if len(alternatives) > _MOST else []
    who = f'request "{alternatives[0].ask.request_name}"{owner}'
    return f"{who} can have none of its alternatives: {'; or '.join([*few, *more])}"


def _lacks(question: Question, told: Told) -> str:
    """Return what a request needs and what it misses, were it the only one."""
    tally = told.tally
    wants = f"needs {_wanted(tally)}"
    if not tally.pools:
        return f"{wants}, and no pool offers any on this node"
    missed = _missed(tally)
    broken = [f"pool {pool.pool} ({pool.driver}) is {_broken(pool.state)}" for pool in tally.pools if pool.state]
    total = sum(pool.devices for pool in tally.pools)
    matching = tally.usable + sum(len(group.devices) for group in missed)
    parts: list[str] = []
    if total and (matching < tally.needed or not matching):
        verb = "matches" if matching == 1 else "match"
        few = f"only {matching} of {total} {verb}" if matching else "none matches"
        if matching == total:
            few = f"there {'is' if total == 1 else 'are'} only {total}"
        parts.append(f"and {few}{_kind(question, told, total - matching, total)}")
    elif missed or broken:
        parts.append(_available(tally, matching, total))
    fallen: Iterable[str] = (*_few(missed), *_lacking(question, told))
    # Devices of several pools can share a name.
    fallen = _of_one(fallen) if len(tally.pools) == 1 else fallen
    return ", ".join((wants, "; ".join((*parts, *fallen, *broken[:_MOST]))))


def _broken(state: str) -> str:
    """Return in which state a pool is that offers nothing, and that this is what an incomplete one does."""
    return f"{state}, so nothing of it can be allocated" if state.startswith("incomplete: ") else state


def _of_one(fallen: Iterable[str]) -> Iterator[str]:
    """Yield what devices fell to, that of one device which is named more than once together."""
    said: dict[str, list[str]] = {}
    for each in fallen:
        name, _, why = each.partition(": ")
        said.setdefault(name if why and " " not in name else each, []).append(why)
    for name, reasons in said.items():
        yield f"{name}: {', and '.join(reasons)}" if any(reasons) and " " not in name else name


def _available(tally: RequestTally, matching: int, total: int) -> str:
    """Return how many devices are available, of how many that match, and of how many these are some."""
    have = f"only {tally.usable}" if tally.usable else "neither" if matching == 2 and not tally.takes_all else "none"
    verb = "are" if tally.usable > 1 else "is"
    if not tally.takes_all and 0 < matching < total:
        match = f"{matching} of {total} {'matches' if matching == 1 else 'match'}"
        return f"{match} and {'is not' if matching == 1 else f'{have} {verb}'} available"
    return f"{'none' if have == 'neither' else have}{f' of {matching}' if matching > 1 else ''} {verb} available"


def _lacking(question: Question, told: Told) -> Iterator[str]:
    """Yield which devices that fell to something else would not do anyway, for want of an attribute."""
    ask, tally = told
    codes = {group.code for pool in tally.pools for group in pool.groups}
    missed = {
        (pool.driver, pool.pool, name)
        for pool in (tally.pools if _LACKING not in codes else ())
        for group in pool.groups
        for name in group.devices
        if group.code not in _OTHER_KIND
    }
    devices = [each for each in question.candidates if tuple(each.key) in missed] if missed else []
    for constraint in () if ask.wire.derived_attributes else question.rows[ask.claim].wire.spec.devices.constraints:
        stated = constraint.stated
        if stated is not None and ask.named_by(constraint.requests):
            names = [each.key.device for each in devices if each.attribute(stated.attribute) is None]
            yield from [f"{_devices(names)}: {lacking(stated.attribute, stated.kind.wire)}"] if names else ()


def together(question: Question, served: Sequence[Sequence[Told]], stuck: Sequence[Told]) -> str:
    """
    Return why requests cannot be served that could be, were each the only one and free of constraints.

    `served` are all requests alone, `stuck` is the first that is left without its devices.
    """
    ask, tally = max(stuck, key=_nearness)
    missed = [group for group in _missed(tally) if group.code != _PICKED]
    one_each = [_of_stuck(each, ask) or max(each, key=_nearness) for each in served]
    for constraint in question.rows[ask.claim].wire.spec.devices.constraints:
        stated = constraint.stated
        if stated is not None and any(stated.attribute in group.detail for group in missed):
            spread = _spread(question, ask, constraint, one_each)
            if spread:
                return spread
    if missed:
        short = tally.needed - tally.usable
        have = ask.count - short
        more = f"only {have} can be chosen{' together' if have > 1 else ''}"
        if have < 1:
            more = f"none is available{' beside the other requests' if len(served) > 1 else ''}"
        needs = f"needs {number_of_devices(ask.count)}, {more}"
        said = needs if not tally.takes_all else "cannot have all matching devices"
        return f"{called(question, ask)} {said}; {'; '.join(_few(missed))}"
    return (
        _competing(question, ask, one_each)
        or f"{called(question, ask)} needs more than is available beside the other requests"
    )


def _competing(question: Question, ask: Ask, requests: Sequence[Told]) -> str:
    """Return how much the requests that want the same devices need together; empty if so much could be had."""
    usable = {each.ask.id: _usable(each.tally) for each in requests}
    wanted, among = set(usable.get(ask.id, ())), {ask.id}
    while more := [key for key, devices in usable.items() if key not in among and not wanted.isdisjoint(devices)]:
        among.update(more)
        wanted.update(*(usable[key] for key in more))
    competing = [each for each in requests if each.ask.id in among]
    needed = sum(each.tally.needed for each in competing)
    if needed <= len(wanted):
        return ""
    listed = [f"{called(question, each.ask)}: {each.tally.needed}" for each in competing]
    rest = f" and {len(listed) - _MOST_REQUESTS} more" if len(listed) > _MOST_REQUESTS else ""
    requested = f"{', '.join(listed[:_MOST_REQUESTS])}{rest}"
    return f"{needed} devices are needed together ({requested}), and {_have_together(len(wanted), competing)}"


def _have_together(available: int, competing: Sequence[Told]) -> str:
    """Return how many devices requests can have together, of how many that match."""
    pools = [pool for each in competing for pool in each.tally.pools]
    missed = {
        (pool.driver, pool.pool, name)
        for pool in pools
        for group in pool.groups
        if group.code not in _OTHER_KIND
        for name in group.devices
    }
    matching = len(missed.union(*(_usable(each.tally) for each in competing)))
    total = sum({(pool.driver, pool.pool): pool.devices for pool in pools}.values())
    if matching > available:
        return f"only {available} of {matching} {'is' if available == 1 else 'are'} available"
    if matching < total:
        return f"only {matching} of {total} {'matches' if matching == 1 else 'match'}"
    return f"there {'is' if total == 1 else 'are'} only {total}"


def _nearness(told: Told) -> tuple[bool, int]:
    tally = told.tally
    return bool(tally.needed or not tally.takes_all), tally.usable - tally.needed


def _of_stuck(alternatives: Sequence[Told], ask: Ask) -> Told | None:
    return next((each for each in alternatives if each.ask is ask), None)


def _usable(tally: RequestTally) -> set[tuple[str, str, str]]:
    return {(pool.driver, pool.pool, name) for pool in tally.pools for name in pool.usable}


def called(question: Question, ask: Ask) -> str:
    """Return what the request is called: an extended resource, or its name, and its claim's if there are more."""
    row = question.rows[ask.claim]
    resource = row.extended_resource(ask)
    if resource:
        return resource
    return f'request "{ask.full_name}"' + (f" of claim {row.name}" if len(question.rows) > 1 else "")


def _wanted(tally: RequestTally) -> str:
    if tally.takes_all:
        return "all matching devices"
    return number_of_devices(tally.needed)


def _missed(tally: RequestTally) -> list[Group]:
    """Return what devices of the kind asked for fell to, nearest miss first, those of one reason together."""
    merged: dict[tuple[str, str], list[Group]] = {}
    for group in (group for pool in tally.pools for group in pool.groups if group.code not in _OTHER_KIND):
        # Who holds them is told of all devices in use together.
        merged.setdefault((group.code, "" if group.code == _IN_USE else group.detail), []).append(group)
    found = [_together(groups) for groups in merged.values()]
    return sorted(found, key=lambda group: (group.code == _PICKED, -len(group.devices)))


def _together(groups: Sequence[Group]) -> Group:
    first = groups[0]
    devices = tuple(name for group in groups for name in group.devices)
    holders = tuple(dict.fromkeys(name for group in groups for name in group.holders))
    if len(groups) == 1 or first.code != _IN_USE:
        return Group(first.code, first.detail, devices, holders)
    held = Counter(name for group in groups for name in group.holders for _ in group.devices)
    counted = len(holders) <= _MOST and len(set(held.values())) > 1
    few = [f"{name} ({held[name]})" for name in holders] if counted else holders[:_MOST]
    more = f" and {len(holders) - _MOST} more" if len(holders) > _MOST else ""
    return Group(first.code, f"allocated to {', '.join(few)}{more}", devices, holders)


def _few(groups: Sequence[Group]) -> list[str]:
    """Return the first few groups, each with the number of its devices or the one's name; many of one code in one."""
    alike: dict[str, list[Group]] = {}
    for each in groups:
        alike.setdefault(each.code, []).append(each)
    told = []
    for several in alike.values():
        if len(several) > _MOST_ALIKE:
            names = [name for each in several for name in each.devices]
            told.append(f"{_devices(names)}: {several[0].detail}, or the like")
        else:
            told += [_said(each) for each in several]
    more = [f"and {len(told) - _MOST} more reasons"] if len(told) > _MOST else []
    return [*told[:_MOST], *more]


def _said(group: Group) -> str:
    if group.code == _IN_USE and len(group.devices) > 1:
        return (
            f"{_devices(group.devices) if len(group.devices) == _MOST_NAMED else len(group.devices)} are {group.detail}"
        )
    return f"{_devices(group.devices)}: {group.detail}"


def _devices(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} devices"


def _kind(question: Question, told: Told, others: int, total: int) -> str:
    """Return the selector that is false last on the devices nearest to matching, with what they have instead."""
    false: dict[tuple[bool, int, str], set[tuple[str, str, str]]] = {}
    ask = told.ask
    for pool in told.tally.pools:
        for group in pool.groups:
            found = _FALSE.search(group.detail) if group.code in _OTHER_KIND else None
            if found is not None:
                key = group.code == "selector-mismatch", int(found[1]), found[2]
                false.setdefault(key, set()).update((pool.driver, pool.pool, name) for name in group.devices)
    if not false:
        return ""
    of_request, number, expression = max(false)
    owner = "its selector" if of_request else f"class {ask.class_name}"
    missing = false[of_request, number, expression]
    devices = [each for each in question.candidates if each.key in missing]
    have = _have(expression, devices, _those(len(devices), others, total))
    return f": {owner} wants {in_a_sentence(expression)}{have}"


def _those(count: int, others: int, total: int) -> str:
    """Return what devices are called, which are some of those that do not match, with their verb."""
    if count == 1:
        kind = "device" if others == total else "other"
        return f"{'the' if others == 1 else 'one'} {kind} has"
    return "devices have" if others == total else "the others have"


def _have(expression: str, devices: Sequence[DeviceRow], those: str) -> str:
    told = having(expression, devices)
    return f"; {those} {told}" if told else ""


def having(expression: str, devices: Sequence[DeviceRow]) -> str:
    """Return which values devices have of the attributes and capacities that an expression reads."""
    told = []
    for kind, domain, name in dict.fromkeys(each[:3] for each in reads(expression)):
        read = _amount if kind == "capacity" else _attribute
        found = [read(each, f"{domain}/{name}") for each in devices]
        values = _counted(found)
        more = " ..." if len(values) > _MOST else " or none" if None in found else ""
        told.append(f"{name} {', '.join(list(values)[:_MOST])}{more}" if values else f"no {name}")
    return " and ".join(told[:2])


def _attribute(device: DeviceRow, name: str) -> str | None:
    found = device.attribute(name)
    return None if found is None else in_a_sentence(describe(found))


def _amount(device: DeviceRow, name: str) -> str | None:
    domain, _, bare = name.partition("/")
    found = device.capacity.get(name) or (device.capacity.get(bare) if domain == device.key.driver else None)
    return None if found is None else str(found.value)


def _counted(values: Iterable[str | None]) -> Mapping[str, int]:
    """Return how often there is each value, the most frequent first."""
    return dict(Counter(each for each in values if each is not None).most_common())


class _Spread(NamedTuple):
    """How the devices that could serve a request spread over an attribute's values; `without` have none."""

    told: Told
    values: Mapping[str, int]
    without: int


def _spread(question: Question, ask: Ask, constraint: DeviceConstraint, requests: Sequence[Told]) -> str:
    """
    Return how the devices that could serve a constraint's requests spread over its values.

    Empty where it does not show why: with derived attributes, or where there is enough for each request by itself.
    """
    row, stated = question.rows[ask.claim], constraint.stated
    named = [each for each in requests if each.ask.claim == row.index and each.ask.named_by(constraint.requests)]
    if stated is None or not named or ask.wire.derived_attributes:
        return ""
    found = [_over(question, each, stated.attribute) for each in named]
    kind, short = CONSTRAINTS.get(stated.kind.wire), stated.attribute.rpartition("/")[2]
    if kind is None or kind.form is None:
        return ""
    matching = kind.form is Agree
    if len(found) > 1:
        return _in_common(question, found, str(stated), short) if matching else ""
    told, values, without = found[0]
    most = max(values.values(), default=0) if matching else len(values)
    if most >= told.tally.needed:
        return ""
    listed = [f"{count} {'has' if count == 1 else 'have'} {short} {value}" for value, count in values.items()]
    listed = [*listed[: _MOST + 1], *(["..."] if len(listed) > _MOST + 1 else [])]
    listed += [f"{without} {'has' if without == 1 else 'have'} none"] if without else []
    has = f"at most {most} do" if most > 1 else "no two do"
    if not matching:
        has = f"{short} has only {most} {'value' if most == 1 else 'values'}"
    if not values:
        has = f"none has a {short}"
    needs = f"needs {told.tally.needed} devices that {f'share one {short}' if matching else f'differ in {short}'}"
    return f"{called(question, ask)} {needs} ({stated}), and {has}: {', '.join(listed)}"


def _over(question: Question, told: Told, attribute: str) -> _Spread:
    usable = _usable(told.tally)
    devices = [each for each in question.candidates if tuple(each.key) in usable]
    values = _counted(_attribute(each, attribute) for each in devices)
    return _Spread(told, values, len(devices) - sum(values.values()))


def _in_common(question: Question, found: Sequence[_Spread], stated: str, short: str) -> str:
    """Return which values requests can have that have to share one; empty if one is enough for each by itself."""
    if any(all(each.values.get(value, 0) >= each.told.tally.needed for each in found) for value in found[0].values):
        return ""
    needs: list[str] = []
    listed: list[str] = []
    for (ask, tally), values, without in found:
        needs.append(f'"{ask.full_name}" ({_wanted(tally)})')
        counts = [f"{value} ({count})" for value, count in values.items()]
        if counts and not listed:
            value, count = next(iter(values.items()))
            counts[0] = f"{value} ({number_of_devices(count)})"
        counts += [f"none ({without})"] if without else []
        more = ", ..." if len(counts) > _MOST else ""
        listed.append(f'"{ask.full_name}" can have {", ".join(counts[:_MOST]) or "no device"}{more}')
    row = question.rows[found[0].told.ask.claim]
    owner = f" of claim {row.name}" if len(question.rows) > 1 else ""
    common = set.intersection(*(set(each.values) for each in found))
    both = "both" if len(found) == _MOST_NAMED else "all of them"
    miss = f"has enough devices for {both}" if common else f"has devices for {both}"
    have_to = f"have to share one {short} ({stated}), and no {short} {miss}"
    return f"requests {' and '.join(needs)}{owner} {have_to}: {'; '.join(listed)}"
