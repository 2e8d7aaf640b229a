"""
Constraints over attributes that candidates lack, name in two ways or type in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api.constraints import CONSTRAINT_KINDS, DeviceConstraint
from dra_alloc.errors import did_you_mean, first_few, in_brief
from dra_alloc.linting.codes.alternatives import weigh
from dra_alloc.linting.codes.takes import unknown_field
from dra_alloc.linting.looking import AskedDevices, ClaimAsked, Linting
from dra_alloc.linting.mending import without
from dra_alloc.linting.published import PublishedDevice, type_of
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import WrittenObject, walked
from dra_alloc.manifest.kinds import RESOURCE_GROUP
from dra_alloc.manifest.read.paths import Path
from dra_alloc.rules import CONSTRAINTS
from dra_alloc.rules.facts import Agree

#: Names under which drivers publish the same thing; the standard name comes first.
_SAME: Final = (
    frozenset(
        {
            "resource.kubernetes.io/numaNode",
            "dra.net/numaNode",
            "dra.cpu/numaNodeID",
            "dra.cpu/numaNode",
            "gpu.nvidia.com/numa",
            "gpu.nvidia.com/numaNode",
            "gpu.amd.com/numaNode",
        }
    ),
)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A constraint with the requests that it binds, and the candidates of each of them."""

    claim: ClaimAsked
    path: Path
    kind: str
    name: str
    candidates: tuple[tuple[AskedDevices, tuple[PublishedDevice, ...]], ...]

    def with_name(self, name: str) -> Iterator[tuple[AskedDevices, list[object]]]:
        """Yield the requests with the values of an attribute among their candidates."""
        domain, _, short = name.partition("/")
        for asked, devices in self.candidates:
            found = (device.seen.attributes.get(domain, {}) for device in devices)
            yield asked, [dict.get(names, short) for names in found if dict.__contains__(names, short)]


def _bound(linting: Linting) -> Iterator[_Bound]:
    """Yield the constraints of which candidates of every request are known."""
    if not linting.published.devices:
        return
    for claim in linting.claims:
        for number, constraint in enumerate(claim.devices.constraints):
            stated = constraint.stated
            if stated is None:
                continue
            found = list(_candidates(linting, claim, constraint))
            if found and all(devices for _, devices in found):
                path = claim.where("constraints", number, stated.kind.wire)
                yield _Bound(claim, path, stated.kind.wire, stated.attribute, tuple(found))


def _candidates(
    linting: Linting, claim: ClaimAsked, constraint: DeviceConstraint
) -> Iterator[tuple[AskedDevices, tuple[PublishedDevice, ...]]]:
    for asked in claim.asked:
        alternative = f"{asked.request}/{asked.model.name}" if asked.among else asked.request
        if not constraint.requests or asked.request in constraint.requests or alternative in constraint.requests:
            found = linting.candidates(asked)
            yield asked, found.devices if found is not None and found.exact else ()


def _lacking(linting: Linting) -> Iterator[Hit]:
    """Yield constraints over what no candidate of a request has, under no other name either."""
    yield from _unpublished(linting)
    for each in _bound(linting):
        found: list[tuple[AskedDevices, Hit]] = []
        for asked, values in each.with_name(each.name):
            if not values and not _other_name(each, asked):
                said = f"no candidate of request {_called(asked)} has attribute {in_brief(each.name)}"
                said += ": the constraint cannot be met"
                found.append((asked, Hit(each.claim.written, each.path, said, _hint(each, asked))))
        yield from _worst(found)


def _worst(found: Sequence[tuple[AskedDevices, Hit]]) -> Sequence[Hit]:
    """Return the first of those that weigh most, if there is any."""
    return sorted(weigh(found), key=lambda each: each.severity is not None)[:1]


def _called(asked: AskedDevices) -> str:
    return f"{asked.request}/{asked.model.name}" if asked.among else asked.request


def _names(devices: Sequence[PublishedDevice]) -> list[str]:
    found = {
        f"{domain}/{name}": None for each in devices for domain, names in each.seen.attributes.items() for name in names
    }
    return sorted(found)


def _names_of(bound: _Bound, asked: AskedDevices) -> list[str]:
    return _names(next(devices for each, devices in bound.candidates if each is asked))


def _hint(bound: _Bound, asked: AskedDevices) -> str:
    names = _names_of(bound, asked)
    return did_you_mean(bound.name, names) or f"they have {first_few(names)}"


def _other_name(bound: _Bound, asked: AskedDevices) -> str:
    """Return the name under which the candidates of a request publish what the constraint names, or nothing."""
    return next(iter(_alike(bound.name, _names_of(bound, asked))), "")


