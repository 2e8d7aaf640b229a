"""
Lint of files and objects: what validation refuses and what the codes find, in the order of the texts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import Problem, Where, by_place
from dra_alloc.linting.codes import RULES
from dra_alloc.linting.codes.own import UNUSED
from dra_alloc.linting.fingerprints import Fingerprints
from dra_alloc.linting.looking import Linting, value_at
from dra_alloc.linting.rules import Hit, LintFinding, LintRule
from dra_alloc.linting.selection import CodesAsked
from dra_alloc.linting.suppressions import without_suppressed
from dra_alloc.linting.written import WrittenObject
from dra_alloc.manifest import Documents, Manner
from dra_alloc.manifest.given import documents_of, read_given
from dra_alloc.manifest.make.hints import PASSED_OVER
from dra_alloc.manifest.read.paths import MapKey, Path, render, tokens
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.releases import DEFAULT_RELEASE
from dra_alloc.scenario.prepare.gating import DROPPED
from dra_alloc.scenario.validating import Request, Validated, validated, without_templates
from dra_alloc.work import ran_out

_UNKNOWN_CLUSTER = (
    "without --cluster nobody knows what is published: what selectors and constraints find is not looked at"
)
_NO_DEVICES = (
    "the cluster publishes no device that this release reads: what selectors and constraints find is not looked at"
)

_NOTHING_BEFORE = "there are no slices in what was there before: nothing is compared"


class LintOptions(TypedDict, total=False):
    """What `lint` is asked besides the object."""

    release: str
    gates: Mapping[str, bool]
    namespace: str
    cluster: Documents | Iterable[Any]
    previous: Documents | Iterable[Any]
    select: Sequence[str]
    extend_select: Sequence[str]
    ignore: Sequence[str]


@dataclass(frozen=True, slots=True)
class LintAsked:
    """
    How files are linted: which server and scheduler are asked, what is there, which codes are looked for, and what is
    known of before; without a `cluster` nobody knows what is published. Slices are compared with those of `previous`.
    """

    settings: Settings = field(default_factory=Settings)
    namespace: str = "default"
    selection: CodesAsked = field(default_factory=CodesAsked)
    known: frozenset[str] = frozenset()
    cluster: Documents | None = None
    previous: Documents | None = None


@dataclass(frozen=True, slots=True)
class Linted:
    """
    What lint found, file by file and line by line; `unreadable` is text of which nobody knows what it says.

    `checked` counts the objects that were looked at; `suppressed` and `known` what was left out for comments and for
    the baseline; `undecided` says that the budget ran out, so that not all was looked at.
    """

    settings: Settings
    findings: tuple[LintFinding, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    checked: int = 0
    suppressed: int = 0
    known: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    undecided: str = ""

    @property
    def counting(self) -> tuple[LintFinding, ...]:
        """Those above info: clean is what has none."""
        return tuple(each for each in self.findings if each.severity != "info")


def lint(obj: Any, **asked: Unpack[LintOptions]) -> tuple[LintFinding, ...]:
    """
    Return what is wrong or risky in an object, most of it with what to write instead; nothing if all is well.

    `obj` is one of `dra_alloc.api`, a mapping as in JSON, or one of the
    official client. With a `cluster`, documents or objects of these forms,
    selectors and constraints are held against what is published there; slices
    are compared with those of `previous`, in the same forms. Codes are selected by their beginnings.

    Raises: InputError for a release, gate or code that is not known.
    """
    settings = Settings(asked.get("release", DEFAULT_RELEASE), asked.get("gates", {}))
    there, before = (
        None if each is None else documents_of(each) for each in (asked.get("cluster"), asked.get("previous"))
    )
    selection = CodesAsked(
        tuple(asked.get("select", ())), tuple(asked.get("extend_select", ())), tuple(asked.get("ignore", ()))
    )
    given = LintAsked(settings, asked.get("namespace") or "default", selection, cluster=there, previous=before)
    return linted(read_given(obj, Manner(release=settings.profile().release)), given).findings


def linted(read: tuple[Documents, Sequence[Problem]], asked: LintAsked = LintAsked()) -> Linted:
    """
    Return what is wrong or risky in documents that were read, and the problems with reading them.

    Spec: LINT-1 to LINT-9. Raises: InputError for settings and codes.
    """
    rules = asked.selection.of(RULES)
    found = without_templates(validated(*read, asked.settings, Request(asked.namespace)))
    linting = Linting(read[0], asked.cluster, asked.settings, asked.previous, asked.namespace)
    passed = _templates(linting, found)
    told = _once(
        list(_with_columns(linting, _of_faults(linting, found, rules))),
        _with_columns(linting, _of_codes(linting, found, rules, passed)),
    )
    undecided = "".join(ran_out())
    looked_for = {rule.code for rule in rules} - ({UNUSED.code} if undecided else set())
    left, suppressed = without_suppressed(linting, told, looked_for)
    in_lines = sorted(_with_columns(linting, left), key=lambda each: each.where.column or 0)
    marked = _marked(by_place(in_lines))
    new = tuple(each for each in marked if each.fingerprint not in asked.known)
    said = tuple({each.message for each in told})  # of versions that are off a code tells, object by object
    notes = [each for each in found.notes if not each.endswith(DROPPED) and not each.startswith(said)]
    alone = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.left_alone.items()))
    notes += [f"of these little or nothing is known: {alone}"] * bool(alone)
    if (linting.selectors or linting.claims) and not linting.published.devices:
        notes.append(_UNKNOWN_CLUSTER if asked.cluster is None else _NO_DEVICES)
    if asked.previous is not None and not asked.previous.slices:
        notes.append(_NOTHING_BEFORE)
    gone = len(asked.known - {each.fingerprint for each in marked})
    if gone:
        notes.append(f"{gone:,} of the baseline are not found any more")
    return Linted(
        asked.settings, new, found.unreadable, _checked(linting, passed), suppressed,
        len(marked) - len(new), tuple(notes), found.warnings, undecided,
    )  # fmt: skip


def _checked(linting: Linting, passed: Iterable[tuple[str, Path]]) -> int:
    """Return how many objects were looked at: of slices that were read as records there is no other trace."""
    written = {(each.file, each.place) for each in linting.written}
    places = (linting.documents.places.get(id(each)) for each in linting.documents.slices)
    return len(written.union((place.file, place.steps) for place in places if place is not None).difference(passed))


def _once(of_faults: Sequence[LintFinding], of_codes: Iterable[LintFinding]) -> list[LintFinding]:
    """Return findings, those of codes once each and without what validation has told at the same place already."""
    places = {(each.code, each.where) for each in of_faults}
    own = {(each.code, each.where, each.message): each for each in of_codes if (each.code, each.where) not in places}
    return [*of_faults, *own.values()]


def _with_columns(linting: Linting, findings: Iterable[LintFinding]) -> Iterator[LintFinding]:
    """Yield findings with a column each: where only the line is known, that of its first word."""
    lines: dict[str, list[bytes]] = {}
    for each in findings:
        where = each.where
        text = linting.documents.texts.get(where.file)
        if where.column is not None or where.line is None or text is None or text.data is None:
            yield each
            continue
        known = lines.setdefault(where.file, text.data.split(b"\n"))
        line = known[where.line - 1].decode("utf-8", "replace") if where.line <= len(known) else ""
        yield replace(each, where=replace(where, column=len(line) - len(line.lstrip(" \t-")) + 1))


def _of_faults(linting: Linting, found: Validated, rules: Sequence[LintRule]) -> Iterator[LintFinding]:
    """Yield the faults of validation, each under the first code that takes it, if that is looked for."""
    for fault in (each for each in found.faults if each.where.file):
        written = linting.written_at(fault.where)
        path, value = value_at(written, fault.where.path, v1=fault.type != "BadRequest") if written else ((), None)
        rule = _taking(fault, value)
        if rule in rules:
            hint = fault.hint or rule.instead
            fix = rule.fixing(written.value, path, hint) if written is not None else "none"
            where, severity = fault.where, rule.severity
            yield LintFinding(fault.message, where, hint, fault.count, rule.code, severity, fix, "", written, path)


#: Rules that take faults, the first that does each: those of shapes come last, and S199 takes whatever is left.
_TAKING = sorted((rule for rule in RULES if rule.takes is not None), key=lambda rule: rule.code.startswith("S1"))


def _taking(fault: FieldFault, value: Any) -> LintRule:
    return next(rule for rule in _TAKING if rule.takes is not None and rule.takes(fault, value))


def _of_kinds(linting: Linting, found: Validated, rules: Sequence[LintRule]) -> Iterator[tuple[LintRule, Hit]]:
    """Yield the faults that validation tells of a kind of object, as hits of each such object."""
    for fault in (each for each in found.faults if not each.where.file):
        rule = _taking(fault, None)
        for each in linting.written if rule in rules else ():
            if f'"{each.kind}" in version "{each.api_version}"' in fault.message:
                yield rule, Hit(each, ("kind",), fault.message, fault.hint)


def _of_codes(
    linting: Linting, found: Validated, rules: Sequence[LintRule], passed: Container[tuple[str, Path]]
) -> list[LintFinding]:
    """Return what codes find themselves, each with its place, but for objects that are passed over."""
    hits = [(rule, hit) for rule in rules if rule.finds is not None for hit in rule.finds(linting)]
    hits += _of_kinds(linting, found, rules)
    wanted: dict[str, set[tuple[str, ...]]] = {}
    for _, hit in hits:
        wanted.setdefault(hit.written.file, set()).add((*tokens(hit.written.place), *tokens(hit.path)))
    places = {file: linting.documents.texts[file].positions(steps) for file, steps in wanted.items()}
    return [_finding(rule, hit, places) for rule, hit in hits if (hit.written.file, hit.written.place) not in passed]


def _templates(linting: Linting, found: Validated) -> set[tuple[str, Path]]:
    """Return the file and place of objects that validation passed over as templates; of all in a file that it did."""
    passed = [each.where for each in found.warnings if each.message == PASSED_OVER]
    files = {each.file for each in passed if each.holder is None}
    whole = {(each.file, each.place) for each in linting.written if each.file in files}
    return whole | {(each.file, each.holder) for each in passed if each.holder is not None}


def _finding(rule: LintRule, hit: Hit, places: Mapping[str, Mapping[tuple[str, ...], tuple[int, int]]]) -> LintFinding:
    written = hit.written
    found = places[written.file].get((*tokens(written.place), *tokens(hit.path)))
    line, column = found if found is not None and found[0] >= written.line else (written.line, None)
    where = Where(written.called, _shown(written, hit), written.file, line, column)
    severity = hit.severity or rule.severity
    fix = rule.fixing(written.value, hit.path, hit.hint)
    return LintFinding(hit.message, where, hit.hint, 1, rule.code, severity, fix, "", written, hit.path)


def _shown(written: WrittenObject, hit: Hit) -> str:
    """Return a path as messages have it: keys that users chose in brackets."""
    own = [MapKey(step) if _is_own(hit.path, number) else step for number, step in enumerate(hit.path)]
    return render(own)


_MAPS = frozenset({"hard", "labels", "annotations", "requests", "attributes", "capacity", "counters"})


def _is_own(path: Sequence[str | int], number: int) -> bool:
    return number > 0 and path[number - 1] in _MAPS and isinstance(path[number], str)


def _marked(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """Return findings with their fingerprints: of file, object, code and path, and of no line."""
    marks = Fingerprints()
    return [
        replace(each, fingerprint=marks.of(each.where.file, each.where.object, each.where.path, each.code))
        for each in findings
    ]
