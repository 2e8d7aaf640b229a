"""
URLs the way Go reads them.

Spec: CEL-59
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dra_alloc.api.go_text import quote
from dra_alloc.cel.library.addresses import NoAddress, read_address, told
from dra_alloc.cel.library.percent import (
    FRAGMENT,
    HOST,
    PATH,
    QUERY,
    USER,
    ZONE,
    BadUrl,
    encoded_already,
    escape,
    unescape,
)

_NO_LITERAL: Final = "invalid IP-literal"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_USERINFO: Final = re.compile(r"[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*")
_PORT: Final = re.compile(r"(?::[0-9]*)?")


class Url(NamedTuple):
    """The parts of a URL, unescaped, and the path as it was written."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    password: str | None = None
    host: str = ""
    path: bytes = b""
    raw_path: str = ""
    has_authority: bool = False
    force_query: bool = False
    raw_query: str = ""
    fragment: bytes = b""

    @property
    def escaped_path(self) -> str:
        """The path as written if that is a proper way to write it, else escaped anew."""
        if encoded_already(self.raw_path):
            return self.raw_path
        return "*" if self.path == b"*" else escape(self.path, PATH)

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host = self._without_port()
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def port(self) -> str:
        """The port, empty if there is none."""
        return self.host[len(self._without_port()) + 1 :]

    def _without_port(self) -> str:
        head, colon, port = self.host.rpartition(":")
        if not colon or (self.host.startswith("[") and "]" in port):
            return self.host
        return head if _PORT.fullmatch(f":{port}") else self.host

    def text(self) -> str:
        """The URL put together again; by this URLs are compared."""
        out = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            out += self.opaque
        else:
            out += self._authority()
            path = self.escaped_path
            if path and not path.startswith("/") and self.host:
                path = f"/{path}"
            out += path
        if self.force_query or self.raw_query:
            out += f"?{self.raw_query}"
        return f"{out}#{escape(self.fragment, FRAGMENT)}" if self.fragment else out

    def _authority(self) -> str:
        if not (self.host or self.user is not None or (self.path and self.has_authority)):
            return ""
        user = ""
        if self.user is not None:
            user = escape(_raw(self.user), USER)
            if self.password is not None:
                user += f":{escape(_raw(self.password), USER)}"
            user += "@"
        return f"//{user}{escape(_raw(self.host), HOST)}"


def _text(raw: bytes) -> str:
    """Bytes as text; what is no UTF-8 is kept as half characters."""
    return raw.decode(errors="surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def parse_request_uri(text: str) -> Url:
    """An absolute URL or path without fragment; raises BadUrl with Go's text."""
    return _named(text, text, request=True)


def parse_url(text: str) -> Url:
    """Any URL; raises BadUrl with Go's text."""
    head, _, fragment = text.partition("#")
    url = _named(head, head, request=False)
    try:
        return url._replace(fragment=unescape(fragment, FRAGMENT))
    except BadUrl as problem:
        raise BadUrl(f"parse {quote(text)}: {problem}") from None


def _named(text: str, shown: str, request: bool) -> Url:
    try:
        return _parse(text, request)
    except BadUrl as problem:
        raise BadUrl(f"parse {quote(shown)}: {problem}") from None


def _parse(text: str, request: bool) -> Url:
    if _CONTROL.search(text):
        raise BadUrl("net/url: invalid control character in URL")
    if not text and request:
        raise BadUrl("empty url")
    if text == "*":
        return Url(path=b"*", raw_path="*")
    if text.startswith(":"):
        raise BadUrl("missing protocol scheme")
    scheme = _SCHEME.match(text)
    url = Url(scheme=scheme[1].lower() if scheme else "")
    rest = text[scheme.end() :] if scheme else text
    rest, mark, query = rest.partition("?")
    url = url._replace(raw_query=query, force_query=bool(mark) and not query)
    if not rest.startswith("/"):
        if url.scheme:
            return url._replace(opaque=rest)
        if request:
            raise BadUrl("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise BadUrl("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (url.scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        url = _with_authority(url, authority)
        rest = slash + path
    return url._replace(path=unescape(rest, PATH), raw_path=rest)


def _with_authority(url: Url, authority: str) -> Url:
    head, at, tail = authority.rpartition("@")
    url = url._replace(host=_host(tail, url.scheme), has_authority=True)
    if not at:
        return url
    if not _USERINFO.fullmatch(head):
        raise BadUrl("net/url: invalid userinfo")
    name, colon, password = head.partition(":")
    user = _text(unescape(name, USER))
    if not colon:
        return url._replace(user=user)
    return url._replace(user=user, password=_text(unescape(password, USER)))


def _host(text: str, scheme: str) -> str:
    bracket = text.rfind("[")
    if bracket > 0:
        raise BadUrl(_NO_LITERAL)
    if bracket == 0:
        return _bracketed(text)
    # Databases and the like name several hosts in one URL; the web does not.
    _, colon, port = text.partition(":") if scheme in ("http", "https") else text.rpartition(":")
    _check_port(colon + port if colon else "")
    return _text(unescape(text, HOST))


def _bracketed(text: str) -> str:
    end = text.rfind("]")
    if end < 0:
        raise BadUrl("missing ']' in host")
    _check_port(text[end + 1 :])
    address, percent, zone = text[1:end].partition("%25")
    literal = unescape(address, HOST) + unescape(percent + zone, ZONE)
    _check_literal(_text(literal))
    return f"[{_text(literal)}]{text[end + 1 :]}"


def _check_literal(text: str) -> None:
    try:
        address, _ = read_address(text)
    except NoAddress as problem:
        raise BadUrl(f"invalid host: {told(text, problem)}") from None
    if address.version == 4:
        raise BadUrl(_NO_LITERAL)


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise BadUrl(f"invalid port {quote(text)} after host")


def query_values(raw: str) -> dict[str, tuple[str, ...]]:
    """The values of each name; what cannot be read is left out."""
    found: dict[str, tuple[str, ...]] = {}
    for part in raw.split("&"):
        if not part or ";" in part:
            continue
        name, _, value = part.partition("=")
        try:
            key = unescape(name, QUERY).decode(errors="replace")
            found[key] = (*found.get(key, ()), unescape(value, QUERY).decode(errors="replace"))
        except BadUrl:
            continue
    return found
