"""
``ip`` and ``cidr``: parsing, classification and containment.

Spec: CEL-58
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import CEL_GO_033, Cost, Function, Library, Overload, Window
from dra_alloc.cel.check.types import BOOL, INT, CelType
from dra_alloc.cel.check.types import STRING as STRING_TYPE
from dra_alloc.cel.count.costs import NOMINAL, ONE, STRING, TRAVERSE_FIRST, Range, plain_size, share, traverse
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.addresses import CIDR, IP, CelCidr, CelIp, parse_cidr, parse_ip
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD
from dra_alloc.releases import Span

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

#: Bytes of the shortest and the longest address.
_ADDRESS: Final = Range(4, 16)
_BROADCAST: Final = ipaddress.IPv4Address("255.255.255.255")


def _holds(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def run(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return run


def _is_canonical(text: str) -> bool:
    return str(parse_ip(text)) == text


# The standard library's own answers differ between Python versions.


def _is_loopback(value: CelIp) -> bool:
    number = int(value.address)
    return number >> 24 == 127 if value.address.version == 4 else number == 1


def _is_link_local_multicast(value: CelIp) -> bool:
    number = int(value.address)
    return number >> 8 == 0xE00000 if value.address.version == 4 else (number >> 112) & 0xFF0F == 0xFF02


def _is_link_local_unicast(value: CelIp) -> bool:
    number = int(value.address)
    return number >> 16 == 0xA9FE if value.address.version == 4 else number >> 118 == 0xFE80 >> 6


def _is_multicast(value: CelIp) -> bool:
    number = int(value.address)
    return number >> 28 == 0xE if value.address.version == 4 else number >> 120 == 0xFF


def _is_global_unicast(value: CelIp) -> bool:
    """Anything that is not special; private addresses count."""
    return (
        int(value.address) != 0
        and value.address != _BROADCAST
        and not _is_loopback(value)
        and not _is_multicast(value)
        and not _is_link_local_unicast(value)
    )


def _contains_text(block: CelCidr, text: str) -> bool:
    try:
        return block.contains(parse_ip(text))
    except CelError:
        raise CelError(NO_SUCH_OVERLOAD) from None


def _contains_block(block: CelCidr, other: CelCidr) -> bool:
    return other.bits >= block.bits and block.contains(other.address)


# Costs


def _containment(whole_block: bool, text: bool) -> Cost:
    """Comparing prefixes byte by byte; a block is walked once more, and a text has to be read first."""

    def actual(args: Sequence[Any], result: Any) -> int:
        size = plain_size(args[0])
        cost = share(size, 2 * STRING)
        if whole_block:
            cost += share(size, STRING) + 1
        return cost + share(plain_size(args[1]), STRING) if text else cost

    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
        if target is None:
            return None
        cost = _ADDRESS.scaled(2 * STRING)
        if whole_block:
            cost = cost.plus(_ADDRESS.scaled(STRING)).plus(ONE)
        return estimator.call(cost.plus(estimator.size(args[0]).scaled(STRING)) if text else cost)

    return Cost(actual, estimate)


_CONTAINS_IP: Final = _containment(whole_block=False, text=False)
_CONTAINS_CIDR: Final = _containment(whole_block=True, text=False)


def _member(name: str, identifier: str, params: tuple[CelType, ...], result: CelType, run: Any) -> Function:
    return Function(name, (Overload(identifier, params, result, run, member=True),), cost=NOMINAL)


def _of_ip(name: str, identifier: str, run: Callable[[CelIp], bool]) -> Function:
    return _member(name, identifier, (IP,), BOOL, run)


def _text_of(identifier: str, kind: CelType) -> Function:
    return Function("string", (Overload(identifier, (kind,), STRING_TYPE, str, cost=NOMINAL),))


IP_LIBRARY: Final = Library(
    "kubernetes.net.ip",
    functions=(
        Function(
            "ip",
            (Overload("string_to_ip", (STRING_TYPE,), IP, lambda text: CelIp(parse_ip(text)), cost=TRAVERSE_FIRST),),
        ),
        Function("isIP", (Overload("is_ip", (STRING_TYPE,), BOOL, _holds(parse_ip)),), cost=TRAVERSE_FIRST),
        Function(
            "ip.isCanonical",
            (Overload("ip_is_canonical", (STRING_TYPE,), BOOL, _is_canonical),),
            cost=traverse(2 * STRING),
        ),
        _member("family", "ip_family", (IP,), INT, lambda value: value.address.version),
        _of_ip("isUnspecified", "ip_is_unspecified", lambda value: int(value.address) == 0),
        _of_ip("isLoopback", "ip_is_loopback", _is_loopback),
        _of_ip("isLinkLocalMulticast", "ip_is_link_local_multicast", _is_link_local_multicast),
        _of_ip("isLinkLocalUnicast", "ip_is_link_local_unicast", _is_link_local_unicast),
        _of_ip("isGlobalUnicast", "ip_is_global_unicast", _is_global_unicast),
        _text_of("ip_to_string", IP),
    ),
    types=(IP,),
    window=Window(since=30),
)

CIDR_LIBRARY: Final = Library(
    "kubernetes.net.cidr",
    functions=(
        Function("cidr", (Overload("string_to_cidr", (STRING_TYPE,), CIDR, parse_cidr),), cost=TRAVERSE_FIRST),
        Function("isCIDR", (Overload("is_cidr", (STRING_TYPE,), BOOL, _holds(parse_cidr)),), cost=TRAVERSE_FIRST),
        Function(
            "containsIP",
            (
                Overload(
                    "cidr_contains_ip_string",
                    (CIDR, STRING_TYPE),
                    BOOL,
                    _contains_text,
                    member=True,
                    cost=_containment(whole_block=False, text=True),
                ),
                Overload(
                    "cidr_contains_ip_ip",
                    (CIDR, IP),
                    BOOL,
                    lambda block, value: block.contains(value.address),
                    member=True,
                ),
            ),
            cost=_CONTAINS_IP,
        ),
        Function(
            "containsCIDR",
            (
                Overload(
                    "cidr_contains_cidr_string",
                    (CIDR, STRING_TYPE),
                    BOOL,
                    lambda block, text: _contains_block(block, parse_cidr(text)),
                    member=True,
                    cost=_containment(whole_block=True, text=True),
                ),
                Overload("cidr_contains_cidr", (CIDR, CIDR), BOOL, _contains_block, member=True),
            ),
            cost=_CONTAINS_CIDR,
        ),
        Function(
            "ip",
            (Overload("cidr_ip", (CIDR,), IP, lambda value: CelIp(value.address), member=True, cost=NOMINAL),),
        ),
        Function(
            "isMask",
            (
                Overload(
                    "cidr_is_mask",
                    (CIDR,),
                    BOOL,
                    lambda value: value.masked() == value,
                    member=True,
                    cost=NOMINAL,
                    window=Window(since=38, span=Span(CEL_GO_033)),
                ),
            ),
        ),
        _member("masked", "cidr_masked", (CIDR,), CIDR, CelCidr.masked),
        _member("prefixLength", "cidr_prefix_length", (CIDR,), INT, lambda value: value.bits),
        _text_of("cidr_to_string", CIDR),
    ),
    types=(CIDR,),
    window=Window(since=30),
)
