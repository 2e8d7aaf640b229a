"""
Halves of surrogate pairs in JSON are read as Go reads them.
"""

from __future__ import annotations

import io
import json

import pytest

from dra_alloc.manifest import load

BACKSLASH = "\\"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"\uDC00", "\ufffd"),
        (r"a\uD83Db", "a\ufffdb"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\u0041", "\ufffdA"),
        (r"\ud83d\n", "\ufffd\n"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", BACKSLASH + "\ufffd"),
        (r"\ud7ff\ue000", "\ud7ff\ue000"),
    ],
)
def test_half_a_pair_is_a_replacement_character(written, read):
    label = f'"x{written}": "{written}"'
    node = f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "a", "labels": {{{label}}}}}}}'
    for text in (node, f'{{"apiVersion": "v1", "kind": "List", "items": [{node}]}}'):
        (found,) = load(["-"], stdin=io.BytesIO(text.encode())).nodes
        assert found.metadata.labels == {f"x{read}": read}


def test_what_go_reads_json_reads_where_there_are_no_halves():
    text = r'"\u00e9\ud83d\ude00\\u"'
    (found,) = load(
        ["-"],
        stdin=io.BytesIO(b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": %s}}' % text.encode()),
    ).nodes
    assert found.metadata.name == json.loads(text)
