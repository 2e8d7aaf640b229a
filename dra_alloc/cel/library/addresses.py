"""
IP addresses and CIDR blocks as CEL values, and what Go says of texts that are none.

Spec: CEL-58
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final

from dra_alloc.api.go_text import quote
from dra_alloc.cel.check.types import opaque
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD

IP: Final = opaque("net.IP")
CIDR: Final = opaque("net.CIDR")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class CelIp:
    """An IP address."""

    __slots__ = ("address",)
    cel_type = IP
    go_type = "cel.IP"
    go_native = "netip.Addr"
    go_map_key = True

    def __init__(self, address: _Address) -> None:
        self.address = address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelIp) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __str__(self) -> str:
        return str(self.address)

    @property
    def cel_size(self) -> int:
        """Bytes of the address, by which some calls are charged."""
        return self.address.max_prefixlen // 8

    def cel_equal(self, other: Any) -> bool:
        """Equality; raises CelError if `other` is no address."""
        if not isinstance(other, CelIp):
            raise CelError(NO_SUCH_OVERLOAD)
        return self == other


class CelCidr:
    """An address and a number of leading bits; the bits after them are kept."""

    __slots__ = ("address", "bits")
    cel_type = CIDR
    go_type = "cel.CIDR"
    go_native = "netip.Prefix"
    go_map_key = True

    def __init__(self, address: _Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelCidr) and (self.address, self.bits) == (other.address, other.bits)

    def __hash__(self) -> int:
        return hash((self.address, self.bits))

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    @property
    def cel_size(self) -> int:
        """Bytes of the prefix, by which comparisons are charged."""
        return -(-self.bits // 8)

    def cel_equal(self, other: Any) -> bool:
        """Equality, the bits behind the prefix included; raises CelError if `other` is no block."""
        if not isinstance(other, CelCidr):
            raise CelError(NO_SUCH_OVERLOAD)
        return self == other

    def masked(self) -> CelCidr:
        """The block with the bits behind its prefix cleared."""
        spare = self.address.max_prefixlen - self.bits
        return CelCidr(type(self.address)(int(self.address) >> spare << spare), self.bits)

    def contains(self, address: _Address) -> bool:
        """Whether `address` starts with the prefix."""
        spare = self.address.max_prefixlen - self.bits
        return address.version == self.address.version and int(address) >> spare == int(self.address) >> spare


class NoAddress(Exception):
    """Go's words for a text that is no address."""

    def __init__(self, message: str, rest: str = "") -> None:
        super().__init__(f"{message} (at {quote(rest)})" if rest else message)


_SEPARATOR: Final = re.compile(r"[.:%]")
_HEX: Final = re.compile(r"[0-9a-fA-F]*")


def parse_ip(text: str) -> _Address:
    """The address that `text` names; raises CelError with upstream's text. Zones and mapped addresses are refused."""
    address, zone = _address(text)
    if zone:
        raise CelError(f"IP address {quote(text)} with zone value is not allowed")
    if _is_mapped(address):
        raise CelError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return address


def _is_mapped(address: _Address) -> bool:
    return address.version == 6 and int(address) >> 32 == 0xFFFF


def _address(text: str) -> tuple[_Address, str]:
    try:
        return read_address(text)
    except NoAddress as problem:
        raise CelError(
            f"IP Address {quote(text)} parse error during conversion from string: {told(text, problem)}"
        ) from None


def told(text: str, problem: NoAddress) -> str:
    """Go's whole complaint about `text`."""
    return f"ParseAddr({quote(text)}): {problem}"


def read_address(text: str) -> tuple[_Address, str]:
    """Address and zone; raises NoAddress with Go's reason."""
    separator = _SEPARATOR.search(text)
    if separator is None:
        raise NoAddress("unable to parse IP")
    if separator[0] == "%":
        raise NoAddress("missing IPv6 address")
    if separator[0] == ".":
        return ipaddress.IPv4Address(_ipv4(text, text)), ""
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise NoAddress("zone must be a non-empty string")
    return ipaddress.IPv6Address(_ipv6(address)), zone


