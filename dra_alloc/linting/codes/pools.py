"""
Slices and pools: what drivers publish.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.api import DeviceCapacity, Quantity
from dra_alloc.api.slices import newest_slices
from dra_alloc.errors import first_few, in_brief
from dra_alloc.linting.codes.takes import said
from dra_alloc.linting.looking import Linting, as_written
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.manifest import Documents

_DRAIN: Final = "taint it with NoExecute, and take it away when nobody has it"
#: So begin the names of attributes that say what a device is part of: `parentUUID` names the `uuid` of that.
_PARENT: Final = "parent"
_MANNER: Final = {True: "shared", False: "exclusive"}


class _Pool(NamedTuple):
    """The slices of one pool of a driver; `newest` are those of its highest generation."""

    slices: tuple[Any, ...]
    newest: tuple[Any, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all slices are there that the pool says it has."""
        return all(each.spec.pool.resource_slice_count == len(self.newest) for each in self.newest)


def _pools(documents: Documents) -> list[_Pool]:
    """
    Return the pools: the slices of a file that name the same, and those of files that fill each other up.

    Examples side by side in a folder often have one name, and are not one pool.
    """
    found: dict[tuple[str, str, str], list[Any]] = {}
    for each in documents.slices:
        place = documents.places.get(id(each))
        file = "" if place is None else place.file
        found.setdefault((file, each.spec.driver, each.spec.pool.name), []).append(each)
    parts: dict[tuple[str, str, int, int], list[_Pool]] = {}
    pools: list[_Pool] = []
    for (_, driver, name), slices in found.items():
        pool = _pool(slices)
        counts = {each.spec.pool.resource_slice_count for each in pool.newest}
        if len(counts) == 1 and len(pool.newest) < (count := counts.pop()):
            parts.setdefault((driver, name, pool.newest[0].spec.pool.generation, count), []).append(pool)
        else:
            pools.append(pool)
    for (_, _, _, count), there in parts.items():
        names = [each.metadata.name for part in there for each in part.newest]
        fit = len(set(names)) == len(names) <= count
        pools += [_pool([each for part in there for each in part.slices])] if fit else there
    return pools


def _pool(slices: Sequence[Any]) -> _Pool:
    return _Pool(tuple(slices), tuple(newest_slices(slices)))


class _Changed(NamedTuple):
    """A pool as it is, and as it was; `holders` are the claims that have its devices, by the names of these."""

    now: _Pool
    before: _Pool
    holders: Mapping[str, str]


