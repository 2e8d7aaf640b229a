"""
The `device` variable: its static type and a device prepared for evaluation.

Names without ``/`` belong to the driver's domain. Looking up an unknown domain
gives an empty map; ``in``, iteration and size do not see it.

Spec: CEL-14, CEL-15, CEL-16
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from dra_alloc.api import Quantity
from dra_alloc.api.semver import Semver, SemverError
from dra_alloc.cel.check.types import BOOL, STRING, CelType, map_of, struct
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.quantity import QUANTITY, CelQuantity
from dra_alloc.cel.library.semver import CelSemver
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.values.runtime import CelMap
from dra_alloc.remembered import of_short_texts

MAX_NAMES: Final = 32
MAX_DOMAIN: Final = 63
MAX_ID: Final = 32
MAX_VALUE: Final = 64
_EMPTY: Final = CelMap({})
_UNREADABLE: Final = "value is invalid or its type is not supported by this version"


class Attribute(Protocol):
    """An attribute value as :class:`dra_alloc.api.DeviceAttribute` has it; exactly one member is set."""

    @property
    def int_(self) -> int | None: ...
    @property
    def bool_(self) -> bool | None: ...
    @property
    def string(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def ints(self) -> tuple[int, ...] | None: ...
    @property
    def bools(self) -> tuple[bool, ...] | None: ...
    @property
    def strings(self) -> tuple[str, ...] | None: ...
    @property
    def versions(self) -> tuple[str, ...] | None: ...


class Reading(NamedTuple):
    """
    Whether list-typed attributes are decoded; `late`: a broken attribute fails only the selectors that read it.

    Before 1.38 it fails every selector on its device.
    """

    lists: bool
    late: bool = False


class DomainMap(CelMap):
    """The outer map of attributes or capacity: every domain can be looked up."""

    __slots__ = ()

    def find(self, key: Any, default: Any = None) -> Any:
        """The names of a domain, an empty map if there is none."""
        return self.entries.get(key, _EMPTY) if type(key) is str else _EMPTY


class GuardedNames(dict[str, Any]):
    """
    The names of a domain of which some are broken: these count and are walked, but ``in`` does not see them.

    Who walks them gets a Failed as the value.
    Raises: CelError when a broken one is read.
    """

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and not self.is_broken(name)

    def __getitem__(self, name: str) -> Any:
        return _readable(super().__getitem__(name))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of the name, or the default."""
        return _readable(super().get(name, default))

    def is_broken(self, name: object) -> bool:
        """Whether reading the name fails."""
        return isinstance(name, str) and type(super().get(name)) is Failed


def _readable(value: Any) -> Any:
    if type(value) is Failed:
        raise CelError(value.error.text)
    return value


class CelDevice:
    """
    A device ready for any number of selectors.

    `problem` is the decoding error that fails every selector on it. `attributes`
    and `capacity` are plain dicts by domain and name; most selectors read none of the latter.
    """

    __slots__ = ("_amounts", "_capacity", "_value", "attributes", "driver", "multi", "problem")

    def __init__(
        self,
        driver: str,
        attributes: dict[str, dict[str, Any]],
        amounts: Mapping[str, Quantity],
        multi: bool,
        problem: str,
    ) -> None:
        self.driver = driver
        self.multi = multi
        self.attributes = attributes
        self.problem = problem
        self._amounts = amounts
        self._capacity: dict[str, dict[str, Any]] | None = None
        self._value: CelMap | None = None

    @property
    def capacity(self) -> dict[str, dict[str, Any]]:
        """The capacity by domain and name, decoded when first looked at."""
        found = self._capacity
        if found is None:
            amounts = self._amounts
            found = self._capacity = {
                domain: {short: CelQuantity(amounts[name]) for short, name in names}
                for domain, names in _by_domain(self.driver, tuple(amounts))
            }
        return found

    @property
    def value(self) -> CelMap:
        """The device as CEL sees it, built when first looked at as a whole."""
        if self._value is None:
            self._value = CelMap(
                {
                    "driver": self.driver,
                    "allowMultipleAllocations": self.multi,
                    "attributes": DomainMap({domain: CelMap(names) for domain, names in self.attributes.items()}),
                    "capacity": DomainMap({domain: CelMap(names) for domain, names in self.capacity.items()}),
                }
            )
        return self._value


