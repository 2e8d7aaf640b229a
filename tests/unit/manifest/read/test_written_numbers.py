"""
Messages quote numbers as they are written in the file, whatever they were read as.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import ManifestError
from tests.reading import read

YAML = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: c}}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {{deviceClassName: gpu, {member}}}
"""
JSON = """\
{{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {{"name": "c"}}, "spec": {{"devices":
{{"requests": [{{"name": "gpu", "exactly": {{"deviceClassName": "gpu", {member}}}}}]}}}}}}
"""
TOO_LARGE = ["9223372036854775808", "18446744073709551616", "99999999999999999999", "-9223372036854775809", "1" * 50]
OTHERWISE_WRITTEN = ["0x1F", "010", "0b11", "1_000", "+5", "1.50", "1e30", "1E5", "123456789012345678901234567890.5"]


def problem(text):
    with pytest.raises(ManifestError) as caught:
        read(text)
    (found,) = caught.value.problems
    return found


@pytest.mark.parametrize("number", TOO_LARGE)
def test_a_count_of_more_than_64_bits_is_quoted_as_written(number):
    said = f"the number {number} does not fit into 64 bits"
    assert problem(YAML.format(member=f"count: {number}")).message == said
    assert problem(JSON.format(member=f'"count": {number}')).message == said


@pytest.mark.parametrize("number", TOO_LARGE + OTHERWISE_WRITTEN)
def test_a_number_of_the_wrong_type_is_quoted_as_written(number):
    found = problem(YAML.format(member=f"allocationMode: {number}"))
    assert found.message == f"expected a string, got the number {number}"
    assert problem(YAML.format(member=f"selectors: {number}")).message == f"expected a list, got the number {number}"


@pytest.mark.parametrize("number", ["1.50", "1E5", "1e400", "99999999999999999999"])
def test_json_numbers_are_quoted_as_written(number):
    found = problem(JSON.format(member=f'"allocationMode": {number}'))
    assert found.message == f"expected a string, got the number {number}"


def test_members_of_lists_and_of_streams_are_quoted_as_written():
    text = "apiVersion: v1\nkind: List\nitems:\n- 0x1F\n"
    assert problem(text).message == "expected an object with apiVersion and kind, got the number 0x1F"
    assert problem("apiVersion: v1\nkind: List\nitems: 1_0\n").message == "expected a list, got the number 1_0"


def test_of_equal_keys_the_one_that_was_read_is_quoted_or_its_value():
    text = YAML.format(member="allocationMode: 0x1F, allocationMode: 0x20")
    with pytest.raises(ManifestError) as caught:
        read(text)
    assert "expected a string, got the number 32" in [each.message for each in caught.value.problems]


def test_an_alias_is_quoted_by_its_value():
    text = YAML.format(member="selectors: &a 0x1F, allocationMode: *a")
    with pytest.raises(ManifestError) as caught:
        read(text)
    assert [each.message for each in caught.value.problems] == [
        "expected a list, got the number 0x1F",
        "expected a string, got the number 31",
    ]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ('"5"', "without quotes"),
        ('"two"', ""),
        ("two", ""),
        ("1e400", "too large for a number"),
        ("9" * 4_001, "too large for a number"),
        (".inf.", ""),
    ],
)
def test_a_string_for_a_number_has_a_hint_that_is_true(word, hint):
    assert problem(YAML.format(member=f"count: {word}")).hint == hint


def test_a_number_of_thousands_of_digits_is_refused_with_its_line():
    found = problem(JSON.format(member=f'"count": {"1" * 5_000}'))
    assert found.message == "cannot be read as JSON: a number has thousands of digits"
    assert found.where.line == 2