def _holders(linting: Linting) -> dict[tuple[str, str], dict[str, str]]:
    """Return the claims that have devices to themselves or share them, by driver and pool; admin access holds none."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    there = (each for each in (linting.previous, linting.cluster) if each is not None)
    for claim in (claim for each in there for claim in each.claims):
        for got in claim.status.allocation.devices.results if claim.status.allocation is not None else ():
            if not got.admin_access:
                found.setdefault((got.driver, got.pool), {})[got.device] = claim.metadata.full_name
    return found


def _alone(documents: Documents | None) -> dict[tuple[str, str], _Pool]:
    """Return the pools whose driver and name no other has: which of several comes after which nobody knows."""
    pools = _pools(documents) if documents is not None else []
    counts = Counter(map(_key, pools))
    return {_key(pool): pool for pool in pools if counts[_key(pool)] == 1}


def _key(pool: _Pool) -> tuple[str, str]:
    return pool.newest[0].spec.driver, pool.newest[0].spec.pool.name


def _changed(linting: Linting) -> Iterator[_Changed]:
    """Yield the pools of which all slices are known, before and now."""
    before = _alone(linting.previous)
    holders, there = (_holders(linting), _alone(linting.documents)) if before else ({}, {})
    for key, pool in there.items():
        if pool.is_complete and key in before:
            yield _Changed(pool, before[key], holders.get(key, {}))


def _devices(pool: _Pool) -> dict[str, Any]:
    return {device.name: device for item in pool.newest for device in item.spec.devices}


def _vanished(linting: Linting) -> Iterator[Hit]:
    """
    Yield pools without devices that claims have, and pools that are gone with such devices.

    Slices of one node say nothing of the pools of another: a pool is gone where its driver publishes for its node.
    """
    for now, before, holders in _changed(linting):
        there = _devices(now)
        for name in _devices(before):
            if name not in there and name in holders:
                told = f"device {in_brief(name)} is gone, and claim {in_brief(holders[name])} has it"
                yield from _hit(linting, now.newest[0], ("pool", "name"), told, _DRAIN)
    left = _alone(linting.previous)
    for pool in _pools(linting.documents) if left else ():
        left.pop(_key(pool), None)
    held = _holders(linting) if left else {}
    publishing = {_for_node(each): each for each in reversed(linting.documents.slices)}
    for (driver, name), pool in left.items():
        claims = sorted(set(held.get((driver, name), {}).values()))
        if claims and (beside := publishing.get(_for_node(pool.newest[0]))) is not None:
            told = f"pool {in_brief(name)} is gone, and claims have devices of it: {first_few(claims)}"
            yield from _hit(linting, beside, ("driver",), told, _DRAIN)


def _for_node(item: Any) -> tuple[str, str | None]:
    """Return the driver of a slice and the node that it is for, if it is for one."""
    return item.spec.driver, item.spec.node_name


def _flipped(linting: Linting) -> Iterator[Hit]:
    """Yield devices that are shared now and were not, or the other way round."""
    for now, before, holders in _changed(linting):
        was = _devices(before)
        for item in now.newest:
            for number, device in enumerate(item.spec.devices):
                shared = bool(device.allow_multiple_allocations)
                if device.name in was and bool(was[device.name].allow_multiple_allocations) is not shared:
                    told = f"device {in_brief(device.name)} is {_MANNER[shared]} now, and was {_MANNER[not shared]}"
                    claim = holders.get(device.name)
                    told += f" when claim {in_brief(claim)} got it" if claim else ""
                    for hit in _hit(linting, item, ("devices", str(number), "name"), told):
                        yield hit._replace(severity="error" if claim else None)


def _stale(linting: Linting) -> Iterator[Hit]:
    """Yield pools that changed and have the same generation, or an older one."""
    for now, before, _ in _changed(linting):
        one, other = (pool.newest[0].spec.pool.generation for pool in (before, now))
        if other < one:
            told = f"generation {other} comes after {one}, whose slices count until the last of them is gone"
            yield from _hit(linting, now.newest[0], ("pool", "generation"), told)
        elif other == one and (names := _differing(before, now)):
            told = f"{first_few(names)} changed, and the generation is {one} as before"
            yield from _hit(linting, now.newest[0], ("pool", "generation"), told, f"generation: {one + 1}")


def _differing(before: _Pool, now: _Pool) -> list[str]:
    """Return the names of devices and counter sets that are not what they were, or are not in both."""
    one, other = (dict(_parts(pool)) for pool in (before, now))
    return sorted({name for name in one.keys() | other.keys() if one.get(name) != other.get(name)})


def _parts(pool: _Pool) -> Iterator[tuple[str, Any]]:
    for item in pool.newest:
        wire = item.model().to_wire() if hasattr(item, "model") else item.to_wire()
        for kind in ("devices", "sharedCounters"):
            for each in wire["spec"].get(kind) or ():
                taints = [taint | {"timeAdded": None} for taint in each.get("taints") or ()]  # that is the server's own
                yield each["name"], each | {"taints": taints}


def _hit(linting: Linting, item: Any, steps: tuple[str, ...], message: str, hint: str = "") -> Iterator[Hit]:
    written = linting.written_of(item)
    if written is not None:
        yield Hit(written, as_written(written, ("spec", *steps)), message, hint)


def _twice(linting: Linting) -> Iterator[Hit]:
    """Yield devices and counter sets that an earlier slice of the pool has, too; in one slice validation says so."""
    for pool in _pools(linting.documents):
        seen: dict[tuple[str, str], Any] = {}
        for item in pool.newest:
            for kind, members in (("devices", item.spec.devices), ("sharedCounters", item.spec.shared_counters)):
                for number, each in enumerate(members):
                    first = seen.setdefault((kind, each.name), item)
                    if first is not item:
                        what = "device" if kind == "devices" else "counter set"
                        told = f"{what} {in_brief(each.name)} is in slice {in_brief(first.metadata.name or '')}, too"
                        yield from _hit(linting, item, (kind, str(number), "name"), told)


def _missing(linting: Linting) -> Iterator[Hit]:
    """Yield counter sets that devices take from and no slice of the pool has, where all of its slices are known."""
    for pool in _pools(linting.documents):
        known = {each.name for item in pool.newest for each in item.spec.shared_counters}
        for item in pool.newest if pool.is_complete else ():
            for number, device in enumerate(item.spec.devices):
                for index, taken in enumerate(device.consumes_counters):
                    if taken.counter_set not in known:
                        steps = ("devices", str(number), "consumesCounters", str(index), "counterSet")
                        told = f"no slice of the pool has counter set {in_brief(taken.counter_set)}"
                        yield from _hit(linting, item, steps, told)


def _unused(linting: Linting) -> Iterator[Hit]:
    """Yield counter sets that no device takes from, where all slices of the pool are known."""
    for pool in _pools(linting.documents):
        used = {
            taken.counter_set
            for item in pool.newest
            for device in item.spec.devices
            for taken in device.consumes_counters
        }
        for item in pool.newest if pool.is_complete else ():
            for number, each in enumerate(item.spec.shared_counters):
                if each.name not in used:
                    told = f"no device of the pool takes from counter set {in_brief(each.name)}"
                    yield from _hit(linting, item, ("sharedCounters", str(number), "name"), told)


def _apart(linting: Linting) -> Iterator[Hit]:
    """Yield devices whose parts stand beside them in the pool, where no counter set keeps both from being taken."""
    for pool in _pools(linting.documents):
        there = [(item, number, each) for item in pool.newest for number, each in enumerate(item.spec.devices)]
        parts: dict[tuple[str, str], list[Any]] = {}
        for _, _, device in there:
            for name, value in _texts(device):
                if name.startswith(_PARENT):
                    parts.setdefault((name.removeprefix(_PARENT), value), []).append(device)
        for item, number, device in there if parts else ():
            texts = dict(_texts(device))
            if any(name.startswith(_PARENT) for name in texts):
                continue
            mine = _sets(device)
            found = [each for pair in texts.items() for each in parts.get(pair, ()) if not mine & _sets(each)]
            if found:
                names = first_few(sorted({each.name for each in found}))
                told = f"parts of {in_brief(device.name)} can be taken beside it: {names}"
                hint = "a counter set that both take from (sharedCounters, consumesCounters)"
                yield from _hit(linting, item, ("devices", str(number), "name"), told, hint)


def _texts(device: Any) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a device that are texts, without domain and in lower case."""
    for name, value in device.attributes.items():
        if value.string is not None:
            yield name.rpartition("/")[2].lower(), value.string


