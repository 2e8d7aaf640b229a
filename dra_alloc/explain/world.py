"""
One question with everything that can be changed about it, as values.

Explanations ask "and if this were different?" many times over; each variation
is a new world, solved by the same engines as the question itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dra_alloc.api import (
    AllocationResult,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceTaintRule,
    FrozenMap,
    Node,
    ResourceClaim,
    ResourceSlice,
)
from dra_alloc.api.claims import AnyRequest
from dra_alloc.explain.shortage import Kinds, Shortages
from dra_alloc.explain.surroundings import Surroundings
from dra_alloc.problem.devices import DeviceKey, PoolKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.occupancy import Occupancy
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature, Profile, Semantics
from dra_alloc.solve.allocator import Allocator, State, not_found
from dra_alloc.solve.direct import ENGINE
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import Aborted, OutOfBudget, Solved, Work
from dra_alloc.solve.survey import Survey

#: One variation must not cost more than a moment; what cannot be decided in it stays unexplained.
_BUDGET: Final = Budget(steps=20_000, pruned=5_000, solver=1.0)
#: What a unit of an engine's work costs in steps of a search, about, and engines whose steps are the plain search's.
_STEPS_PER_UNIT: Final = {"cp-sat": 20_000}
_PLAIN: Final = ("first-fit", ENGINE)
#: What a question costs before its first step, and for each of its requests besides one for each device.
_STEPS_TO_ASK: Final = 20
_STEPS_PER_ASK: Final = 3
#: Steps over fewer devices than the latter cost less; without any, as much as the former. Those of the plain search
#: cost double.
_DEVICES_OF_A_STEP_ITSELF: Final = 32
_DEVICES_OF_A_WHOLE_STEP: Final = 128
#: Of the table that is made once more than the plain search is asked.
_CELLS_OF_A_STEP: Final = 8
#: What changes make others of; what a part is after one depends on what it was before only.
_parts: Final = attrgetter("claims", "allocations", "classes", "slices", "taint_rules")


class Surveys:
    """
    What is known of slices, shared by all variations of a world that leave these as they are.

    With `around`, `slices` and `taint_rules` are those of the cluster's pools that a node sees.
    """

    def __init__(
        self,
        around: Surroundings | None = None,
        slices: Sequence[ResourceSlice] = (),
        taint_rules: Sequence[DeviceTaintRule] = (),
    ) -> None:
        self.around = around
        self._given = slices, taint_rules
        self._pools = tuple(dict.fromkeys(map(_pool_of, slices)))
        self._known: dict[tuple[int, int, int, int], tuple[World, Survey]] = {}
        # The first of slices of its own, by classes and profile: others differ in slices only.
        self._own: dict[tuple[int, int], tuple[World, Survey]] = {}
        self._used: dict[tuple[int, int, bool], tuple[object, Usage, Occupancy]] = {}
        self._edited: dict[Hashable, tuple[dict[int, tuple[object, object]], ...]] = {}
        self._allocators: dict[tuple[int, ...], tuple[World, Allocator]] = {}
        self._kinds = Kinds()
        self._shortages: dict[tuple[int, int], tuple[World, Shortages]] = {}
        # Worlds after a change, by the world before it; the number of devices of slices.
        self.worlds: dict[tuple[int, Hashable], tuple[World, World]] = {}
        self._sizes: dict[int, tuple[Sequence[ResourceSlice], int]] = {}
        # Whether the question of a world ends with an error once a change is made, by the world's id and the steps; the
        # world is kept, so that no other object gets its id.
        self.ending: dict[tuple[int, tuple[str, ...]], tuple[World, bool]] = {}

    def size(self, slices: Sequence[ResourceSlice]) -> int:
        """Return how many devices there are."""
        known = self._sizes.get(id(slices))
        if known is None:
            known = self._sizes[id(slices)] = slices, sum([len(each.spec.devices) for each in slices])
        return known[1]

    def edited(self, world: World, change: Hashable, edit: Callable[[World], World]) -> Sequence[Any]:
        """Return the parts of a world after a change, each of which is made once."""
        made = self._edited.get(change) or self._edited.setdefault(change, ({}, {}, {}, {}, {}))
        parts = _parts(world)
        try:
            return [known[id(part)][1] for known, part in zip(made, parts, strict=True)]
        except KeyError:
            after = _parts(edit(world))
            # What is changed is kept, so that no other object gets its id.
            both = zip(made, parts, after, strict=True)
            return [known.setdefault(id(part), (part, changed))[1] for known, part, changed in both]

    def allocator(self, world: World) -> Allocator:
        """Return an engine for the world's slices and what is held of them."""
        key = (*map(id, (world.slices, world.taint_rules, world.classes, world.allocations)), id(world.profile))
        known = self._allocators.get(key)
        if known is None:
            survey, (usage, occupancy) = self.survey(world), self.used(world)
            state = State(survey.inventory, world.classes, usage, world.holders)
            # The world is kept, so that no other object gets one of these ids.
            known = self._allocators[key] = world, Allocator(state, world.profile, survey, occupancy)
        return known[1]

    def shortages(self, world: World) -> Shortages:
        """Return what there is not enough of on the world's node."""
        allocator = self.allocator(world)
        key = id(allocator), id(world.node)
        known = self._shortages.get(key)
        if known is None:
            # The world is kept, so that no other object gets one of these ids.
            known = self._shortages[key] = world, Shortages(allocator, world.node, self._kinds)
        return known[1]

    def used(self, world: World) -> tuple[Usage, Occupancy]:
        """Return what the world's allocations take."""
        inventory, sharing = self.survey(world).inventory, world.profile.on(Feature.CONSUMABLE_CAPACITY)
        key = id(world.allocations), id(inventory), sharing
        known = self._used.get(key)
        if known is None:
            usage = Usage.of(world.allocations.values(), sharing=sharing)
            # What is looked at is kept, so that no other object gets one of these ids.
            known = self._used[key] = (world, inventory), usage, Occupancy.of(usage, inventory.by_pool)
        return known[1:]

    def survey(self, world: World) -> Survey:
        """Return what is known of the world's slices."""
        key = (id(world.slices), id(world.taint_rules), id(world.classes), id(world.profile))
        known = self._known.get(key)
        if known is None:
            # The world is kept, so that no other object gets one of these ids.
            known = self._known[key] = world, self._of_all(world) or self._of_its_own(world)
        return known[1]

    def _of_all(self, world: World) -> Survey | None:
        """Return what is known of all slices of the cluster, if the node sees the same pools in it."""
        slices, rules = self._given
        if self.around is None or world.slices is not slices or world.taint_rules is not rules:
            return None
        found = self.around.survey(world.classes, world.profile)
        try:
            pools = tuple([pool.key for pool in found.pools(world.node)])
        except GatherError:
            return None
        return found if pools == self._pools else None

    def _of_its_own(self, world: World) -> Survey:
        """Return what is known of the world's slices alone; what others made of the same claims stays."""
        inventory = Inventory.build(world.slices, world.taint_rules)
        key = id(world.classes), id(world.profile)
        known = self._own.get(key)
        if known is not None:
            return known[1].changed(inventory, frozenset(inventory.by_pool))
        # The world is kept, so that no other object gets one of these ids.
        self._own[key] = known = world, Survey(inventory, world.classes, world.profile, not_found)
        return known[1]


