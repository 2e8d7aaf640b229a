"""
Plain YAML words, judged by what sigs.k8s.io/yaml v1.6.0 makes of them.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.manifest.read.json_numbers import JsonFloat, go_number
from dra_alloc.manifest.read.yaml_scalars import ScalarError, map_key, resolve, resolve_tagged

STRINGS = [
    *("tRue", "t", "f", "nULL", "_1", "12:30:45", "1:30", "190:20:30.15", "2024-01-01", "2024-01-01T00:00:00Z"),
    *("0000:53:00.0", "0000:64:00.0", "1.2.3", "9.0.0", "1e", "1e400", "0x1ffffffffffffffff", "=", "0x", "0b", "0o"),
    *("0o8", "0b2", "1,000", "80Gi", "1.5Gi", "-.", ".e3", "e3", "1d", "0x1p3", "1e+", ".", "+", "--", "++1"),
    *("Infinity", "-Inf", "inf", "nan", "5.e", ".1.2", "0x1.8", "._5", ".5_"),
]


@pytest.mark.parametrize("text", STRINGS)
def test_words_that_stay_strings(text):
    assert resolve(text) == text


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"])
def test_words_that_are_true(text):
    assert resolve(text) is True


@pytest.mark.parametrize("text", ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"])
def test_words_that_are_false(text):
    assert resolve(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_words_that_are_nothing(text):
    assert resolve(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *((text, int(text)) for text in ("0", "1", "-1", "+1", "9223372036854775807", "18446744073709551615")),
        ("010", 8),
        ("-010", -8),
        ("08", 8),
        ("0o17", 15),
        ("0O17", 15),
        ("017", 15),
        ("0x10", 16),
        ("-0X10", -16),
        ("0b11", 3),
        ("1_000", 1000),
        ("1__0", 10),
        ("0x_10", 16),
        ("0_10", 8),
        ("1.0", 1),
        ("5.", 5),
        ("1e3", 1000),
        ("1.e3", 1000),
        ("1e1_0", 10_000_000_000),
        ("1e20", 10**20),
        ("18446744073709551616", 18446744073709552000),
        ("-9223372036854775809", -9223372036854776000),
        ("0777777777777777777777", 2**63 - 1),
        ("1_0.50_0e1", 105),
    ],
)
def test_whole_numbers(text, number):
    assert resolve(text) == number
    assert type(resolve(text)) is int


@pytest.mark.parametrize(
    ("text", "json"),
    [
        (".5", "0.5"),
        ("+.5", "0.5"),
        (".9_3", "0.93"),
        ("1.50", "1.5"),
        ("1e-3", "0.001"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("3.0e-5", "0.00003"),
        ("1e21", "1e+21"),
        ("1.5e300", "1.5e+300"),
        ("123456789.123456789", "123456789.12345679"),
        ("-1.5e-10", "-1.5e-10"),
    ],
)
def test_fractions_keep_the_text_of_their_json(text, json):
    assert resolve(text) == JsonFloat(json)


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".nan", ".NaN", ".NAN"])
def test_what_json_cannot_hold_is_an_error(text):
    with pytest.raises(ScalarError, match="JSON"):
        resolve(text)


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("5", "tag:yaml.org,2002:str", "5"),
        ("yes", "tag:yaml.org,2002:bool", True),
        ("5", "tag:yaml.org,2002:float", 5),
        ("1.5", "tag:yaml.org,2002:float", JsonFloat("1.5")),
        ("", "tag:yaml.org,2002:null", None),
        ("aGVsbG8=", "tag:yaml.org,2002:binary", "hello"),
        ("2024-01-01", "tag:yaml.org,2002:timestamp", "2024-01-01"),
        ("5", "!foo", "5"),
    ],
)
def test_tags(text: str, tag: str, value: object) -> None:
    assert resolve_tagged(text, tag) == value


@pytest.mark.parametrize(
    ("text", "kind"), [("foo", "int"), ("1.5", "int"), ("abc", "float"), ("%%", "binary"), ("x", "bool")]
)
def test_tags_that_do_not_fit(text, kind):
    with pytest.raises(ScalarError):
        resolve_tagged(text, f"tag:yaml.org,2002:{kind}")


def test_keys_become_strings():
    assert [map_key(value) for value in ("a", True, False, 16, JsonFloat("1.5"))] == ["a", "true", "false", "16", "1.5"]
    nothing: list[object] = [None, [], {}]
    for value in nothing:
        with pytest.raises(ScalarError):
            map_key(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_go_numbers_are_the_same_numbers(value):
    assert float(go_number(value)) == value


@given(st.text(alphabet="0123456789+-._eExXoObB:aAnNiIfF~yY", max_size=12))
def test_every_word_has_a_value_or_a_clear_error(text):
    try:
        value = resolve(text)
    except ScalarError:
        return
    assert value is None or isinstance(value, str | int | JsonFloat)