def _sets(device: Any) -> set[str]:
    return {each.counter_set for each in device.consumes_counters}


def _empty(linting: Linting) -> Iterator[Hit]:
    """Yield slices with nothing in them."""
    for item in linting.documents.slices:
        if not item.spec.devices and not item.spec.shared_counters:
            yield from _hit(linting, item, ("pool", "name"), "the slice has no devices and no counter sets")


def _named_twice(linting: Linting) -> Iterator[Hit]:
    """Yield attributes and capacities that stand under their bare name and under that with the driver's domain."""
    for item in linting.documents.slices:
        domain = f"{item.spec.driver}/"
        for number, device in enumerate(item.spec.devices):
            for kind, names in (("attributes", device.attributes), ("capacity", device.capacity)):
                for name in names:
                    bare = name.removeprefix(domain)
                    if bare != name and bare in names:
                        told = f"{in_brief(bare)} stands beside {in_brief(name)}, and both mean the same"
                        yield from _hit(linting, item, ("devices", str(number), kind, name), told)


def _older(linting: Linting) -> Iterator[Hit]:
    """Yield slices of generations that a newer one of their pool has replaced."""
    for pool in _pools(linting.documents):
        newest = pool.newest[0].spec.pool.generation
        for item in pool.slices:
            if item.spec.pool.generation < newest:
                told = f"slices of generation {newest} replace it: its devices are not looked at"
                yield from _hit(linting, item, ("pool", "generation"), told)