def _pool_of(each: ResourceSlice) -> PoolKey:
    return PoolKey(each.spec.driver, each.spec.pool.name)


class Tried(Struct, frozen=True):
    """
    Whether a world fits, None if its budget did not tell, and the work that took, in steps of a search or so.

    `error` is the code of the error that the question ended with, if it did: a
    refusal, too, but not one for want of devices; with `ends` it does so for
    other nodes, too. `plain` says of a refusal that there is no legal answer,
    and that no defect could have given another.
    """

    fits: bool | None
    work: int
    error: str = ""
    ends: bool = False
    plain: bool = False


class World(Struct, frozen=True, eq=False):
    """
    Claims to place on a node, and what stands against it.

    `allocations` are those of other claims that hold devices of the node's
    pools, by claim name, and `going` says of those that are being deleted who
    uses them; `slices` are those of the pools alone. With the gates of `lost`
    on claims would ask for more than they do, or devices have more taints. `surveys` is handed on to
    variations.
    """

    node: Node
    claims: tuple[ResourceClaim, ...]
    allocations: Mapping[str, AllocationResult]
    classes: Mapping[str, DeviceClass]
    slices: tuple[ResourceSlice, ...]
    taint_rules: tuple[DeviceTaintRule, ...]
    profile: Profile
    going: Mapping[str, str] = field(default_factory=FrozenMap)
    surveys: Surveys = field(default_factory=Surveys)
    lost: frozenset[str] = frozenset()

    def allocator(self) -> Allocator:
        """Return an engine for this world."""
        return self.surveys.allocator(self)

    def inventory(self) -> Inventory:
        """Return the slices as rows."""
        return self.surveys.survey(self).inventory

    def rows(self) -> Iterator[SliceRow]:
        """Yield the rows of the world's slices; the inventory may have those of other nodes, too."""
        by_pool = self.inventory().by_pool
        for key in self.pools():
            yield from by_pool.get(key, ())

    def asks(self) -> Iterator[tuple[int, str, AnyRequest]]:
        """Return every request and alternative with its claim's index and its full name."""
        for index, claim in enumerate(self.claims):
            for request in claim.spec.devices.requests:
                if request.exactly is not None:
                    yield index, request.name, request.exactly
                for sub in request.first_available:
                    yield index, f"{request.name}/{sub.name}", sub

    @property
    def takes_all(self) -> bool:
        """Return whether every device is asked for somewhere."""
        return any(ask.allocation_mode == "All" for _, _, ask in self.asks())

    @property
    def shares(self) -> bool:
        """Return whether there are devices that several claims can have at once."""
        return any(device.allow_multiple_allocations for each in self.slices for device in each.spec.devices)

    @property
    def differs(self) -> bool:
        """Return whether attributes have to differ somewhere."""
        constraints = (each for claim in self.claims for each in claim.spec.devices.constraints)
        return any(each.distinct_attribute is not None for each in constraints)

    @property
    def _counts(self) -> bool:
        """Return whether there are devices that draw on counters."""
        return any(device.consumes_counters for each in self.slices for device in each.spec.devices)

    def holders(self, device: DeviceKey) -> tuple[str, ...]:
        """Return the names of the claims that hold a device."""
        return tuple(name for name, allocation in self.allocations.items() if device in _held(allocation))

    def lacks(self) -> bool:
        """Return whether there are not the devices for one of the requests, whatever is picked for the others."""
        return self.surveys.shortages(self).lacks(self.claims)

    def fits(self) -> bool | None:
        """Return whether the claims can be placed; None if a small budget does not tell."""
        return self.tried().fits

    def tried(self, budget: Budget = _BUDGET) -> Tried:
        """Return whether the claims can be placed, and what it took to know."""
        if self.surveys.shortages(self).refuses(self.claims):
            return Tried(fits=False, work=self._cost(Work()), plain=True)
        outcome = self.allocator().allocate(self.node, self.claims, budget=budget)
        work = self._cost(outcome.work)
        match outcome:
            case Solved():
                return Tried(fits=True, work=work)
            case OutOfBudget():
                return Tried(fits=None, work=work)
            case Aborted(code=code, on_node=on_node):
                return Tried(fits=False, work=work, error=code, ends=not on_node)
            case _:
                return Tried(fits=False, work=work, plain=self._sound or outcome.work.engine == ENGINE)

    @property
    def _sound(self) -> bool:
        return self.profile.semantics is Semantics.INTENDED

    def is_plain(self) -> bool:
        """Return whether no defect can make a difference, as far as claims, the node and what is held go."""
        return self._sound or self.allocator().direct.may_answer(self.node, self.claims)

    def only_gains(self) -> bool:
        """
        Return whether legal answers can only be added by changes of facts, and are found if there are any.

        All takes more with each change, shares that are given back can cost more than they gave, and where picking
        has side effects defects make a difference.
        """
        if self.takes_all or self.shares:
            return False
        return self._sound or (not self._counts and self.is_plain())

    def _cost(self, work: Work) -> int:
        """Return what a question of so much work costs: each step looks at the devices, a table at all for each ask."""
        devices, asks = self.surveys.size(self.slices), sum(1 for _ in self.asks())
        each = min(1.0, (_DEVICES_OF_A_STEP_ITSELF + devices) / _DEVICES_OF_A_WHOLE_STEP)
        table = devices * asks // _CELLS_OF_A_STEP if len(work.stages) > 1 else 0
        plain = work.steps * min(1.0, 2 * each)
        return _STEPS_TO_ASK + devices + _STEPS_PER_ASK * asks + table + round(plain + _other_steps(work) * each)

    def cost_of_a_tally(self) -> int:
        """Return what it costs to tell what devices fell to, in steps: each request is asked alone and together."""
        return self._cost(Work(2 * sum(1 for _ in self.asks())))

    def pools(self) -> tuple[PoolKey, ...]:
        """Return the pools of the world's slices, each once."""
        return tuple(dict.fromkeys(map(_pool_of, self.slices)))

    def edited(self, change: Hashable, edit: Callable[[World], World]) -> World:
        """
        Return the world with an edit made, by which it is known as this change.

        Worlds with the same changes to their claims, or slices, or whatever, share these, and all that is known of
        them.
        """
        worlds, key = self.surveys.worlds, (id(self), change)
        known = worlds.get(key)
        if known is None:
            # The world is kept, so that no other object gets its id.
            known = worlds[key] = self, self._edited(change, edit)
        return known[1]

    def _edited(self, change: Hashable, edit: Callable[[World], World]) -> World:
        parts = self.surveys.edited(self, change, edit)
        if all(map(is_, parts, _parts(self))):
            return self
        claims, allocations, classes, slices, taint_rules = parts
        return self.having(
            claims=claims, allocations=allocations, classes=classes, slices=slices, taint_rules=taint_rules
        )

    def having(self, **parts: Any) -> World:
        """Return the world with other parts."""
        return replace(self, **parts)

    def with_claim(self, index: int, devices: DeviceClaim) -> World:
        """Return the world in which a claim asks for this instead."""
        claim = self.claims[index]
        changed = claim.model_copy(update={"spec": claim.spec.model_copy(update={"devices": devices})})
        return self.having(claims=(*self.claims[:index], changed, *self.claims[index + 1 :]))


