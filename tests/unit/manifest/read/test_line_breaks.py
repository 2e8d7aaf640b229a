"""
Lines are those of editors, whatever else YAML 1.1 takes for a line break.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import ManifestError
from tests.reading import read

TEXT = """\
# a comment BREAK of one line
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {annotations: {x: "aBREAKbBREAKBREAKc", y: 'BREAK'}, name: a}
spec:
  devices: {}
  bogus: 1
  bogus: 2
"""


def lines(text: str) -> list[int | None]:
    with pytest.raises(ManifestError) as caught:
        read(text)
    return [each.where.line for each in caught.value.problems]


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_breaks_that_only_yaml_knows_are_not_counted(mark, end):
    # Those in a comment end it for libyaml, so that what follows has to be a comment, too.
    text = TEXT.replace("BREAK of", f"{mark}# of").replace("BREAK", mark).replace("\n", end)
    assert lines(text) == [7, 8]


def test_a_place_is_right_later_too():
    text = TEXT.replace("BREAK of", "\u2028# of").replace("BREAK", "\u2028").replace("  bogus: 1\n  bogus: 2\n", "")
    documents = read(f"{text}---\n{text}", repeated="replace")
    assert documents.where(documents.claims[0], "spec.devices").line == 6
    assert documents.where(documents.claims[0]).line == 2


def test_the_line_of_text_that_cannot_be_read_is_right_too():
    assert lines('a: "\u2028\u2028"\nb: [1\n') == [3]
