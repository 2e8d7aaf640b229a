"""
Where the answer would be another: without upstream's defects, with a gate on, in a newer release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from dra_alloc.api.claims import AnyRequest
from dra_alloc.explain.trials import INSIST, USUAL, Trials
from dra_alloc.explain.world import Surveys, World
from dra_alloc.problem.devices import SliceRow
from dra_alloc.problem.pools import GatherError, gather
from dra_alloc.profiles import ALLOCATOR_FEATURES, Feature, Profile, Trait, features_from_gates, gates_of, profile_for
from dra_alloc.profiles import profile as profile_of
from dra_alloc.releases import NEWEST
from dra_alloc.traits import TRAITS

_SHARING: Final = "allowMultipleAllocations"
#: Schedulers of which it is remembered whom to ask besides.
_MOST_PROFILES: Final = 64


@dataclass(frozen=True, slots=True)
class _Other:
    """
    Another scheduler to ask: its name, its profile, and what to say if it would allocate.

    `defects` are those of the scheduler at hand that it does not have; `feature` is what it has besides, if that is
    one, and with `alike` it differs in no more.
    """

    name: str
    profile: Profile
    hint: str
    defects: tuple[Trait, ...] = ()
    feature: Feature | None = None
    alike: bool = False


class Hints:
    """
    What other schedulers would do with a refused world, tried.

    Spec: EXPLAIN-4, EXPLAIN-5.
    """

    def __init__(self, world: World, trials: Trials) -> None:
        self.told: list[str] = []
        self._world = world
        self._trials = trials
        self._undecided: list[_Other] = []
        self._try(_others(world.profile) if trials.error else _worth_asking(world), USUAL)

    @property
    def untried(self) -> list[str]:
        """Return the schedulers of which it is not known whether they would allocate."""
        return [other.name for other in self._undecided]

    def insist(self) -> None:
        """Ask those that did not answer once more, for longer."""
        undecided, self._undecided = self._undecided, []
        self._try(undecided, INSIST)

    def _try(self, others: Iterable[_Other], effort: int) -> None:
        for other in others:
            if _asks_for_more(self._world, other.profile):
                continue
            answer = self._fits(other.profile, effort)
            if answer is None:
                self._undecided.append(other)
            elif answer:
                self.told.append(self._culprit(other.defects) or other.hint)

    def _culprit(self, defects: Iterable[Trait]) -> str:
        """Return what to say of the first defect that stands in the way alone; empty if none is known to."""
        profile = self._world.profile
        found = next((each for each in defects if self._fits(_sound(profile, [each]), USUAL)), None)
        return "" if found is None else defect_hint(found, profile, " stands in the way")

    def _fits(self, profile: Profile, effort: int) -> bool | None:
        world = _seen_by(profile, self._world)
        return None if world is None else self._trials.fits(world, effort)


def _seen_by(profile: Profile, world: World) -> World | None:
    """Return the world of another scheduler; None if that offers devices of other pools, held by who knows whom."""
    seen, around = world.having(profile=profile), world.surveys.around
    if around is None:
        return seen
    try:
        pools = around.survey(world.classes, profile).pools(world.node)
    except GatherError:
        return None
    more = [pool for pool in pools if pool.key not in world.pools()]
    if not more:
        return seen
    if any(pool.devices for pool in more):
        return None
    rows = [row for pool in pools for row in around.inventory.by_pool[pool.key]]
    rules = {id(rule): rule for row in rows for rule in row.taint_rules}
    slices, taint_rules = tuple([row.wire for row in rows]), tuple(rules.values())
    return seen.having(slices=slices, taint_rules=taint_rules, surveys=Surveys(around, slices, taint_rules))


def _worth_asking(world: World) -> Iterator[_Other]:
    """Yield the schedulers that may answer otherwise: not those with a feature besides of which there is nothing."""
    if not _is_everyday(world):
        others = _others(world.profile)
        yield from (each for each in others if not (each.alike and each.feature) or _has(world, each.feature))


def gates_elsewhere(worlds: Mapping[str, World], told: Collection[str], work: int) -> Iterator[tuple[str, str]]:
    """
    Yield nodes with a gate that lets their claims be allocated there, each gate once and none that is told already.

    The worlds are those of one refused question, by the nodes' names. Spec: EXPLAIN-4.
    """
    profile = next((world.profile for world in worlds.values()), None)
    for other in () if profile is None else _others(profile):
        if other.feature is not None and other.hint not in told:
            found, work = _first_with(worlds, other, work)
            yield from ((name, other.hint) for name in found)


def _first_with(worlds: Mapping[str, World], other: _Other, work: int) -> tuple[list[str], int]:
    """Return the first node on which another scheduler would allocate, if there is one, and what work is left."""

    def seen(world: World) -> World:
        return _seen_by(other.profile, world) or world

    for name, world in worlds.items():
        if work <= 0:
            break
        if other.feature is not None and _has(world, other.feature) and not _asks_for_more(world, other.profile):
            elsewhere = [each for node, each in worlds.items() if node != name]
            trials = Trials(world, work, refused=True, elsewhere=elsewhere)
            fits = trials.unspoilt(trials.fits(seen(world)), (other.hint,), seen)
            work -= trials.work
            if fits:
                return [name], work
    return [], work


def _asks_for_more(world: World, profile: Profile) -> bool:
    """Return whether what was lost for its gates would be kept there: that other question is not asked here."""
    own, lost = world.profile, world.lost
    if profile.release.line != own.release.line:
        return any(gates_of(profile.release).get(gate, False) for gate in lost)
    more = profile.features - own.features
    return any(gate in lost for feature in more for gate in ALLOCATOR_FEATURES[feature])


def _has(world: World, feature: Feature) -> bool:
    """Return whether there is anything in a world that a feature is about, as far as that is easily told."""
    specs = [each.spec for each in world.slices]
    match feature:
        case Feature.ADMIN_ACCESS:
            return any(getattr(ask, "admin_access", None) for _, _, ask in world.asks())
        case Feature.BINDING:
            return any(row.outline.waits for row in world.rows())
        case Feature.CONSUMABLE_CAPACITY:
            return world.shares or any(ask.capacity is not None for _, _, ask in world.asks()) or world.differs
        case Feature.DERIVED_ATTRIBUTES:
            return any(ask.derived_attributes for _, _, ask in world.asks())
        case Feature.OPTIONAL_NODE_OPERATIONS:
            return any(each.skip_node_operations for each in specs)
        case Feature.PARTITIONABLE | Feature.COMPATIBILITY_GROUPS:
            return any(row.outline.consumes for row in world.rows())
        case Feature.LIST_ATTRIBUTES:
            return any(None in row.outline.versions for row in world.rows())
        case Feature.TAINTS:
            return any(ask.tolerations for _, _, ask in world.asks())
        case _:
            return True


def _is_everyday(world: World) -> bool:
    """
    Return whether nobody would answer otherwise: a refusal without legal answers rests on what all know and do alike.

    That is selectors, attributes that have to match, taints, devices for one claim each; neither a gate nor a defect
    has a say in these.
    """
    profile = world.profile
    if world.taint_rules or (profile.shows(Trait.EVERY_TAINT_BARS) and profile.on(Feature.TAINTS)):
        return False
    constraints = (each for claim in world.claims for each in claim.spec.devices.constraints)
    if not all(each.stated is not None and each.stated.kind.wire == "matchAttribute" for each in constraints):
        return False
    return (
        all(_asks_plainly(world, ask) for _, _, ask in world.asks())
        and all(map(_is_ordinary, world.rows()))
        and world.is_plain()
        and all(pool.whole for pool in gather(world.inventory(), world.node, profile))
    )


def _asks_plainly(world: World, ask: AnyRequest) -> bool:
    """Return whether a request is for some number of whole devices, and does not ask whether they are shared."""
    if ask.allocation_mode != "ExactCount" or ask.capacity is not None or ask.derived_attributes:
        return False
    found = world.classes.get(ask.device_class_name)
    selectors = (*ask.selectors, *(() if found is None else found.spec.selectors))
    reads = (each.cel.expression for each in selectors if each.cel is not None)
    return not getattr(ask, "admin_access", None) and not any(_SHARING in each for each in reads)


def _is_ordinary(row: SliceRow) -> bool:
    """Return whether a slice of one node has devices of plain attributes, which draw on nothing and are not shared."""
    spec, outline = row.wire.spec, row.outline
    odd = outline.repeats or outline.consumes or outline.waits or None in outline.versions
    if odd or not row.is_local or spec.shared_counters or spec.skip_node_operations:
        return False
    return not any(each.allow_multiple_allocations for each in spec.devices)


def defect_hint(defect: Trait, profile: Profile, does: str = "") -> str:
    """Return what there is to say of a defect of a scheduler, and what it does here."""
    record = next(each for each in TRAITS[defect] if each.defect)
    issue = f" (kubernetes/kubernetes#{record.issue})" if record.issue else ""
    return f"a defect of kube-scheduler {profile.release}{does}, {defect}{issue}: {record.summary}"


@lru_cache(maxsize=_MOST_PROFILES)
def _others(profile: Profile) -> tuple[_Other, ...]:
    """Return the schedulers that are worth asking where that of the profile refuses."""
    return tuple(_others_of(profile))


def _others_of(profile: Profile) -> Iterator[_Other]:
    defects = tuple(sorted(trait for trait in profile.traits if any(record.defect for record in TRAITS[trait])))
    if defects:
        name = f"kube-scheduler {profile.release} without its known defects"
        hint = f"without the known defects of kube-scheduler {profile.release} this would be allocated"
        yield _Other(name, _sound(profile, defects), hint, defects)
    for gates, other in _with_one_more_feature(profile):
        switched = f"with {' and '.join(gates)} switched on"
        hint = f"Kubernetes {profile.release} would allocate this {switched}"
        (more,) = other.features - profile.features if len(other.features - profile.features) == 1 else (None,)
        alike = replace(profile, features=other.features) == other
        yield _Other(f"Kubernetes {profile.release} {switched}", other, hint, feature=more, alike=alike)
    # Nobody goes back, and what an older release does not know it does not keep to either.
    for line in NEWEST:
        other = profile_for(line, gates_of(line), semantics=profile.semantics)
        if other.release > profile.release and other.release.line != profile.release.line:
            name = f"Kubernetes {line} with its default gates"
            yield _Other(name, other, f"{name} would allocate this")


def _with_one_more_feature(now: Profile) -> Iterator[tuple[tuple[str, ...], Profile]]:
    """Yield, for every feature of the release that is off, the gates it takes and the profile with it on."""
    known = gates_of(now.release)
    on = {gate for feature in now.features for gate in ALLOCATOR_FEATURES[feature]}
    for feature, needed in ALLOCATOR_FEATURES.items():
        missing = tuple(gate for gate in needed if gate not in on)
        if feature in now.features or not known.keys() >= set(needed):
            continue
        features = features_from_gates(now.release, dict.fromkeys((*on, *needed), True))
        if feature in features:
            yield missing or needed, profile_of(now.release, features, semantics=now.semantics)


def _sound(profile: Profile, defects: Iterable[Trait]) -> Profile:
    return replace(profile, traits=profile.traits - frozenset(defects))
