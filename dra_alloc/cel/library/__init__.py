"""
The libraries, one file each, in upstream's order of registration.

The order matters where overloads of one function name come from several
libraries: they are matched, and dispatched at run time, in this order.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Final

from dra_alloc.cel.check.declarations import Library

LIBRARIES: Final[tuple[Library, ...]] = tuple(
    resolve_name(f"{__name__}.{place}")
    for place in (
        "operators:OPERATORS_LIBRARY",
        "operators:COMPARISONS_BEFORE_033",
        "operators:COMPARISONS_LIBRARY",
        "conversions:CONVERSIONS_LIBRARY",
        "text:TEXT_LIBRARY",
        "times:TIMES_LIBRARY",
        "urls:URL_LIBRARY",
        "regexes:REGEX_LIBRARY",
        "aggregates:AGGREGATES_LIBRARY",
        "authz:AUTHZ_LIBRARY",
        "optionals:OPTIONALS_LIBRARY",
        "quantity:QUANTITY_LIBRARY",
        "sets:SETS_LIBRARY",
        "strings:STRINGS_LIBRARY",
        "network:IP_LIBRARY",
        "network:CIDR_LIBRARY",
        "formats:FORMAT_LIBRARY",
        "authz:AUTHZ_SELECTORS_LIBRARY",
        "comprehensions:COMPREHENSIONS_LIBRARY",
        "semver:SEMVER_LIBRARY",
        "lists:LISTS_LIBRARY",
        "bindings:BINDINGS_LIBRARY",
        "dra:DRA_LIBRARY",
    )
)
