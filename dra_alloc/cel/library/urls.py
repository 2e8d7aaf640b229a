"""
``url`` and its parts.

Spec: CEL-59
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from dra_alloc.cel.check.declarations import BEFORE_033, SINCE_033, Cost, Function, Library, Overload
from dra_alloc.cel.check.types import BOOL, STRING, CelType, list_of, map_of, struct
from dra_alloc.cel.count.costs import NOMINAL, ONE, Range, traverse
from dra_alloc.cel.count.costs import STRING as STRING_FACTOR
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.percent import BadUrl
from dra_alloc.cel.library.url_parse import Url, parse_request_uri, parse_url, query_values
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, CelMap

if TYPE_CHECKING:
    from dra_alloc.cel.count.estimate import Estimator
    from dra_alloc.cel.count.operands import CallEstimate, Operand

URL: Final = struct("kubernetes.URL")


class CelUrl:
    """A URL as a CEL value."""

    __slots__ = ("url",)
    cel_type = URL
    go_type = "cel.URL"
    go_native = "*url.URL"

    def __init__(self, url: Url) -> None:
        self.url = url

    def __str__(self) -> str:
        return self.url.text()

    def cel_equal(self, other: Any) -> bool:
        """Equality as texts; raises CelError if `other` is no URL."""
        if not isinstance(other, CelUrl):
            raise CelError(NO_SUCH_OVERLOAD)
        return str(self) == str(other)


def _url(text: str) -> CelUrl:
    try:
        # The first reading is the stricter one, the second knows fragments.
        parse_request_uri(text)
        return CelUrl(parse_url(text))
    except BadUrl as problem:
        raise CelError(f"URL parse error during conversion from string: {problem}") from None


def _is_url(text: str) -> bool:
    try:
        parse_request_uri(text)
    except BadUrl:
        return False
    return True


def _query(value: CelUrl) -> CelMap:
    return CelMap.of(query_values(value.url.raw_query).items())


def _shown(text: str) -> str:
    """`text` with a replacement character for every byte that is no UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace") if not text.isascii() else text


def _sized(most: int) -> Cost:
    """A step into a URL, whose part is as long as the whole, or some times that."""

    def estimate(estimator: Estimator, target: Operand | None, args: Sequence[Operand]) -> CallEstimate | None:
        return None if target is None else estimator.call(ONE, estimator.size(target).times(Range(1, most)))

    return Cost(NOMINAL.actual, estimate)


def _part(name: str, identifier: str, run: Any, result: CelType = STRING, *, most: int = 1) -> Function:
    costs = ((NOMINAL, BEFORE_033), (_sized(most), SINCE_033))
    return Function(
        name,
        tuple(Overload(identifier, (URL,), result, run, member=True, cost=cost, window=when) for cost, when in costs),
    )


URL_LIBRARY: Final = Library(
    "kubernetes.urls",
    functions=(
        Function("url", (Overload("string_to_url", (STRING,), URL, _url),), cost=traverse(STRING_FACTOR, sized=True)),
        _part("getScheme", "url_get_scheme", lambda value: value.url.scheme),
        _part("getHost", "url_get_host", lambda value: _shown(value.url.host)),
        _part("getHostname", "url_get_hostname", lambda value: _shown(value.url.hostname)),
        _part("getPort", "url_get_port", lambda value: value.url.port),
        _part("getEscapedPath", "url_get_escaped_path", lambda value: value.url.escaped_path, most=3),
        _part("getQuery", "url_get_query", _query, map_of(STRING, list_of(STRING))),
        Function("isURL", (Overload("is_url_string", (STRING,), BOOL, _is_url),), cost=NOMINAL),
    ),
)
