"""
What an API server of a release says of objects that are applied, without asking one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypedDict, Unpack

from dra_alloc.api import DeviceTaintRule, ResourceClaim, ResourceSlice
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, ManifestError, Problem, Where, by_place, in_brief
from dra_alloc.manifest import Documents, Manner, Place, Workload
from dra_alloc.manifest.given import read_given
from dra_alloc.manifest.kinds import KINDS, RESOURCE_GROUP, SERVED, recognise, switched_on
from dra_alloc.manifest.make.field_releases import known_in
from dra_alloc.manifest.make.gates import without_disabled
from dra_alloc.manifest.make.hints import NOT_RENDERED, PASSED_OVER
from dra_alloc.manifest.make.schema import schema_of
from dra_alloc.manifest.validate.claim_status import without_deallocated
from dra_alloc.manifest.validate.violations import FieldFault
from dra_alloc.manifest.validate.warnings import warnings_of
from dra_alloc.pods.naming import in_namespace
from dra_alloc.pods.workloads.shapes import unserved_kind, unserved_kinds
from dra_alloc.releases import DEFAULT_RELEASE, Release
from dra_alloc.scenario.prepare.admin_access import admin_access_problems
from dra_alloc.scenario.prepare.gating import gated, stored, with_used
from dra_alloc.scenario.prepare.references import CHECKED, admission, has_rules, refusals

GATED: Final = ("claims", "templates", "classes", "slices")
_OF_GROUP: Final = (*GATED, "taint_rules")
_STATUS: Final = ("claims", "taint_rules")
#: What of metadata a request for the status leaves as it is.
_NOT_OF_STATUS: Final = (
    "labels", "annotations", "finalizers", "owner_references", "deletion_timestamp", "generation", "self_link",
)  # fmt: skip
#: Those of which not all that may not be changed is known.
_CREATED: Final = ("pods", "workloads")
_UNASKED: Final = "not all of what may not be changed in these is looked at"
_UNDECODED: Final = "BadRequest"


class ValidateOptions(TypedDict, total=False):
    """What `validate` is asked besides the object."""

    release: str
    gates: Mapping[str, bool]
    namespace: str
    old: Any
    subresource: str


@dataclass(frozen=True, slots=True)
class Request:
    """
    What a server is asked to do: to create objects, or to change what is there `before`, or a `subresource` of it.
    """

    namespace: str = "default"
    before: Callable[[Any], Any] = lambda _: None
    subresource: str = ""


CREATE: Final = Request()


@dataclass(frozen=True, slots=True)
class Validated:
    """
    What is wrong with objects, file by file and line by line.

    `unreadable` is text of which nobody knows what it says; `checked` counts
    the objects that were looked at, `left_alone` those of other kinds by kind.
    `warnings` are of what is read, and the server's own of what it stores.
    What is `stored` of resource.k8s.io if nothing is wrong has defaults, no
    fields of gates that are off, and of spec and status the one that is asked.
    """

    settings: Settings
    faults: tuple[FieldFault, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    checked: int = 0
    left_alone: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    stored: Documents = field(default_factory=Documents)


def validate(obj: Any, **asked: Unpack[ValidateOptions]) -> tuple[FieldFault, ...]:
    """
    Return what the API server of a release would refuse in an object that is created; nothing if it takes it.

    `obj` is one of `dra_alloc.api`, a mapping as in JSON, or one of the
    official client; one that names no namespace is created in `namespace`. With
    an `old` one it is an update of that, of its `subresource` ``status`` alone
    if that is named (claims, and from 1.35 on taint rules). An
    object that cannot be decoded, or has unknown fields, has faults of type
    ``BadRequest`` only, in our words.

    Raises: InputError for a release or gate that is not known, or a kind that is not looked at.
    """
    settings = Settings(asked.get("release", DEFAULT_RELEASE), asked.get("gates", {}))
    release = settings.profile().release
    request = update_of(asked, release)
    found = validated(*read_given(obj, Manner(release=release)), settings, request)
    if not found.checked and not found.faults:
        raise InputError(f"there are no rules for {', '.join(found.left_alone) or 'a list without members'}")
    return found.faults


def update_of(asked: Mapping[str, Any], release: Release) -> Request:
    """Return the request that options describe, of any object if there is an old one. Raises: InputError."""
    old, namespace = asked.get("old"), asked.get("namespace") or "default"
    subresource = asked.get("subresource") or ""
    if old is None and subresource:
        raise InputError(f"subresource {in_brief(subresource)} is one of an object that is there: give the old one")
    if old is None:
        return Request(namespace)
    read, problems = read_given(old, Manner("ignore", release=release))
    if problems:
        raise ManifestError(problems)
    there = in_namespace(read, namespace)
    items = [item for member in _OF_GROUP for item in getattr(there, member)]
    if len(items) != 1:
        raise InputError("updates are known of the kinds of resource.k8s.io")
    if subresource and not (subresource == "status" and _has_status(items[0].kind, release)):
        raise InputError(f"subresource: only status, and not of every kind: a {items[0].kind} of {release} has none")

    def before(item: Any) -> Any:
        if item.kind != items[0].kind:
            raise InputError(f"old: a {items[0].kind} cannot become a {item.kind}")
        return items[0]

    return Request(namespace, before, subresource)


def _has_status(kind: str, release: Release) -> bool:
    model = KINDS[kind].model
    return model is not None and "status" in known_in(schema_of(model), release).fields


def validated(
    documents: Documents,
    problems: Sequence[Problem],
    settings: Settings,
    request: Request = CREATE,
) -> Validated:
    """
    Return what would be refused in what was read, and the problems with reading it in their place.

    Names are not looked up: an API server stores what leads nowhere. Of what
    may not be changed in pods and workloads some is looked at, which is noted.

    Spec: VAL-1 to VAL-5. Raises: InputError for settings.
    """
    release = settings.profile().release
    documents, unserved = _served(documents, release)
    documents, nameless = _of_known_kinds(documents)
    ours = (each for each in documents.places.values() if each.kind in SERVED and _serves(release, each))
    off = switched_on((f"{RESOURCE_GROUP}/{each.version}" for each in ours), settings.release)
    before = _of_object(request)
    asked, dropped, _ = gated(in_namespace(documents, request.namespace), settings, GATED, before)
    if request.subresource:
        asked = asked.mapped(lambda item: _with_status(item, before(item), settings), *_STATUS)
    admin = ((item, each) for item, each in admin_access_problems(asked, Documents(), asked) if before(item) is None)
    refused = asked.placed((*refusals(asked, admission(settings, request.subresource), before), *admin))
    unread = [_undecoded(each) if each.where.object else each for each in (*problems, *unserved, *nameless)]
    told = by_place([*unread, *refused])
    warning: tuple[ResourceSlice | DeviceTaintRule, ...] = asked.slices
    warning += () if request.subresource else asked.taint_rules
    warned = ((item, each) for item in warning for each in warnings_of(item, release))
    alone, partly = _left_alone(documents)
    unasked = _changes_unasked(in_namespace(documents, request.namespace), request.before)
    return Validated(
        settings,
        tuple(each for each in told if isinstance(each, FieldFault)),
        tuple(each for each in told if not isinstance(each, FieldFault)),
        sum(has_rules(item) for member in CHECKED for item in getattr(documents, member)),
        alone,
        (*dropped, *partly, *unasked, *off, *settings.notes()),
        (*documents.warnings, *asked.placed(warned)),
        asked.mapped(lambda item: _as_stored(item, before(item), request.subresource), *_OF_GROUP),
    )


def _as_stored(item: Any, old: Any, subresource: str) -> Any:
    """
    Return an object of which a request changed all but the status, which is what it was, or the status alone.

    A taint of another effect is a new one, unless the request says since when. Spec: VAL-17.
    """
    if isinstance(item, DeviceTaintRule) and old is not None:
        taint, was = item.spec.taint, old.spec.taint
        if taint.effect != was.effect and taint.time_added == was.time_added:
            renewed = taint.model_copy(update={"time_added": None})
            item = item.model_copy(update={"spec": item.spec.model_copy(update={"taint": renewed})})
    if not hasattr(item, "status") or (subresource and old is not None):
        return item
    return item.model_copy(update={"status": type(item.status)() if old is None else old.status})


def _with_status(item: Any, old: Any, settings: Settings) -> Any:
    """
    Return an object with its status as it is stored, and with all else as it was but for what identifies it.

    What the old status of a claim uses is kept, and what its spec allocates, but for devices that it has no more.
    Spec: VAL-17.
    """
    if old is None:
        return item
    kept = {name: getattr(old.metadata, name) for name in _NOT_OF_STATUS}
    changes = {"metadata": item.metadata.model_copy(update=kept), "spec": old.spec}
    if isinstance(item, ResourceClaim):
        release = settings.profile().release
        of_status, of_spec = (partial(each, release=release) for each in (without_disabled, stored))
        used = with_used(old, with_used(old.status, settings.effective_gates(), of_status), of_spec)
        changes["status"] = without_deallocated(of_status(item.status, used)[0], old.status)
    return item.model_copy(update=changes)


def _of_object(request: Request) -> Callable[[Any], Any]:
    """Return what is there before an object, if it or a subresource of its kind is changed."""
    return lambda item: request.before(item) if item.kind in SERVED or not request.subresource else None


def found_in(old: Documents, namespace: str) -> Callable[[Any], Any]:
    """Return what says of an object which one of its name there is among others."""
    there = in_namespace(old, namespace)
    known = {_key(item): item for member in (*_OF_GROUP, *_CREATED) for item in getattr(there, member)}
    return lambda item: known.get(_key(item))


def _key(item: Any) -> tuple[str, str, str, str]:
    group = item.group if isinstance(item, Workload) else ""
    return group, item.kind, item.metadata.namespace or "", item.metadata.name or ""


def _changes_unasked(documents: Documents, before: Callable[[Any], Any]) -> Iterator[str]:
    """Yield a note on the kinds of which it is not known what all may not be changed, if there is one before."""
    items = (item for member in _CREATED for item in getattr(documents, member))
    kinds = sorted({item.kind for item in items if before(item) is not None})
    if kinds:
        yield f"{_UNASKED}: {', '.join(kinds)}"


def _serves(release: Release, place: Place) -> bool:
    return SERVED[place.kind][place.version].holds(release)


def _served(documents: Documents, release: Release) -> tuple[Documents, list[Problem]]:
    """Return the objects of versions that a release serves, and what it says of the others. Spec: VAL-6."""
    found: list[tuple[Any, Problem]] = []
    kept: dict[str, list[Any]] = {member: [] for member in _OF_GROUP}
    for member in _OF_GROUP:
        for item in getattr(documents, member):
            place = documents.places.get(id(item))
            if place is None or _serves(release, place):
                kept[member].append(item)
            else:
                called = f'"{place.kind}" in version "{RESOURCE_GROUP}/{place.version}"'
                there = [version for version, span in SERVED[place.kind].items() if span.holds(release)]
                hint = f"it has {', '.join(there)}: dra-alloc convert --to {there[0]} rewrites it" if there else ""
                said = f"release {release} has no kind {called}"
                found.append((item, Problem(said, Where(path="apiVersion"), hint)))
    served: dict[str, Any] = {member: tuple(items) for member, items in kept.items()}
    return (replace(documents, **served) if found else documents), documents.placed(found)


def _of_known_kinds(documents: Documents) -> tuple[Documents, list[Problem]]:
    """Return the objects without those of kinds that no API server has, and what one says of these. Spec: EXPAND-52."""
    found: list[tuple[Any, Problem]] = []
    kept: list[Workload] = []
    for item in documents.workloads:
        unserved = unserved_kind(item.api_version, item.kind) if has_rules(item) else None
        if unserved is None:
            kept.append(item)
        else:
            found.append((item, replace(unserved, where=Where(path="kind"))))
    counted = unserved_kinds(documents.unknown)
    if not found and not counted:
        return documents, []
    unknown = {kind: count for kind, count in documents.unknown.items() if kind not in counted}
    told = documents.placed([*found, *((None, each) for each in counted.values())])
    return replace(documents, workloads=tuple(kept), unknown=unknown), told


def _undecoded(problem: Problem) -> FieldFault:
    """Return what is said of an object that cannot be decoded, or not strictly, or is not made for its long lists."""
    if isinstance(problem, FieldFault):
        return problem
    where, message = problem.where, problem.message
    crowded, _, detail = message.removeprefix("Too many: ").partition(": ")
    if crowded.isdecimal():
        return FieldFault(message, where, problem.hint, type="FieldValueTooMany", detail=detail)
    return FieldFault(message, where, problem.hint, problem.count, type=_UNDECODED, detail=message)


def without_templates(found: Validated) -> Validated:
    """
    Return the same without what is a template that was not rendered, each file or object of these with a warning.

    One is told by braces where it cannot be read, or in a value that is refused.
    """
    problems = (*found.unreadable, *found.faults)
    texts = {each.where.file: each for each in reversed(problems) if each.hint == NOT_RENDERED}
    objects = {_object(each): each for each in reversed(problems) if "{{" in each.message}
    marks = [*texts.values(), *(each for each in objects.values() if each.where.file not in texts)]
    warnings = [Problem(PASSED_OVER, replace(each.where, path="")) for each in by_place(marks)]

    def left(problem: Problem) -> bool:
        return problem.where.file not in texts and _object(problem) not in objects

    faults, unreadable = tuple(filter(left, found.faults)), tuple(filter(left, found.unreadable))
    made = set(objects) - {_object(each) for each in found.faults if each.type == _UNDECODED}
    told = (*found.warnings, *warnings)
    return replace(found, faults=faults, unreadable=unreadable, checked=found.checked - len(made), warnings=told)


def _object(problem: Problem) -> tuple[str, object]:
    where = problem.where
    return where.file, where.object if where.holder is None else where.holder


def _left_alone(documents: Documents) -> tuple[dict[str, int], list[str]]:
    """Return how many objects of which kinds were not looked at, and notes on those that were only for claims."""
    alone = Counter(documents.unknown)
    partly: Counter[str] = Counter()
    for kind in dict.fromkeys(each.member for each in KINDS.values()):
        for item in getattr(documents, kind):
            called = f"{item.api_version} {item.kind}"
            if kind not in CHECKED or not has_rules(item):
                alone[called] += 1
            elif isinstance(item, Workload) and recognise(item.api_version, item.kind) is None:
                partly[called] += 1
    told = [f"of {called} only the claims of its pods are looked at" for called in partly]
    return dict(alone), told