def device_type(attribute: CelType, *, multiple: bool) -> tuple[CelType, Mapping[str, CelType]]:
    """The type of `device` and its fields; `multiple` says whether ``allowMultipleAllocations`` is one."""
    fields = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, attribute)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    }
    if multiple:
        fields["allowMultipleAllocations"] = BOOL
    return struct("kubernetes.DRADevice"), fields


def prepare_device(
    driver: str,
    attributes: Mapping[str, Attribute],
    capacity: Mapping[str, Quantity],
    allow_multiple: bool | None,
    reading: Reading,
) -> CelDevice:
    """
    A device decoded for evaluation, in the way a release reads one.

    Of two spellings of one name (``memory`` and ``DRIVER/memory``) the
    qualified one wins, where upstream picks at random. Of several broken
    attributes the first by name is reported. Nothing is raised here:
    evaluation fails with `problem`.
    """
    decoded: dict[str, dict[str, Any]] = {}
    problem = ""
    lists = reading.lists
    for domain, names in _by_domain(driver, tuple(attributes)):
        found = decoded[domain] = {}
        for short, name in names:
            attribute = attributes[name]
            value: Any = attribute.string
            if value is None or lists or attribute.int_ is not None or attribute.bool_ is not None:
                value = _decode(attribute, reading)
                if isinstance(value, _Broken):
                    if not reading.late:
                        problem = problem or f"attribute {name}: {value.text}"
                        continue
                    value = Failed(CelError(f"attribute {short}: {_UNREADABLE}"))
                    if type(found) is dict:
                        found = decoded[domain] = GuardedNames(found)
            found[short] = value
        if not found:
            del decoded[domain]
    return CelDevice(driver, decoded, capacity, bool(allow_multiple), problem)


@lru_cache(maxsize=1024)
def _by_domain(driver: str, names: tuple[str, ...]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Domains in order, each with its names, short and in full, in order; devices mostly have the same names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for domain, short, name in _in_order(driver, names):
        found.setdefault(domain, []).append((short, name))
    return tuple((domain, tuple(each)) for domain, each in found.items())


def _in_order(driver: str, names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Domain, short name and name, sorted; of two spellings the qualified one comes last."""
    found = []
    for name in names:
        domain, slash, short = name.partition("/")
        found.append((domain, short, name) if slash else (driver, name, name))
    # The longer spelling of the same slot is the qualified one, and sorts after the short one.
    found.sort(key=lambda each: (each[0], each[1], len(each[2])))
    return found


class _Broken:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


@of_short_texts(4096)
def _version(text: str) -> CelSemver | _Broken:
    try:
        return CelSemver(Semver.parse(text))
    except SemverError as error:
        return _Broken(f"parse semantic version: {error.message}")


def _versions(texts: tuple[str, ...]) -> tuple[CelSemver, ...] | _Broken:
    parsed = []
    for text in texts:
        version = _version(text)
        if isinstance(version, _Broken):
            return version
        parsed.append(version)
    return tuple(parsed)


_LISTS: Final[tuple[tuple[str, Callable[[Any], Any]], ...]] = (
    ("ints", tuple),
    ("bools", tuple),
    ("strings", tuple),
    ("versions", _versions),
)


def _decode(attribute: Attribute, reading: Reading) -> Any:
    """The value, lists before scalars, or what is wrong with it; an empty list is nothing to a late reading."""
    if reading.lists:
        for member, read in _LISTS:
            values = getattr(attribute, member)
            if values or (values is not None and not reading.late):
                return read(values)
    if attribute.int_ is not None:
        return attribute.int_
    if attribute.bool_ is not None:
        return attribute.bool_
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _version(attribute.version)
    return _Broken("unsupported attribute value")