def _counts(linting: Linting) -> Iterator[Hit]:
    """Yield slices that say another number of slices than others of their pool do, or less than there are."""
    for pool in _pools(linting.documents):
        first, there = pool.newest[0].spec.pool.resource_slice_count, len(pool.newest)
        for item in pool.newest:
            count = item.spec.pool.resource_slice_count
            told = f"another slice of this generation says {first}" if count != first else ""
            told = told or (f"there are {there} slices of this generation" if count < there else "")
            if told and count > 0:
                yield from _hit(linting, item, ("pool", "resourceSliceCount"), told)


def _unrounded(linting: Linting) -> Iterator[Hit]:
    """Yield request policies by which amounts come to more than there is: the default, or all of it rounded up."""
    for item in linting.documents.slices:
        for number, device in enumerate(item.spec.devices):
            for name, capacity in device.capacity.items():
                told = _too_much(capacity)
                if told:
                    steps = ("devices", str(number), "capacity", name, "requestPolicy", *told[:1])
                    yield from _hit(linting, item, steps, told[1])


def _too_much(capacity: DeviceCapacity) -> tuple[str, str] | None:
    """Return of which member of a request policy an amount is more than there is, and in what words."""
    policy, there = capacity.request_policy, capacity.value
    if policy is None or policy.default is None:
        return None
    if policy.default > there:
        return "default", f"who asks for no amount is given {policy.default}, and there is {there}"
    span = policy.valid_range
    if span is None or span.min is None or span.max is not None or span.step is None or span.step.nano <= 0:
        return None
    over = (there.nano - span.min.nano) % span.step.nano
    if over and there > span.min:
        most = Quantity.of(there.nano - over, there.format, exponent=-9)
        return "validRange", f"more than {most} is rounded up to more than the {there} that there is"
    return None


RULES: Final = (
    LintRule(
        "P501",
        "error",
        "a slice has devices or counter sets, not both",
        takes=said("only one of `sharedCounters` or `devices`"),
        instead="since 1.35 counter sets stand in slices of their own in the same pool; count these, too, in "
        "resourceSliceCount",
    ),
    LintRule("P502", "error", "a pool has each device and each counter set once", finds=_twice),
    LintRule("P503", "error", "devices take from counter sets of their own pool", finds=_missing),
    LintRule("P504", "warning", "a counter set is taken from", finds=_unused),
    LintRule("P505", "warning", "an attribute or capacity of a device has one name", finds=_named_twice),
    LintRule("P506", "warning", "slices of an older generation count for nothing", finds=_older),
    LintRule("P507", "error", "all slices of a generation say how many there are", finds=_counts),
    LintRule("P509", "error", "a device stays published as long as a claim has it", finds=_vanished, looks_back=True),
    LintRule("P510", "warning", "a device stays shared or exclusive", finds=_flipped, looks_back=True),
    LintRule("P511", "warning", "a pool that changes has a higher generation", finds=_stale, looks_back=True),
    LintRule("P512", "warning", "a device and parts of it take from one counter set", finds=_apart),
    LintRule("P513", "info", "a slice has devices or counter sets in it", finds=_empty),
    LintRule("P508", "warning", "what a request policy makes of an amount is there", finds=_unrounded),
)
