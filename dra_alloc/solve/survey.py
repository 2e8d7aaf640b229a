"""
What is known of a cluster for one scheduler, whatever is allocated.

Pools by node, admitted claims, shapes, and the boards of nodes for shapes with
the answers found on them. Clusters that differ only in what is allocated
share one survey.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from threading import Lock
from typing import Any, Final

from dra_alloc.api import DeviceClass, FrozenMap, Node, Quantity, ResourceClaim
from dra_alloc.problem.devices import DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.gathering import Gathering
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import Findings
from dra_alloc.problem.pools import Pool, gather
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Feature, Profile
from dra_alloc.remembered import Remembered
from dra_alloc.rules import Context, Rule, RuleSet, SearchStopped, constraint_rules, install
from dra_alloc.rules.facts import Fact
from dra_alloc.solve.admit import Admission, admit
from dra_alloc.solve.assemble import Consumed
from dra_alloc.solve.columns import Columns
from dra_alloc.solve.content import content
from dra_alloc.solve.masks.board import Board, BoardAnswer, Constraint, Judge, Part, make_part, put_together
from dra_alloc.solve.masks.first_path import follow
from dra_alloc.solve.masks.plan import Plan
from dra_alloc.solve.masks.shape import Shape, shape_of
from dra_alloc.solve.masks.shared_path import Shared, SharedPath, Sharing, can_share, only_request
from dra_alloc.solve.masks.shares import Shares
from dra_alloc.solve.outcome import Work
from dra_alloc.solve.selection import Selection
from dra_alloc.solve.views import Admitted, View, is_plain

#: Stands for what was never looked up; None is an answer.
_UNSEEN: Final[Any] = object()
_NOTHING_USED: Final = Usage()
_NO_AMOUNTS: Final[FrozenMap[str, Quantity]] = FrozenMap()
_MOST_CLAIMS: Final = 20_000
_MOST_SPECIFICATIONS: Final = 4_000
_MOST_NODES: Final = 20_000
#: What the plans of one survey may come to, about, before the oldest are forgotten, in bytes.
_MOST_BYTES: Final = 256 << 20
#: Parts of a plan, besides four for each slice that is there.
_MOST_PARTS: Final = 256
#: Slices that are looked at, over all claims, between two looks at what the plans come to.
_BETWEEN_LOOKS: Final = 4_096


class Survey:
    """
    Looks things up on first use and remembers them; safe to use from several threads.

    `class_not_found` makes the class lister's error.
    """

    def __init__(
        self,
        inventory: Inventory,
        classes: Mapping[str, DeviceClass],
        profile: Profile,
        class_not_found: Callable[[str], LookupError],
        columns: Columns | None = None,
    ) -> None:
        self.inventory = inventory
        self.classes = classes
        self.profile = profile
        self.selection = Selection(profile)
        self.columns = columns or Columns()
        self._class_not_found = class_not_found
        # What judges devices outlives this survey, in plans that those of later inventories have, too: it knows none.
        self._counts = partial(_counts, profile.on(Feature.PARTITIONABLE))
        self._is_special = partial(_is_special, profile.on(Feature.PARTITIONABLE), profile.shares)
        self._gathering = Gathering(inventory, profile)
        self._pools: dict[str, tuple[Node, tuple[Pool, ...]]] = {}
        self._begin()

    def _begin(self) -> None:
        """Know nothing yet of what claims make of nodes and slices."""
        self._views: Findings[str, View] = Findings()
        self._shares = Shares(self.profile, self._counts)
        self._admitted: Remembered[tuple[int, ...], Admitted] = Remembered(_MOST_CLAIMS)
        self._alike: Remembered[tuple[Hashable, ...], Admitted] = Remembered(_MOST_SPECIFICATIONS)
        self._plans: dict[Shape, Plan] = {}
        self._lock = Lock()
        self._unlooked = 0
        # By plan and what a board would be known by: how often it was asked for, and what was found for which devices
        # held the last time; where there is no board yet.
        self.paths: dict[tuple[Plan, Hashable], tuple[int, int, tuple[BoardAnswer, Work] | None]] = {}

    def changed(self, inventory: Inventory, keys: frozenset[PoolKey]) -> Survey:
        """Return the survey of an inventory that differs in these pools only; what is known of the others stays."""
        made = copy(self)
        made.inventory = inventory
        made._gathering = self._gathering.changed(keys, inventory)  # noqa: SLF001  # its own class
        made._pools = {}  # noqa: SLF001  # its own class
        rows = [row for key in keys for each in (self.inventory, inventory) for row in each.by_pool.get(key, ())]
        alike = made.broken == self.broken and made.unfinished == self.unfinished
        if alike and all(row.node_name for row in rows):
            made._views = self._views.without(row.node_name for row in rows)  # noqa: SLF001  # its own class
        else:
            made._views = Findings()  # noqa: SLF001  # its own class
        return made

    def with_classes(self, classes: Mapping[str, DeviceClass]) -> Survey:
        """Return the survey for other classes; what is known of nodes and slices stays."""
        made = copy(self)
        made.classes = classes
        made._begin()  # noqa: SLF001  # its own class
        return made

    @property
    def broken(self) -> frozenset[PoolKey]:
        """Return the pools that are invalid to nodes that only see their counters."""
        return self._gathering.broken

    @property
    def unfinished(self) -> frozenset[PoolKey]:
        """Return the pools that are incomplete to nodes that only see their counters."""
        return self._gathering.unfinished

    def counts(self) -> dict[str, int]:
        """Return how much was looked at: distinct questions, slices judged, boards made, boards searched."""
        plans = list(self._plans.values())
        boards = [board for plan in plans for board in list(plan.boards.values()) if board is not None]
        return {
            "questions": len(plans),
            "slices_judged": sum(len(plan.parts) for plan in plans),
            "boards": len(boards),
            "searches": sum(len(board.answers) for board in boards),
        }

    def find_class(self, name: str) -> DeviceClass:
        """
        Return the class of that name.

        Raises: LookupError.
        """
        found = self.classes.get(name)
        if found is None:
            raise self._class_not_found(name)
        return found

    def view(self, node: Node) -> View:
        """
        Return the node with its pools as far as they offer devices.

        Raises: GatherError.
        """
        name = node.metadata.name or ""
        found = self._views.get(name)
        if found is None or found.node is not node:
            found = self._views.put(name, View(node, self._gathering.offer(node)))
        return found

    def alone(self, names: Sequence[str]) -> list[SliceRow | None]:
        """Return for each node the slice that is all there is to its view; None for nodes that need a closer look."""
        rows = self._gathering.alone(names)
        return [row if row is not None and (row.is_local or is_plain(row)) else None for row in rows]

    def pools(self, node: Node) -> tuple[Pool, ...]:
        """
        Return all pools that the node can see, also those that offer nothing.

        Raises: GatherError.
        """
        name = node.metadata.name or ""
        found = self._pools.get(name)
        if found is None or found[0] is not node:
            if len(self._pools) >= _MOST_NODES:
                self._pools.clear()
            found = self._pools[name] = node, gather(self.inventory, node, self.profile)
        return found[1]

    def admitted(self, claims: Sequence[ResourceClaim]) -> Admitted | None:
        """
        Return the claims as rows if no node has a say in that; None also for claims that are refused.

        Claims of equal specifications share the rows: names in rows are those of
        the first.
        """
        key = tuple([id(claim.spec) for claim in claims])
        found = self._admitted.get(key)
        if found is None:
            text = tuple([content(claim) for claim in claims])
            self._make_room()
            alike = self._alike.get(text)
            if alike is None:
                alike = self._admit(claims)
                if alike is None:
                    return None
                self._alike.put(text, alike)
            # The claims are kept, so that no others come by the same ids.
            found = self._admitted.put(key, alike.of(claims))
        return found

    def _make_room(self) -> None:
        """Forget the oldest plans if all together have come to take too much."""
        self._unlooked += 1 + len(self.inventory.rows)
        if self._unlooked < _BETWEEN_LOOKS:
            return
        self._unlooked = 0
        with self._lock:
            plans = self._plans
            total = sum([plan.weight for plan in plans.values()])
            if total <= _MOST_BYTES and len(plans) <= _MOST_SPECIFICATIONS:
                return
            # Half of them, so that this is rare; the newest stays, whatever it takes.
            for shape in list(plans)[:-1]:
                plan = plans.pop(shape)
                total -= plan.weight
                plan.forget()
                if 2 * total <= _MOST_BYTES and 2 * len(plans) <= _MOST_SPECIFICATIONS:
                    break
            self._admitted.clear()
            self._alike.clear()

    def _admit(self, claims: Sequence[ResourceClaim]) -> Admitted | None:
        try:
            rows = admit(claims, Admission(self.profile, (), self.find_class, tuple))
        except SearchStopped:
            return None
        asks = tuple(ask for row in rows for request in row.requests for ask in request.asks)
        constraints = constraint_rules(self._context(), rows)
        shape = shape_of(rows, constraints, self.profile, self.selection.program)
        plan = None if shape is None else self._plan(shape, asks, constraints)
        return Admitted(tuple(claims), rows, asks, constraints, plan)

    def _plan(self, shape: Shape, asks: Sequence[Ask], constraints: Sequence[Rule]) -> Plan:
        found = self._plans.get(shape)
        if found is None:
            needs = [need for slot in shape.slots for need in slot]
            first = {need.criteria: ask for need, ask in reversed(list(zip(needs, asks, strict=True)))}
            rules = install(self._context(), ())
            judges = [self._judge(first[number], rules) for number in range(len(shape.criteria))]
            lens = self.columns.lens(shape.reads, lists=self.profile.cel_lists)
            stating: dict[Hashable, Constraint] = {}
            for alike, rule in zip(shape.alike, constraints, strict=True):
                stating.setdefault(alike, partial(_stated, rule, [ask for ask in asks if rule.concerns(ask)]))
            found = Plan(shape, lens, judges, [stating[alike] for alike in shape.alike])
            if can_share(list(first.values()), self.profile):
                found.sharing = Sharing(judges, self._shares.judges(judges), self._shares)
            with self._lock:
                found = self._plans.setdefault(shape, found)
        return found

    def _judge(self, ask: Ask, rules: RuleSet) -> Judge:
        by_driver = self.selection.by_driver(ask)
        return Judge(ask, rules.candidate, rules.take_for(ask), self._is_special, by_driver=by_driver)

    def shared_path(self, plan: Plan, slices: Sequence[SliceRow], busy: int, shared: Shared) -> BoardAnswer | None:
        """
        Return the solution where devices can be shared, if the search finds one without going back.

        `busy` masks the devices held as a whole, `shared` has what is left of the others.
        """
        if plan.sharing is None:
            return None
        slots = plan.shape.slots
        if len(slices) == 1 and len(slots) == 1 and len(slots[0]) == 1 and not plan.constraints:
            return only_request(slots[0][0], plan.sharing, slices[0], busy, shared)
        path = SharedPath((plan.constraints, slices, busy), plan.sharing, shared)
        return follow(path, plan.shape, plan.judges)

    def consumed(self, plan: Plan) -> Consumed | None:
        """Return what says what a pick of a device that can be shared consumes; None where that takes a search."""
        if plan.sharing is None:
            return None
        share_of, judges = self._shares.share, [plan.judges[number] for number in plan.criteria]

        def consumed(ask: Ask, device: DeviceRow) -> FrozenMap[str, Quantity]:
            share = share_of(judges[ask.id], device)
            return _NO_AMOUNTS if share is None else share.amounts

        return consumed

    def _context(self) -> Context:
        """Return a context in which nothing is allocated and no node is known; what is found out is kept in parts."""
        selection = self.selection
        return Context(
            self.profile,
            Node(),
            (),
            _NOTHING_USED,
            selects=selection.selects,
            explain_selector=lambda ask, device: selection.explain(ask, device, ""),
            derive=selection.derive,
            availability=lambda pool: {},
            holders=lambda key: (),
            asks_once=True,
            selects_of=selection.selects_of,
        )

    def board(self, view: View, plan: Plan) -> Board | None:
        """Return the node's board for a shape; None where only the search itself can answer."""
        asked, found = view.latest
        if asked is not plan:
            found = self.board_of(view.pools, plan) if self.is_direct(view, plan) else None
            view.latest = plan, found
        return found

    def is_direct(self, view: View, plan: Plan) -> bool:
        """Return whether boards can answer for the node."""
        if not plan.every or not view.direct:
            return view.direct
        if view.whole is None:
            view.whole = all(pool.whole for pool in self.pools(view.node))
        return view.whole

    def board_of(self, pools: Sequence[Pool], plan: Plan) -> Board | None:
        """Return the board of the pools for a shape."""
        if len(pools) == 1 and len(pools[0].slices) == 1:
            row = pools[0].slices[0]
            return self.board_alone(row, plan, plan.lens.signature(row))
        key = self.key_of(pools, plan)
        found: Board | None = plan.boards.get(key, _UNSEEN)
        if found is _UNSEEN:
            found = self._put_together([row for pool in pools for row in pool.slices], plan, key)
        return found

    def key_of(self, pools: Sequence[Pool], plan: Plan) -> Hashable:
        """Return what the board of the pools is known by."""
        if len(pools) == 1 and len(pools[0].slices) == 1:
            return plan.lens.signature(pools[0].slices[0])
        return tuple([plan.signatures.get(pool) or _signatures(pool, plan) for pool in pools])

    def board_alone(self, row: SliceRow, plan: Plan, signature: int) -> Board | None:
        """Return the board of a slice with this signature by itself for a shape."""
        found: Board | None = plan.boards.get(signature, _UNSEEN)
        return self._put_together((row,), plan, signature) if found is _UNSEEN else found

    def alike(self, row: SliceRow, plan: Plan) -> int | None:
        """Return what slices have in common that are the same to a shape; None for one that is special."""
        return None if self._part(row, plan) is None else plan.lens.signature(row)

    def _put_together(self, rows: Sequence[SliceRow], plan: Plan, key: Hashable) -> Board | None:
        parts = [self._part(row, plan) for row in rows]
        known = [part for part in parts if part is not None]
        board = put_together(known, plan.shape) if len(known) == len(parts) else None
        return plan.put_board(key, board)

    def _part(self, row: SliceRow, plan: Plan) -> Part | None:
        signature = plan.lens.signature(row)
        found: Part | None = plan.parts.get(signature, _UNSEEN)
        if found is _UNSEEN:
            if len(plan.parts) > _MOST_PARTS + 4 * len(self.inventory.rows):
                # Most are of slices that are not there any more.
                plan.forget()
            made = make_part(row, plan.judges, plan.constraints)
            found = plan.put_part(signature, made)
        return found


def _counts(counting: bool, device: DeviceRow) -> bool:
    """Return whether the device draws on counters, where there are any."""
    return counting and device.draws


def _is_special(counting: bool, sharing: bool, device: DeviceRow) -> bool:
    """Return whether using the device has side effects."""
    return _counts(counting, device) or (sharing and device.shareable)


def _signatures(pool: Pool, plan: Plan) -> tuple[int, ...]:
    """Return what the shape can tell of the pool's slices; remembered where that is many."""
    found = tuple([plan.lens.signature(row) for row in pool.slices])
    if len(found) > 1:
        plan.signatures[pool] = found
    return found


def _stated(rule: Rule, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
    """
    Return the facts of a constraint about devices for the requests that it concerns.

    Raises: SearchStopped where looking at one of them ends the search, of which the facts say nothing.
    """
    # All requests see the same of a device: claims have no shape where attributes are derived for one of them.
    for asking in asks[:1]:
        for device in devices:
            rule.allows(asking, device)
    return rule.encode(asks, devices)
