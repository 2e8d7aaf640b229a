"""
The API server's rules for names.

Every ``*_faults`` function returns nothing for a good name. Two sets of words
exist: the hand-written ones and, with ``declarative=True``, those of the
generated checks that 1.37 enforces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from dra_alloc.api.go_text import quote
from dra_alloc.remembered import of_short_texts


class NameFault(NamedTuple):
    """
    One thing wrong with a name.

    `kind` is Required, Invalid or TooLong; `value` is the part complained about, of which
    the API server prints nothing for Required and TooLong.
    """

    kind: str
    detail: str
    value: str

    def __str__(self) -> str:
        if self.kind == "Invalid":
            return f"Invalid value: {quote(self.value)}: {self.detail}"
        text = "Required value" if self.kind == "Required" else "Too long"
        return f"{text}: {self.detail}" if self.detail else text


Faults = tuple[NameFault, ...]

LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"{LABEL}(\.{LABEL})*"
_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
VALUE: Final = f"({KEY})?"
_HEX: Final = "[0-9A-Fa-f]"
_UUID: Final = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"

_DOMAIN_RULE: Final = "must start and end with an alphanumeric character"
_KEY_RULE: Final = f"must consist of alphanumeric characters, '-', '_' or '.', and {_DOMAIN_RULE}"


def expression_text(rule: str, expression: str, *examples: str) -> str:
    """Return what the API server says of a text that does not match an expression."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{expression}')"


