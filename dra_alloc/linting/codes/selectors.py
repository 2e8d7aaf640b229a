"""
CEL selectors: what they read and nobody publishes, what they match, what they cost, and alternatives behind others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.errors import did_you_mean, first_few, in_brief
from dra_alloc.limits import CEL_SELECTOR_MAX_COST
from dra_alloc.linting.codes.alternatives import weighed
from dra_alloc.linting.looking import AskedDevices, Linting, WrittenSelector
from dra_alloc.linting.mending import changed_at
from dra_alloc.linting.published import LetThrough, Published
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import WrittenObject
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.work import BudgetExhausted

#: More of the limit than this is told: environments of later releases may count more.
_COSTLY: Final = CEL_SELECTOR_MAX_COST // 2
_JOINED: Final = re.compile(
    r"""(attributes|capacity)\[(['"])([^'"/\]]+)/([A-Za-z_]\w*)\2\](?:\.(?:string|bool|int|version)\b)?"""
)
_WALKS: Final = re.compile(r"\b(?:all|exists\w*|map|filter|transform\w+|sort\w*)\s*\(")
_NO_KEY: Final = "no such key"
_TYPED: Final = re.compile(
    r"""attributes\[(['"])(?P<domain>[^'"\]]+)\1\](?:\.(?P<name>[A-Za-z_]\w*))??\.(?P<type>string|bool|int|version)\b(?!\()"""
)


def _joined(fault: FieldFault, value: Any) -> bool:
    return "compilation failed" in fault.detail and isinstance(value, str) and bool(_JOINED.search(value))


def _one_key(linting: Linting) -> Iterator[Hit]:
    """Yield selectors that look a domain and a name up as one key, and that validation does not refuse for it."""
    for each in linting.selectors:
        found = _JOINED.search(each.expression)
        if found and (not linting.is_stored(each.written) or linting.published.program(each.expression) is not None):
            said = f'{found[1]} are looked up by domain and then by name, and "{found[3]}/{found[4]}" is no domain'
            yield Hit(each.written, each.path, said, f'device.{found[1]}["{found[3]}"].{found[4]}')


def _not_compiling(linting: Linting) -> Iterator[Hit]:
    """Yield selectors that do not compile in objects that could not be made, and so were not validated."""
    for each in linting.selectors:
        if not linting.is_stored(each.written) and not _JOINED.search(each.expression):
            try:
                linting.published.environment.compile(each.expression)
            except cel.CompileError as error:
                yield Hit(each.written, each.path, error.text, error.hint)


def _apart(value: Any, path: Path, _hint: str) -> Any:
    """Look domain and name up one after the other."""
    return changed_at(value, path, lambda text: _JOINED.sub(r"\1[\2\3\2].\4", text) if isinstance(text, str) else None)


def _suffixed(linting: Linting) -> Iterator[Hit]:
    """Yield reads of a value's type, which values do not have in selectors."""
    for each in linting.selectors:
        match = _typed(each.expression)
        if match is None or _JOINED.search(each.expression) or linting.published.program(each.expression) is None:
            continue
        if match["name"]:
            said = f"attribute {match['name']} is its value: it has no member {match['type']}"
            yield Hit(each.written, each.path, said, f"leave out .{match['type']}")
        else:
            said = f'attributes are looked up by domain and then by name, and "{match["domain"]}" is no domain'
            hint = f'device.attributes["DOMAIN"].{match["domain"]}, where DOMAIN mostly is the name of the driver'
            yield Hit(each.written, each.path, said, hint)


def _typed(expression: str) -> re.Match[str] | None:
    """Return the first read of a value's type: attributes may be called like a type, too."""
    return next((each for each in _TYPED.finditer(expression) if each["name"] or "." not in each["domain"]), None)


def _reads(linting: Linting) -> Iterator[tuple[WrittenSelector, cel.Read]]:
    """Yield the names that each selector reads, where it is known what is published."""
    if not linting.published.devices:
        return
    for each in linting.selectors:
        program = linting.published.program(each.expression)
        if program is not None and not _JOINED.search(each.expression):
            yield from ((each, read) for read in program.reads if read.kind in ("attribute", "capacity"))


def _unknown_domains(linting: Linting) -> Iterator[Hit]:
    published = linting.published
    told: set[tuple[WrittenSelector, str]] = set()
    known, hints = sorted(published.domains), dict[str, str]()
    for each, read in _reads(linting):
        if read.domain in published.domains or (each, read.domain) in told:
            continue
        told.add((each, read.domain))
        if read.domain not in hints:
            hints[read.domain] = did_you_mean(read.domain, known) or f"published are names of {first_few(known)}"
        said = f"nobody publishes names in domain {in_brief(read.domain)}"
        yield Hit(each.written, each.path, said, hints[read.domain])


def _unknown_names(linting: Linting) -> Iterator[Hit]:
    published = linting.published
    for each, read in _reads(linting):
        own = published.attributes if read.kind == "attribute" else published.capacity
        if read.domain not in published.domains or read.name in own.get(read.domain, {}):
            continue
        said = f"nobody publishes {read.kind} {in_brief(read.name)} in domain {in_brief(read.domain)}"
        yield Hit(each.written, each.path, said, _instead(read, published))


def _instead(read: cel.Read, published: Published) -> str:
    other = ("capacity", published.capacity) if read.kind == "attribute" else ("attribute", published.attributes)
    if read.name in other[1].get(read.domain, {}):
        member = "capacity" if other[0] == "capacity" else "attributes"
        written = f'device.{member}["{read.domain}"].{read.name}'
        amount = f', as in {written}.compareTo(quantity("40Gi")) >= 0' if other[0] == "capacity" else f": {written}"
        return f"it is {'a' if other[0] == 'capacity' else 'an'} {other[0]}{amount}"
    names = published.attributes if read.kind == "attribute" else published.capacity
    elsewhere = sorted(domain for domain, known in names.items() if domain and read.name in known)
    if elsewhere:
        return f"{read.name} is published in domain {first_few(elsewhere)}"
    known = sorted(names.get(read.domain, {}))
    listed = f"published are {first_few(known)}" if known else "nothing of that kind is published there"
    return did_you_mean(read.name, known) or listed


def _lacking(linting: Linting) -> Iterator[Hit]:
    """Yield selectors that fail on some candidate that lacks what they read."""
    for written, path, expression, told in _failures(linting):
        if _NO_KEY in told[0] and not _typed(expression) and _knows(linting.published, expression):
            yield Hit(written, path, *told)


def _failing(linting: Linting) -> Iterator[Hit]:
    """Yield selectors that fail on some candidate for any other reason."""
    for written, path, expression, told in _failures(linting):
        if _NO_KEY not in told[0] and not _typed(expression):
            yield Hit(written, path, *told)


def _failures(linting: Linting) -> Iterator[tuple[WrittenObject, Path, str, tuple[str, str]]]:
    """Yield selectors of requests and classes that fail on candidates, with what is said of that and a hint."""
    for asked, found, known in _asked(linting):
        for number, expression in enumerate(asked.expressions):
            if expression in found.failures:
                path = (*asked.path, "selectors", number, "cel", "expression")
                yield asked.written, path, expression, _failure(linting, expression, found, len(known.devices))
    for each in linting.documents.classes:
        written = linting.written_of(each)
        expressions = [one.cel.expression if one.cel is not None else "" for one in each.spec.selectors]
        found = linting.published.candidates([one for one in expressions if one])
        for number, expression in enumerate(expressions):
            if written is not None and expression in found.failures:
                path = ("spec", "selectors", number, "cel", "expression")
                told = _failure(linting, expression, found, len(linting.published.devices))
                yield written, path, expression, told


def _knows(published: Published, expression: str) -> bool:
    """Return whether somebody publishes all names that a selector reads: others are told by other codes."""
    program = published.program(expression)
    return (
        program is not None
        and not _JOINED.search(expression)
        and all(
            read.name in (published.attributes if read.kind == "attribute" else published.capacity).get(read.domain, {})
            for read in program.reads
            if read.kind in ("attribute", "capacity")
        )
    )


def _failure(linting: Linting, expression: str, found: LetThrough, of: int) -> tuple[str, str]:
    count, text, first = found.failures[expression]
    program = linting.published.program(expression)
    hints = cel.evaluation_hints(text, program, first.seen) if program is not None else ()
    said = f"fails on {count:,} of {of:,} candidates, such as {first.driver} {in_brief(first.wire.name)}: {text}"
    return f"{said}; a pod whose node has one that is looked at is not scheduled", "; ".join(hints)


def _asked(linting: Linting) -> Iterator[tuple[AskedDevices, LetThrough, LetThrough]]:
    """Yield requests with the devices that are let through and those of their class, where both are known."""
    if not linting.published.devices:
        return
    for claim in linting.claims:
        for asked in claim.asked:
            found, known = linting.candidates(asked), linting.published.of_class(asked.model.device_class_name)
            if found is not None and known is not None and found.exact:
                yield asked, found, known


def _matching_nothing(linting: Linting) -> Iterator[tuple[AskedDevices, Hit]]:
    for asked, found, known in _asked(linting):
        if found.devices or not known.devices or found.failures:
            continue
        name = asked.model.device_class_name
        said = f"the selectors match none of the {len(known.devices):,} devices of class {in_brief(name)}"
        yield asked, Hit(asked.written, (*asked.path, "selectors"), said, _nearest(linting, asked))


def _nearest(linting: Linting, asked: AskedDevices) -> str:
    """Return what stands where the selectors read, so that one sees what to compare with."""
    found: dict[str, tuple[str, ...]] = {}
    for expression in asked.expressions:
        program = linting.published.program(expression)
        for read in program.reads if program is not None else ():
            if read.kind in ("attribute", "capacity"):
                found[read.name] = linting.published.values(asked.model.device_class_name, read)
    return "; ".join(f"{name} is {first_few(values)}" for name, values in found.items() if values)


def _empty_class(linting: Linting) -> Iterator[tuple[AskedDevices, Hit]]:
    if not linting.published.devices:
        return
    for claim in linting.claims:
        for asked in claim.asked:
            found = linting.published.of_class(asked.model.device_class_name)
            if found is not None and found.exact and not found.devices:
                said = f"class {in_brief(asked.model.device_class_name)} has no device: none that is published is of it"
                yield asked, Hit(asked.written, (*asked.path, "deviceClassName"), said)


def _unknown_class(linting: Linting) -> Iterator[tuple[AskedDevices, Hit]]:
    if linting.cluster is None:
        return
    known, hints = sorted(linting.published.classes), dict[str, str]()
    listed = f"known classes: {first_few(known)}" if known else "no class is known"
    for claim in linting.claims:
        for asked in claim.asked:
            name = asked.model.device_class_name
            if name and name not in linting.published.classes:
                if name not in hints:
                    hints[name] = "; ".join(filter(None, (did_you_mean(name, known), listed)))
                said = f"there is no DeviceClass {in_brief(name)}: pods that use the claim stay pending"
                yield asked, Hit(asked.written, (*asked.path, "deviceClassName"), said, hints[name])


def _costly(linting: Linting) -> Iterator[Hit]:
    for each in linting.selectors:
        # What walks nothing costs little, however long it is: it need not be compiled once more.
        program = linting.published.program(each.expression) if _WALKS.search(each.expression) else None
        if program is not None and _COSTLY < program.max_cost <= CEL_SELECTOR_MAX_COST:
            share = f"{program.max_cost:,} of {CEL_SELECTOR_MAX_COST:,}"
            yield Hit(each.written, each.path, f"the estimated cost is {share}", "walk fewer and shorter lists")


def _unguarded(linting: Linting) -> Iterator[Hit]:
    """Yield reads without a guard, whether some device lacks what they read or not."""
    if not linting.selectors:
        return
    reading = linting.published.environment.reading
    for each in linting.selectors:
        program = linting.published.program(each.expression)
        reads = program.reads if program is not None else ()
        # Of each driver one, as what is read may stand behind a look at that.
        domains = dict.fromkeys(read.domain for read in reads if read.kind in ("attribute", "capacity"))
        for domain in ("", *domains) if domains else ():
            try:
                if program is not None:
                    program.matches(cel.prepare_device(domain, {}, {}, None, reading))
            except cel.EvaluationError as error:
                yield Hit(each.written, each.path, f"{error.text} on a device without it", "guard it with has()")
                break
            except BudgetExhausted:
                return


def _behind(linting: Linting) -> Iterator[Hit]:
    """Yield alternatives that ask for all that an earlier one asks for."""
    for claim in linting.claims:
        bound = {name for each in claim.devices.constraints for name in each.requests}
        by_request: dict[str, list[AskedDevices]] = {}
        for asked in claim.asked:
            earlier = by_request.setdefault(asked.request, [])
            before = next((each for each in earlier if asked.among and _asks_no_more(each.model, asked.model)), None)
            if before is not None and not bound & {f"{each.request}/{each.model.name}" for each in (before, asked)}:
                said = f"never reached: whatever it could get, {before.model.name} gets before it"
                yield Hit(asked.written, asked.path, said, "order them from the most to the least wanted, or drop it")
            earlier.append(asked)


def _asks_no_more(one: Any, other: Any) -> bool:
    """Return whether devices that are enough for the other alternative always are for the one."""
    if one.device_class_name != other.device_class_name or getattr(one, "derived_attributes", ()):
        return False
    if one.capacity or other.capacity:
        return False
    modes = {one.allocation_mode or "ExactCount", other.allocation_mode or "ExactCount"}
    return (
        modes == {"ExactCount"}
        and (one.count or 1) <= (other.count or 1)
        and set(one.selectors) <= set(other.selectors)
        and set(other.tolerations) <= set(one.tolerations)
    )


RULES: Final = (
    LintRule(
        "E201",
        "error",
        "the selector does not compile",
        finds=_not_compiling,
        takes=lambda fault, value: "compilation failed" in fault.detail and not _joined(fault, value),
    ),
    LintRule(
        "E202",
        "error",
        "the selector may cost more than the API server takes",
        takes=lambda fault, _: "exceeds cost limit" in fault.detail,
    ),
    LintRule(
        "E203",
        "warning",
        "the selectors match nothing that is published",
        finds=weighed(_matching_nothing),
    ),
    LintRule("E204", "warning", "nobody publishes names in the domain that is read", finds=_unknown_domains),
    LintRule("E205", "warning", "nobody publishes the name that is read", finds=_unknown_names),
    LintRule("E206", "warning", "what is read is missing on some candidates, where the selector fails", finds=_lacking),
    LintRule("E207", "warning", "the selector costs more than half of the limit", finds=_costly),
    LintRule(
        "E208",
        "error",
        "domain and name are two lookups",
        finds=_one_key,
        takes=_joined,
        fix="unsafe",
        mend=(_apart,),
    ),
    LintRule("E209", "error", "the value of an attribute has no member for its type", finds=_suffixed),
    LintRule(
        "E210", "info", "a name is read without a guard, whoever publishes it", finds=_unguarded, by_default=False
    ),
    LintRule("E211", "error", "no class serves the claim", finds=weighed(_unknown_class)),
    LintRule("E212", "warning", "the class has no device", finds=weighed(_empty_class)),
    LintRule("E213", "warning", "an alternative is never reached", finds=_behind),
    LintRule("E214", "error", "the selector fails on some candidates", finds=_failing),
)
