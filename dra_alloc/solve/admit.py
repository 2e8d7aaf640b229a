"""
Checks of the claims before the search, in upstream's order, and the rows it searches over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from msgspec import Struct

from dra_alloc.api import DeviceClass, DeviceRequest, ResourceClaim
from dra_alloc.api.claims import AnyRequest
from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask, ClaimRow, RequestRow, claim_name
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules import About, Rule, SearchStopped, constraint_rule


class Admission(Struct, frozen=True, eq=False):
    """
    What claims are checked against.

    `gather` makes the rules that decide which devices All records; `find_class`
    raises LookupError with the lister's text.
    """

    profile: Profile
    pools: Sequence[Pool]
    find_class: Callable[[str], DeviceClass]
    gather: Callable[[], Sequence[Rule]]


def admit(claims: Sequence[ResourceClaim], admission: Admission) -> tuple[ClaimRow, ...]:
    """
    Return the claims as rows; the first thing wrong with them wins.

    Spec: ADMIT-1..ADMIT-9.
    Raises: SearchStopped.
    """
    ids = iter(range(1 << 30))
    return tuple(_claim(index, claim, admission, ids) for index, claim in enumerate(claims))


def _stop(text: str, code: str) -> NoReturn:
    raise SearchStopped(text, code=code)


def _claim(index: int, claim: ResourceClaim, admission: Admission, ids: Iterator[int]) -> ClaimRow:
    name = claim_name(claim)
    per_claim = admission.profile.shows(Trait.LIMIT_PER_CLAIM)
    rows: list[RequestRow] = []
    least = 0
    for request in claim.spec.devices.requests:
        row = request_row(index, name, request, admission, ids)
        more = min(ask.count for ask in row.asks)
        if not per_claim and least + more > ALLOCATION_RESULTS_MAX:
            _stop(
                f"claim {name}, request {request.name}: adding {more} devices exceeds the claim limit of "
                f"{ALLOCATION_RESULTS_MAX}, with {least} already accounted for",
                "too-many-devices",
            )
        rows.append(row)
        least += more
    if least > ALLOCATION_RESULTS_MAX:
        _stop(
            f"claim {name}: number of requested devices {least} exceeds the claim limit of {ALLOCATION_RESULTS_MAX}",
            "too-many-devices",
        )
    for number, constraint in enumerate(claim.spec.devices.constraints):
        if constraint_rule(constraint, admission.profile) is None:
            _stop(
                f"claim {name}, constraint #{number}: empty constraint (unsupported constraint type?)",
                "unsupported-constraint",
            )
    return ClaimRow(index, name, claim, tuple(rows))


class _Names(NamedTuple):
    """Who asks, in the words of results and error texts."""

    claim_index: int
    claim: str
    request: str
    own: str
    full: str

    @property
    def subject(self) -> str:
        return f"claim {self.claim}, request {self.own}"


def request_row(
    claim_index: int, claim: str, request: DeviceRequest, admission: Admission, ids: Iterator[int]
) -> RequestRow:
    """
    Return a request as a row, each of its alternatives with the next of the ids.

    Raises: SearchStopped.
    """
    if request.first_available and not admission.profile.on(Feature.PRIORITIZED_LIST):
        _stop(
            f"claim {claim}, request {request.name}: has subrequests, but the DRAPrioritizedList feature is disabled",
            "feature-disabled",
        )
    wires: list[tuple[_Names, AnyRequest]]
    if request.exactly is not None and not request.first_available:
        wires = [(_Names(claim_index, claim, request.name, request.name, request.name), request.exactly)]
    else:
        wires = [
            (_Names(claim_index, claim, request.name, sub.name, f"{request.name}/{sub.name}"), sub)
            for sub in request.first_available
        ]
    if not wires:
        _stop(f"resource claim {claim}, request {request.name}: unknown request type", "unknown-request-type")
    _check_capacity_gate(request, wires, admission.profile)
    asks: list[Ask] = []
    for names, wire in wires:
        asks.append(_ask(next(ids), names, wire, admission, asks))
    return RequestRow(request.name, bool(request.first_available), tuple(asks))


def _check_capacity_gate(request: DeviceRequest, wires: Sequence[tuple[_Names, AnyRequest]], profile: Profile) -> None:
    if profile.on(Feature.CONSUMABLE_CAPACITY) or profile.shows(Trait.SILENT_CAPACITY_GATE):
        return
    whole = not request.first_available or profile.shows(Trait.CAPACITY_GATE_NAMES_REQUEST)
    for names, wire in wires:
        if wire.capacity is not None:
            who = f"request {request.name}" if whole else f"subrequest {names.own}"
            _stop(
                f"claim {names.claim}, {who}: has capacity requests, but the DRAConsumableCapacity feature is disabled",
                "feature-disabled",
            )


def _ask(ask_id: int, names: _Names, wire: AnyRequest, admission: Admission, before: Sequence[Ask]) -> Ask:
    device_class = _check_wire(names.subject, wire, admission)
    counts_capacity = admission.profile.on(Feature.CONSUMABLE_CAPACITY)
    ask = Ask(
        ask_id,
        names.claim_index,
        names.request,
        names.own,
        names.full,
        device_class,
        wire,
        all_devices=wire.allocation_mode == "All",
        count=wire.count or 0,
        recorded=(),
        admin=getattr(wire, "admin_access", None) is True,
        tolerations=wire.tolerations,
        capacity=tuple(wire.capacity.requests.items()) if wire.capacity is not None and counts_capacity else (),
    )
    if not ask.all_devices:
        return ask
    confused = admission.profile.shows(Trait.ALL_MEMO_SHARED) and len(before) == 1 and before[0].all_devices
    return ask.with_recorded(tuple(_record_all(names.subject, ask, admission, before[0] if confused else ask)))


def _check_wire(subject: str, wire: AnyRequest, admission: Admission) -> DeviceClass:
    refuses = admission.profile.shows(Trait.DERIVED_NEEDS_GATE) and not admission.profile.on(Feature.DERIVED_ATTRIBUTES)
    if refuses and wire.derived_attributes:
        _stop(f"{subject}: cannot handle request with derived attributes, the feature is disabled", "feature-disabled")
    for number, selector in enumerate(wire.selectors):
        if selector.cel is None:
            _stop(f"{subject}, selector #{number}: CEL expression empty (unsupported selector type?)", "empty-selector")
    if getattr(wire, "admin_access", None) is not None and not admission.profile.on(Feature.ADMIN_ACCESS):
        _stop(f"{subject}: admin access is requested, but the feature is disabled", "feature-disabled")
    if not wire.device_class_name:
        _stop(f"{subject}: missing device class name (unsupported request type?)", "missing-class-name")
    try:
        device_class = admission.find_class(wire.device_class_name)
    except LookupError as error:
        text = f"{subject}: could not retrieve device class {wire.device_class_name}: {error.args[0]}"
        raise SearchStopped(text, code="unknown-class") from None
    if wire.allocation_mode not in ("ExactCount", "All"):
        _stop(f"{subject}: unsupported count mode {wire.allocation_mode or ''}", "unsupported-mode")
    return device_class


def _record_all(subject: str, ask: Ask, admission: Admission, selecting: Ask) -> Iterator[DeviceRow]:
    judges = [(rule, selecting if rule.about is About.SELECTORS else ask) for rule in admission.gather()]
    # A bad pool ends the question even if none of its devices could match.
    for pool in admission.pools:
        if not pool.whole:
            state = "being updated" if pool.incomplete else "invalid"
            code = "pool-incomplete" if pool.incomplete else "pool-invalid"
            raise SearchStopped(
                f"{subject}: asks for all devices, but resource pool {pool.key} is currently {state}",
                code=code,
                on_node=not admission.profile.shows(Trait.ALL_BAD_POOL_FATAL),
            )
        for device in pool.devices:
            if not any(rule.leaves_out(judged, device) for rule, judged in judges):
                yield device