LABEL_TEXT: Final = expression_text(
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_DOMAIN_RULE}",
    LABEL,
    "my-name",
    "123-abc",
)
SUBDOMAIN_TEXT: Final = expression_text(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_DOMAIN_RULE}",
    SUBDOMAIN,
    "example.com",
)
_CASELESS_TEXT: Final = expression_text(
    f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and {_DOMAIN_RULE}",
    SUBDOMAIN,
    "Example.com",
)
_IDENTIFIER_TEXT: Final = expression_text(
    "a valid C identifier must start with alphabetic character or '_', "
    "followed by a string of alphanumeric characters or '_'",
    _IDENTIFIER,
    "my_name",
    "MY_NAME",
    "MyName",
)
KEY_TEXT: Final = expression_text(_KEY_RULE, KEY, "MyName", "my.name", "123-abc")
VALUE_TEXT: Final = expression_text(
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_DOMAIN_RULE}",
    VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_SEVERAL_SLASHES: Final = (
    f"a valid label key {KEY_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)

MAX_LABEL: Final = 63
MAX_SUBDOMAIN: Final = 253
MAX_DRIVER: Final = 63
MAX_POOL: Final = 253
MAX_IDENTIFIER: Final = 32


def _too_long(text: str, limit: int) -> bool:
    return len(text) > limit or len(text.encode(errors="surrogatepass")) > limit


def _length_text(limit: int, *, declarative: bool) -> str:
    return f"must be no more than {limit} {'bytes' if declarative else 'characters'}"


@of_short_texts(4096)
def label_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with a DNS label: request, device, counter and namespace names. Spec: NAME-1."""
    details = []
    if _too_long(text, MAX_LABEL):
        details.append(_length_text(MAX_LABEL, declarative=declarative))
    if not re.fullmatch(LABEL, text):
        details.append("must not contain dots" if re.fullmatch(SUBDOMAIN, text) else LABEL_TEXT)
    return _invalid(text, details)


def subdomain_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with a DNS subdomain: object, class and node names. Spec: NAME-2."""
    return _invalid(text, _subdomain_details(text, declarative=declarative))


def _subdomain_details(text: str, *, declarative: bool) -> list[str]:
    details = []
    if _too_long(text, MAX_SUBDOMAIN):
        details.append(_length_text(MAX_SUBDOMAIN, declarative=declarative))
    if not re.fullmatch(SUBDOMAIN, text):
        details.append(SUBDOMAIN_TEXT)
    return details


def driver_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with a driver name: a subdomain in any case, at most 63 bytes. Spec: NAME-3."""
    if not text:
        return (NameFault("Required", "", text),)
    # Go lowers each character alone; Python makes two characters of this one.
    lowered = text.replace("\u0130", "i").lower()
    if declarative:
        folded = text.replace("\u017f", "s").replace("\u212a", "k")  # (?i) in Go folds these two
        details = [] if re.fullmatch(SUBDOMAIN, folded, re.IGNORECASE | re.ASCII) else [_CASELESS_TEXT]
        if _too_long(text, MAX_SUBDOMAIN):
            details.insert(0, _length_text(MAX_SUBDOMAIN, declarative=True))
    else:
        details = _subdomain_details(lowered, declarative=False)
    unit = "characters" if declarative and len(text) > MAX_DRIVER else "bytes"
    return _over(text, MAX_DRIVER, unit=unit) + _invalid(text, details)


def pool_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with a pool name: subdomains joined by ``/``, at most 253 bytes. Spec: NAME-4."""
    if not text:
        return (NameFault("Required", "", text),)
    faults = list(_over(text, MAX_POOL))
    for index, part in enumerate(text.split("/")):
        if not declarative:
            faults += subdomain_faults(part)
        elif not part:
            faults += _invalid(text, [f"segment {index}: must not be empty"])
        else:
            details = _subdomain_details(part, declarative=True)
            faults += _invalid(part, [f"segment {index}: {detail}" for detail in details])
    return tuple(faults)


def identifier_faults(text: str) -> Faults:
    """Return what is wrong with a C identifier of at most 32 bytes. Spec: NAME-5."""
    details = [] if re.fullmatch(_IDENTIFIER, text) else [_IDENTIFIER_TEXT]
    return _over(text, MAX_IDENTIFIER) + _invalid(text, details)


@of_short_texts(4096)
def qualified_name_faults(text: str, *, declarative: bool = False, one_slash: bool = False) -> Faults:
    """
    Return what is wrong with an attribute or capacity name: an identifier, alone or after ``domain/``.

    Up to 1.37 anything with several slashes passes; `one_slash` refuses it. Spec: NAME-6.
    """
    parts = text.split("/")
    if len(parts) == 1:
        return identifier_faults(text)
    if len(parts) > 2:
        return _invalid(text, ["must not contain more than one slash"] if one_slash else [])
    domain, name = parts
    if not domain:
        faults = _invalid("", ["prefix must not be empty" if declarative else "the domain must not be empty"])
    elif declarative:
        details = [f"prefix: {detail}" for detail in _subdomain_details(domain, declarative=True)]
        faults = _over(domain, MAX_DRIVER) + _invalid(domain, details)
    else:
        faults = driver_faults(domain)
    if not name:
        return faults + _invalid("", ["name must not be empty" if declarative else "the name must not be empty"])
    return faults + identifier_faults(name)


def fully_qualified_name_faults(text: str, *, declarative: bool = False, one_slash: bool = False) -> Faults:
    """Return what is wrong with a qualified name that must have its domain. Spec: NAME-7."""
    bare = [] if "/" in text else ["a fully qualified name must be a domain and a name separated by a slash"]
    return qualified_name_faults(text, declarative=declarative, one_slash=one_slash) + _invalid(text, bare)


def label_key_faults(text: str) -> Faults:
    """Return what is wrong with a label key, taint key or condition type. Spec: NAME-8."""
    return _invalid(text, _label_key_details(text))


def _label_key_details(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [_SEVERAL_SLASHES]
    details = []
    if slash and not prefix:
        details.append("prefix part must be non-empty")
    elif slash:
        details += [f"prefix part {detail}" for detail in _subdomain_details(prefix, declarative=True)]
    if not name:
        details.append("name part must be non-empty")
    elif _too_long(name, MAX_LABEL):
        details.append(f"name part {_length_text(MAX_LABEL, declarative=True)}")
    if not re.fullmatch(KEY, name):
        details.append(f"name part {KEY_TEXT}")
    return details


def label_value_faults(text: str) -> Faults:
    """Return what is wrong with a label value. Spec: NAME-9."""
    details = [_length_text(MAX_LABEL, declarative=True)] if _too_long(text, MAX_LABEL) else []
    if not re.fullmatch(VALUE, text):
        details.append(VALUE_TEXT)
    return _invalid(text, details)


def extended_resource_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with an extended resource name. Spec: NAME-10."""
    details = []
    if "/" not in text:
        details.append("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
    elif "kubernetes.io/" in text:
        details.append('must not have "kubernetes.io/" domain')
    if text.startswith("requests."):
        details.append('must not have "requests." prefix')
    details += _label_key_details(f"requests.{text}")
    if details and not declarative:
        details = ["must be a valid extended resource name"]
    return _invalid(text, details)


_UUID_DIGITS: Final[dict[int, Callable[[str], bool]]] = {
    32: lambda text: re.fullmatch(f"{_HEX}{{32}}", text) is not None,
    36: lambda text: re.fullmatch(_UUID, text) is not None,
    38: lambda text: re.fullmatch(_UUID, text[1:-1]) is not None,
    45: lambda text: re.fullmatch(_UUID, text[9:]) is not None,
}


def uuid_faults(text: str, *, declarative: bool = False) -> Faults:
    """Return what is wrong with a share ID: a UUID in lower case. Spec: NAME-11."""
    normal = re.fullmatch(_UUID, text) is not None and text == text.lower()
    if normal:
        return ()
    if declarative:
        return _invalid(text, ["must be a lowercase UUID in 8-4-4-4-12 format"])
    problem = _uuid_problem(text)
    if problem:
        return _invalid(text, [f"error validating uid: {problem}"])
    form = "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
    return _invalid(text, [f"uid must be in RFC 4122 normalized form, {form}"])


def _uuid_problem(text: str) -> str:
    """Return why a text is no UUID in any of the four spellings the server's parser knows."""
    size = len(text.encode(errors="surrogatepass"))
    if size not in _UUID_DIGITS:
        return f"invalid UUID length: {size}"
    if size == 45 and text[:9].lower() != "urn:uuid:":
        prefix = text.encode(errors="surrogatepass")[:9].decode(errors="surrogateescape")
        return f"invalid urn prefix: {quote(prefix)}"
    if size == 38 and (text[0], text[-1]) != ("{", "}"):
        return "invalid bracketed UUID format"
    return "" if _UUID_DIGITS[size](text) else "invalid UUID format"


def _invalid(value: str, details: list[str]) -> Faults:
    return tuple(NameFault("Invalid", detail, value) for detail in details)


def _over(text: str, limit: int, unit: str = "bytes") -> Faults:
    """Return the TooLong fault; the limit counts bytes, whatever the text calls them."""
    return (NameFault("TooLong", f"may not be more than {limit} {unit}", text),) if _too_long(text, limit) else ()