def _other_steps(work: Work) -> float:
    """Return what other engines than the plain search did, in steps of theirs; its own begin and may end a climb."""
    return sum(each.work * _STEPS_PER_UNIT.get(each.engine, 1) for each in work.stages if each.engine not in _PLAIN)


def _held(allocation: AllocationResult) -> frozenset[DeviceKey]:
    results = (each for each in allocation.devices.results if not each.admin_access)
    return frozenset(DeviceKey(each.driver, each.pool, each.device) for each in results)


def edit_requests(world: World, edit: Callable[[int, str, AnyRequest], AnyRequest]) -> World:
    """
    Return the world with every request and alternative edited; `edit` gets claim index, full name and request.

    What it leaves as it is stays the same object, of which much is known already.
    """
    for index, claim in enumerate(world.claims):
        devices = claim.spec.devices
        requests = tuple(_edited(index, request, edit) for request in devices.requests)
        if not all(map(is_, requests, devices.requests)):
            world = world.with_claim(index, devices.model_copy(update={"requests": requests}))
    return world


def _edited(index: int, request: DeviceRequest, edit: Callable[[int, str, AnyRequest], AnyRequest]) -> DeviceRequest:
    exactly = None if request.exactly is None else edit(index, request.name, request.exactly)
    alternatives = tuple(edit(index, f"{request.name}/{sub.name}", sub) for sub in request.first_available)
    same = exactly is request.exactly and all(map(is_, alternatives, request.first_available))
    return request if same else request.model_copy(update={"exactly": exactly, "first_available": alternatives})


def edit_devices(
    slices: Sequence[ResourceSlice], pool: PoolKey, edit: Callable[[ResourceSlice], ResourceSlice]
) -> tuple[ResourceSlice, ...]:
    """Return the slices with those of one pool edited."""
    return tuple(edit(each) if (each.spec.driver, each.spec.pool.name) == pool else each for each in slices)