def _alike(name: str, names: Iterable[str]) -> list[str]:
    """Return those of other names that mean the same, or are the same in another domain."""
    short = name.rpartition("/")[2]
    same = next((known for known in _SAME if name in known), frozenset[str]())
    return [each for each in names if each != name and (each in same or each.rpartition("/")[2] == short)]


def _named_twice(linting: Linting) -> Iterator[Hit]:
    """Yield constraints over what candidates of a request publish under another name."""
    for each in _bound(linting):
        found: list[tuple[AskedDevices, Hit]] = []
        for asked, values in each.with_name(each.name):
            other = "" if values else _other_name(each, asked)
            if other:
                said = f"candidates of request {_called(asked)} publish {other}, not {in_brief(each.name)}"
                said += ": the constraint cannot be met"
                found.append((asked, Hit(each.claim.written, each.path, said, _common(each))))
        yield from _worst(found)


def _common(bound: _Bound) -> str:
    """Return a name that candidates of all requests publish, if there is one."""
    shared = set.intersection(*({*_names(devices)} for _, devices in bound.candidates))
    fit = sorted(_alike(bound.name, shared))
    return f"all of them publish {fit[0]}" if fit else "no name for it is published by all of them"


def _typed_twice(linting: Linting) -> Iterator[Hit]:
    """Yield constraints that ask for equal values of which the types differ."""
    for each in _bound(linting):
        kind = CONSTRAINTS.get(each.kind)
        if kind is None or kind.form is not Agree:
            continue
        types = [
            (asked, {type_of(value).removeprefix("list of ") for value in values})
            for asked, values in each.with_name(each.name)
        ]
        by_request: dict[str, set[str]] = {}
        for asked, found in types:
            if found:
                by_request[asked.request] = by_request.get(asked.request, set()) | found
        if len(by_request) > 1 and not set.intersection(*by_request.values()):
            told = ", ".join(f"{' or '.join(sorted(found))} of {_called(asked)}" for asked, found in types if found)
            said = f"{in_brief(each.name)} has values of different types, which never are equal: {told}"
            yield Hit(each.claim.written, each.path, said, "a driver has to publish it as the other does")


def _sparse(linting: Linting) -> Iterator[Hit]:
    """Yield constraints over what some candidates lack."""
    for each in _bound(linting):
        found = dict(zip((devices for _, devices in each.candidates), each.with_name(each.name), strict=True))
        for devices, (asked, values) in found.items():
            if values and len(values) < len(devices):
                left = f"{len(devices) - len(values):,} of {len(devices):,}"
                said = f"{left} candidates of request {_called(asked)} lack {in_brief(each.name)} and are never taken"
                yield Hit(each.claim.written, each.path, said)
                break


def _misshapen(linting: Linting) -> Iterator[tuple[WrittenObject, Path, dict[str, Any]]]:
    """Yield what looks like a constraint in objects that could not be made: validation says little of these."""
    for each in linting.written:
        if each.group == RESOURCE_GROUP and not linting.is_stored(each):
            for path, value in walked(each.value):
                if any(kind.wire in value for kind in CONSTRAINT_KINDS):
                    yield each, path, value


def _operators(linting: Linting) -> Iterator[Hit]:
    """Yield operators of constraints that stand where there are none: the others are refused by validation."""
    for each, path, value in _misshapen(linting):
        if "operator" in value and path[-3:-1] != ("devices", "constraints"):
            yield Hit(each, (*path, "operator"), "a constraint has no operator", "leave it out")


def _unpublished(linting: Linting) -> Iterator[Hit]:
    """Yield names in such constraints that nobody publishes in a domain that is known."""
    attributes = linting.published.attributes if linting.published.devices else {}
    for each, path, value in _misshapen(linting):
        for kind in CONSTRAINT_KINDS:
            domain, _, short = str(value.get(kind.wire) or "").partition("/")
            names = attributes.get(domain, {})
            if short and names and short not in names:
                said = f"nobody publishes attribute {in_brief(short)} in domain {domain}"
                hint = did_you_mean(short, names) or f"published are {first_few(sorted(names))}"
                yield Hit(each, (*path, kind.wire), said, hint)


RULES: Final = (
    LintRule(
        "C301",
        "error",
        "a constraint has no operator: matchAttribute means equal, distinctAttribute different",
        finds=_operators,
        takes=unknown_field(r"constraints\[\d+\]\.operator"),
        fix="safe",
        mend=(without,),
    ),
    LintRule("C302", "error", "no candidate has the attribute that a constraint compares", finds=_lacking),
    LintRule("C303", "error", "candidates publish what a constraint compares under another name", finds=_named_twice),
    LintRule("C304", "warning", "what a constraint compares has values of different types", finds=_typed_twice),
    LintRule("C305", "info", "some candidates lack what a constraint compares", finds=_sparse),
)
