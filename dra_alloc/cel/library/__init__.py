"""
The libraries, one file each, in upstream's order of registration.

The order matters where overloads of one function name come from several
libraries: they are matched, and dispatched at run time, in this order.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cel.check.declarations import Library
from dra_alloc.cel.library.aggregates import AGGREGATES_LIBRARY
from dra_alloc.cel.library.authz import AUTHZ_LIBRARY, AUTHZ_SELECTORS_LIBRARY
from dra_alloc.cel.library.bindings import BINDINGS_LIBRARY
from dra_alloc.cel.library.comprehensions import COMPREHENSIONS_LIBRARY
from dra_alloc.cel.library.conversions import CONVERSIONS_LIBRARY
from dra_alloc.cel.library.dra import DRA_LIBRARY
from dra_alloc.cel.library.formats import FORMAT_LIBRARY
from dra_alloc.cel.library.lists import LISTS_LIBRARY
from dra_alloc.cel.library.network import CIDR_LIBRARY, IP_LIBRARY
from dra_alloc.cel.library.operators import OPERATORS_LIBRARY
from dra_alloc.cel.library.optionals import OPTIONALS_LIBRARY
from dra_alloc.cel.library.quantity import QUANTITY_LIBRARY
from dra_alloc.cel.library.regexes import REGEX_LIBRARY
from dra_alloc.cel.library.semver import SEMVER_LIBRARY
from dra_alloc.cel.library.sets import SETS_LIBRARY
from dra_alloc.cel.library.strings import STRINGS_LIBRARY
from dra_alloc.cel.library.text import TEXT_LIBRARY
from dra_alloc.cel.library.times import TIMES_LIBRARY
from dra_alloc.cel.library.urls import URL_LIBRARY

__all__ = ["LIBRARIES"]

LIBRARIES: Final[tuple[Library, ...]] = (
    OPERATORS_LIBRARY,
    CONVERSIONS_LIBRARY,
    TEXT_LIBRARY,
    TIMES_LIBRARY,
    URL_LIBRARY,
    REGEX_LIBRARY,
    AGGREGATES_LIBRARY,
    AUTHZ_LIBRARY,
    OPTIONALS_LIBRARY,
    QUANTITY_LIBRARY,
    SETS_LIBRARY,
    STRINGS_LIBRARY,
    IP_LIBRARY,
    CIDR_LIBRARY,
    FORMAT_LIBRARY,
    AUTHZ_SELECTORS_LIBRARY,
    COMPREHENSIONS_LIBRARY,
    SEMVER_LIBRARY,
    LISTS_LIBRARY,
    BINDINGS_LIBRARY,
    DRA_LIBRARY,
)