def _ipv4(text: str, end: str) -> int:
    """The four numbers of `text`, which is the `end` of what was given."""
    numbers: list[int] = []
    digits = ""
    for index, char in enumerate(text):
        if char == ".":
            if not digits or index == len(text) - 1:
                raise NoAddress("IPv4 field must have at least one digit", end[index:])
            if len(numbers) == 3:
                raise NoAddress("IPv4 address too long")
            numbers.append(int(digits))
            digits = ""
        elif "0" <= char <= "9":
            if digits == "0":
                raise NoAddress("IPv4 field has octet with leading zero")
            digits += char
            if int(digits) > 255:
                raise NoAddress("IPv4 field has value >255")
        else:
            raise NoAddress("unexpected character", end[index:])
    if len(numbers) < 3:
        raise NoAddress("IPv4 address too short")
    return int.from_bytes([*numbers, int(digits)])


def _ipv6(text: str) -> int:
    """Eight groups of hexadecimal digits, or fewer around a double colon."""
    groups: list[int] = []
    gap: int | None = None
    rest = text
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
    while rest and len(groups) < 8:
        digits = _HEX.match(rest)[0]  # type: ignore[index]
        if len(digits) > 4:
            raise NoAddress("each group must have 4 or less digits", rest)
        if not digits:
            raise NoAddress("each colon-separated field must have at least one digit", rest)
        if rest[len(digits) : len(digits) + 1] == ".":
            return _with_gap([*groups, *_embedded(rest, groups, gap)], gap)
        groups.append(int(digits, 16))
        rest = rest[len(digits) :]
        if not rest:
            break
        rest, gap = _after_group(rest, groups, gap)
    if rest:
        raise NoAddress("trailing garbage after address", rest)
    return _with_gap(groups, gap)


def _after_group(rest: str, groups: list[int], gap: int | None) -> tuple[str, int | None]:
    if rest[0] != ":":
        raise NoAddress("unexpected character, want colon", rest)
    if len(rest) == 1:
        raise NoAddress("colon must be followed by more characters", rest)
    if rest[1] != ":":
        return rest[1:], gap
    if gap is not None:
        raise NoAddress("multiple :: in address", rest[1:])
    return rest[2:], len(groups)


def _embedded(rest: str, groups: list[int], gap: int | None) -> tuple[int, int]:
    """The last two groups, written as an IPv4 address."""
    if gap is None and len(groups) != 6:
        raise NoAddress("embedded IPv4 address must replace the final 2 fields of the address", rest)
    if len(groups) > 6:
        raise NoAddress("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    return divmod(_ipv4(rest, rest), 0x10000)


def _with_gap(groups: list[int], gap: int | None) -> int:
    missing = 8 - len(groups)
    if gap is None and missing:
        raise NoAddress("address string too short")
    if gap is not None:
        if not missing:
            raise NoAddress("the :: must expand to at least one field of zeros")
        groups = groups[:gap] + [0] * missing + groups[gap:]
    value = 0
    for group in groups:
        value = value << 16 | group
    return value


_NOT_A_BLOCK: Final = "network address parse error during conversion from string: "


def parse_cidr(text: str) -> CelCidr:
    """The block that `text` names; raises CelError with upstream's text."""
    try:
        block = _block(text)
    except NoAddress as problem:
        message = f"{_NOT_A_BLOCK}netip.ParsePrefix({quote(text)}): {problem}"
        raise CelError(f"{_NOT_A_BLOCK}{message}") from None
    if _is_mapped(block.address):
        raise CelError(f"{_NOT_A_BLOCK}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return block


def _block(text: str) -> CelCidr:
    head, slash, bits = text.rpartition("/")
    if not slash:
        raise NoAddress("no '/'")
    try:
        address, zone = read_address(head)
    except NoAddress as problem:
        raise NoAddress(told(head, problem)) from None
    if zone:
        raise NoAddress("IPv6 zones cannot be present in a prefix")
    if re.fullmatch(r"0|[1-9][0-9]*", bits) is None or len(bits) > 19 or int(bits) >= 2**63:
        raise NoAddress(f"bad bits after slash: {quote(bits)}")
    if int(bits) > address.max_prefixlen:
        raise NoAddress("prefix length out of range")
    return CelCidr(address, int(bits))
