"""Names and the words in which they are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.api import names as n
from dra_alloc.api.go_text import quote

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
CASELESS = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'Example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. "
    "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
    "must start and end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SEVERAL = f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
UUID = "c6ed0c2f-8b1d-4b0c-a7fb-6d2f0a7d3f11"
NORMAL = (
    "uid must be in RFC 4122 normalized form, "
    "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
)

declared_label = partial(n.label_faults, declarative=True)
declared_driver = partial(n.driver_faults, declarative=True)
declared_pool = partial(n.pool_faults, declarative=True)
declared_full = partial(n.fully_qualified_name_faults, declarative=True)
declared_resource = partial(n.extended_resource_faults, declarative=True)
declared_uuid = partial(n.uuid_faults, declarative=True)
one_slash = partial(n.qualified_name_faults, one_slash=True)

Faults = Callable[[str], tuple[n.NameFault, ...]]

GOOD: list[tuple[Faults, str]] = [
    *[(n.label_faults, text) for text in ("a", "0", "a-b", "a" * 63)],
    *[(n.subdomain_faults, text) for text in ("a", "a.b", "a" * 253)],
    *[(n.driver_faults, text) for text in ("gpu.example.com", "GPU.Example.com", "\u212a.com")],
    *[(declared_driver, text) for text in ("GPU.Example.com", "\u212a\u017f.com")],
    *[(faults, text) for faults in (n.pool_faults, declared_pool) for text in ("node-a", "a/b.c/d")],
    *[(n.identifier_faults, text) for text in ("_", "Memory2", "a" * 32)],
    *[(n.qualified_name_faults, text) for text in ("memory", "Gpu.example.com/memory", "a/b/c", "//")],
    *[(declared_full, text) for text in ("gpu.example.com/memory", "a/b/c")],
    *[(n.label_key_faults, text) for text in ("a", "A_b.c", "example.com/A")],
    *[(n.label_value_faults, text) for text in ("", "a", "A_b.c", "a" * 63)],
    *[(declared_resource, text) for text in ("example.com/gpu",)],
    *[(faults, UUID) for faults in (n.uuid_faults, declared_uuid)],
]

BAD: list[tuple[Faults, str, list[tuple[str, str, str]]]] = [
    (n.label_faults, "", [("Invalid", LABEL, "")]),
    (n.label_faults, "a.b", [("Invalid", "must not contain dots", "a.b")]),
    (n.label_faults, "a\n", [("Invalid", LABEL, "a\n")]),
    (n.label_faults, "a" * 64, [("Invalid", "must be no more than 63 characters", "a" * 64)]),
    (declared_label, "a" * 64, [("Invalid", "must be no more than 63 bytes", "a" * 64)]),
    (
        n.label_faults,
        "é" * 32,
        [("Invalid", "must be no more than 63 characters", "é" * 32), ("Invalid", LABEL, "é" * 32)],
    ),
    (n.subdomain_faults, "A", [("Invalid", SUBDOMAIN, "A")]),
    (n.subdomain_faults, "a..b", [("Invalid", SUBDOMAIN, "a..b")]),
    (n.subdomain_faults, "a" * 254, [("Invalid", "must be no more than 253 characters", "a" * 254)]),
    (n.driver_faults, "", [("Required", "", "")]),
    (n.driver_faults, "a" * 64, [("TooLong", "may not be more than 63 bytes", "a" * 64)]),
    (declared_driver, "a" * 64, [("TooLong", "may not be more than 63 characters", "a" * 64)]),
    (n.driver_faults, "a_b", [("Invalid", SUBDOMAIN, "a_b")]),
    (n.driver_faults, "\u017f", [("Invalid", SUBDOMAIN, "\u017f")]),
    (declared_driver, "a_b", [("Invalid", CASELESS, "a_b")]),
    (declared_driver, "\u0130\u0131", [("Invalid", CASELESS, "\u0130\u0131")]),
    (n.pool_faults, "", [("Required", "", "")]),
    (n.pool_faults, "a//B", [("Invalid", SUBDOMAIN, ""), ("Invalid", SUBDOMAIN, "B")]),
    (
        declared_pool,
        "a//B",
        [("Invalid", "segment 1: must not be empty", "a//B"), ("Invalid", f"segment 2: {SUBDOMAIN}", "B")],
    ),
    (n.identifier_faults, "a-b", [("Invalid", IDENTIFIER, "a-b")]),
    (n.identifier_faults, "a" * 33, [("TooLong", "may not be more than 32 bytes", "a" * 33)]),
    (n.qualified_name_faults, "", [("Invalid", IDENTIFIER, "")]),
    (
        n.qualified_name_faults,
        "/",
        [("Invalid", "the domain must not be empty", ""), ("Invalid", "the name must not be empty", "")],
    ),
    (n.qualified_name_faults, "a_b/c", [("Invalid", SUBDOMAIN, "a_b")]),
    (one_slash, "a/b/c", [("Invalid", "must not contain more than one slash", "a/b/c")]),
    (
        n.fully_qualified_name_faults,
        "numa",
        [("Invalid", "a fully qualified name must be a domain and a name separated by a slash", "numa")],
    ),
    (declared_full, "/", [("Invalid", "prefix must not be empty", ""), ("Invalid", "name must not be empty", "")]),
    (declared_full, "A/b", [("Invalid", f"prefix: {SUBDOMAIN}", "A")]),
    (n.label_key_faults, "", [("Invalid", "name part must be non-empty", ""), ("Invalid", f"name part {KEY}", "")]),
    (n.label_key_faults, "/a", [("Invalid", "prefix part must be non-empty", "/a")]),
    (n.label_key_faults, "A/a", [("Invalid", f"prefix part {SUBDOMAIN}", "A/a")]),
    (n.label_key_faults, "a/b/c", [("Invalid", SEVERAL, "a/b/c")]),
    (n.label_key_faults, "a" * 64, [("Invalid", "name part must be no more than 63 bytes", "a" * 64)]),
    (n.label_value_faults, "-", [("Invalid", VALUE, "-")]),
    (n.label_value_faults, "a" * 64, [("Invalid", "must be no more than 63 bytes", "a" * 64)]),
    (n.extended_resource_faults, "gpu", [("Invalid", "must be a valid extended resource name", "gpu")]),
    (
        declared_resource,
        "gpu",
        [("Invalid", "a name must be a domain-prefixed path, such as 'example.com/my-prop'", "gpu")],
    ),
    (
        declared_resource,
        "requests.kubernetes.io/gpu",
        [
            ("Invalid", 'must not have "kubernetes.io/" domain', "requests.kubernetes.io/gpu"),
            ("Invalid", 'must not have "requests." prefix', "requests.kubernetes.io/gpu"),
        ],
    ),
    (n.uuid_faults, "abc", [("Invalid", "error validating uid: invalid UUID length: 3", "abc")]),
    (n.uuid_faults, UUID[:-1] + "g", [("Invalid", "error validating uid: invalid UUID format", UUID[:-1] + "g")]),
    (n.uuid_faults, f"({UUID})", [("Invalid", "error validating uid: invalid bracketed UUID format", f"({UUID})")]),
    (
        n.uuid_faults,
        f"urn:uuxx:{UUID}",
        [("Invalid", 'error validating uid: invalid urn prefix: "urn:uuxx:"', f"urn:uuxx:{UUID}")],
    ),
    *[
        (n.uuid_faults, text, [("Invalid", NORMAL, text)])
        for text in (UUID.upper(), UUID.replace("-", ""), f"{{{UUID}}}", f"URN:uuid:{UUID}")
    ],
    (declared_uuid, UUID.upper(), [("Invalid", "must be a lowercase UUID in 8-4-4-4-12 format", UUID.upper())]),
]


@pytest.mark.parametrize(("faults", "text"), GOOD)
def test_good_names_have_no_faults(faults: Faults, text: str) -> None:
    assert faults(text) == ()


@pytest.mark.parametrize(("faults", "text", "expected"), BAD)
def test_bad_names_are_refused_in_upstreams_words(faults: Faults, text: str, expected: list[Any]) -> None:
    assert list(faults(text)) == expected


@given(st.text(max_size=70))
def test_any_text_is_judged(text: str) -> None:
    for faults, _ in GOOD:
        for fault in faults(text):
            assert str(fault).startswith(("Invalid value: ", "Required value", "Too long: "))


@given(st.text("ab-.A/_", max_size=8))
def test_formats_contain_each_other(text: str) -> None:
    assert n.subdomain_faults(text) == () or n.label_faults(text) != ()
    assert n.driver_faults(text) == () or n.subdomain_faults(text) != ()
    assert n.qualified_name_faults(text) == () or n.fully_qualified_name_faults(text) != ()


def test_faults_print_as_the_api_server_does() -> None:
    (fault,) = n.label_faults("a.b")
    assert str(fault) == 'Invalid value: "a.b": must not contain dots'
    assert str(n.driver_faults("")[0]) == "Required value"
    assert str(n.driver_faults("a" * 64)[0]) == "Too long: may not be more than 63 bytes"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain é", '"plain é"'),
        ('a"b\\', r'"a\"b\\"'),
        ("\a\b\f\n\r\t\v\x00\x7f", r'"\a\b\f\n\r\t\v\x00\x7f"'),
        ("\u2028\U000e0001", r'"\u2028\U000e0001"'),
    ],
)
def test_texts_are_quoted_as_go_quotes(text: str, quoted: str) -> None:
    assert quote(text) == quoted
