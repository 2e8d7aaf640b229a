"""
Hostile input ends in a clear error, in bounded time and memory, and with no other exception.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import ReadBudget
from tests.reading import read

HEAD = b"apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: x}\n"
DEEP = 10_000
CONFIG = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
"spec": {"devices": {"config": [{"opaque": {"parameters": %s}}]}}}"""

REQUESTS = b"""{"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "x"},
"spec": {"devices": {"requests": [%s{}]}}}"""
RESULTS = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "x"},
"status": {"allocation": {"devices": {"results": [%s{}]}}}}"""
DEVICES = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "x"},
"spec": {"devices": [%s{}]}}"""
MANY = b",".join(b'"a%d": {"value": "1"}' % n for n in range(300_000))
ATTRIBUTES = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "x"},
"spec": {"devices": [{"name": "d", "%s": {%s}}]}}"""
BASIC = b"""{"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": {"name": "x"},
"spec": {"devices": [{"name": "d", "basic": {"attributes": {%s}}}]}}"""
COUNTERS = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "x"},
"spec": {"sharedCounters": [{"name": "s", "counters": {%s}}]}}"""
LIST = b"""{"apiVersion": "v1", "kind": "List", "items": [%s{}]}"""


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


BOMB = b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
)
#: Input, or what makes it where that takes long, and what is said of it.
CASES: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "scalar": (b"foo", "expected an object with apiVersion and kind"),
    "list": (b"[1, 2]", "expected an object with apiVersion and kind"),
    "binary": (bytes(range(256)) * 1_000, "cannot be read as YAML"),
    "nul": (b"a: \0", "control characters are not allowed"),
    "flow-deep": (b"a: " + b"[" * DEEP + b"]" * DEEP, "nest"),
    "block-deep": (HEAD + b"spec:\n" + b"".join(b" " * (n + 1) + b"a:\n" for n in range(DEEP)), "nest"),
    "json-deep": (CONFIG % nested(DEEP), "nest"),
    "json-deep-enough": (CONFIG % nested(300), "nested deeper than 200 levels"),
    "json-open-only": (b"[" * 1_000_000, "nest"),
    "cyclic": (HEAD + b"spec: &a {devices: *a}\n", "anchor 'a' value contains itself"),
    "bomb": (BOMB, "document contains excessive aliasing"),
    "truncated-gzip": (gzip.compress(b"a: b\n" * 10_000)[:50], "the file is truncated"),
    "damaged-gzip": (b"\x1f\x8bxxxx", "gzip data is damaged"),
    "gzip-bomb": (
        lambda: gzip.compress(b"\0" * (1 << 27), 1),
        "gzip data unpacks to more than 200 times its size, the limit",
    ),
    "gzip-large": (
        lambda: gzip.compress(os.urandom(1 << 20) * 65, 0),
        "holds more than 67108864 bytes, the limit for one file",
    ),
    "wrong-types": (
        HEAD + b"spec: {devices: {requests: [5, {name: [1], exactly: x}], constraints: 1}}",
        "expected an object",
    ),
    "broken-json": (b'{"apiVersion":"v1","kind":"ConfigMap","data":"' + b"x" * 1_000_000, "the text ends too early"),
    "many-documents": (b"---\nfoo\n" * 20_000, "and 19,900 more problems in this file"),
    "many-problems": (HEAD + b"spec: {" + b",".join(b"f%d: 1" % n for n in range(20_000)) + b"}\n", "more problems"),
    "not-a-number": (HEAD + b"spec: .inf\n", "no number that JSON can hold"),
    "lists-in-lists": (b'{"kind":"List","apiVersion":"v1","items":[' * 20 + b"]}" * 20, "lists in lists"),
    "empty-members": (lambda: gzip.compress(b"") * 100_000 + gzip.compress(b"a: 1\n"), "kind is missing"),
    "many-requests": (REQUESTS % (b"{}," * 100_000), "requests: Too many: 100001: must have at most 32 items"),
    "many-results": (RESULTS % (b"{}," * 100_000), "results: Too many: 100001: must have at most 32 items"),
    "many-devices": (DEVICES % (b"{}," * 300_000), "devices: Too many: 300001: must have at most 128 items"),
    "many-attributes": (ATTRIBUTES % (b"attributes", MANY), "devices[0].attributes: Too many: 300000: must have at"),
    "many-capacities": (ATTRIBUTES % (b"capacity", MANY), "devices[0].capacity: Too many: 300000: must have at"),
    "many-attributes-before-v1": (BASIC % MANY, "devices[0].basic.attributes: Too many: 300000: must have at"),
    "many-counters": (COUNTERS % MANY, "sharedCounters[0].counters: Too many: 300000: must have at most 32 items"),
    "many-tags": (b"".join(b"%%TAG !a%d! tag:x:%d\n" % (n, n) for n in range(60_000)), "100 %TAG directives before"),
    "many-tags-between": (b"".join(b"%%TAG !a%d! x\n\n#\n" % n for n in range(60_000)), ":301: more than 100 %TAG"),
    "empty-members-of-a-list": (LIST % (b"{}," * 60_000), "more problems in this file, which is read no further"),
    "nothing-in-a-list": (LIST % (b"null," * 60_000), "more problems in this file, which is read no further"),
    "lists-of-nothing": (LIST % (LIST % (b"{}," * 60_000) + b","), "in this file, which is read no further"),
    "nothing-in-a-yaml-list": (b"apiVersion: v1\nkind: List\nitems:\n" + b"-\n" * 60_000, "which is read no further"),
    "no-key": (HEAD + b"? \n: v\n", "a key must be a string, not empty"),
    "no-key-that-can-be": (HEAD + b"? {a: b}\n: v\n", "a key must be a string"),
    "no-kind": (b"a: 1\n", "kind is missing"),
    "kind-no-string": (b"apiVersion: v1\nkind: [x]\n", "kind is missing"),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_input(name):
    given, message = CASES[name]
    data = given if isinstance(given, bytes) else given()
    start = time.process_time()
    with pytest.raises(ManifestError) as caught:
        read(data, limits=ReadBudget(file_bytes=1 << 26))
    assert message in str(caught.value)
    assert len(caught.value.problems) <= 101
    assert time.process_time() - start < 20  # a machine with much else to do; nothing here needs a second


@pytest.mark.parametrize(
    "head", [b"apiVersion: v1\nkind: ConfigMap\ndata: {a: ", b'{"apiVersion":"v1","kind":"ConfigMap","data":{"a": "']
)
def test_a_line_of_20_megabytes(head):
    tail = b'"}}' if head.startswith(b"{") else b"}"
    documents = read(head + b"x" * 20_000_000 + tail)
    assert documents.unknown == {"v1 ConfigMap": 1}


def loads_or_is_refused(data):
    try:
        problems = read(data).warnings
    except ManifestError as error:
        problems = error.problems
    assert all(problem.message for problem in problems)


TEMPLATES = [
    json.dumps(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "s", "labels": {"a": "b"}},
            "spec": {
                "driver": "d",
                "nodeName": "n",
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "a", "attributes": {"x": {"int": 1}}, "capacity": {"m": {"value": "1Gi"}}}],
            },
        }
    ).encode(),
    HEAD
    + b"spec:\n  devices:\n    requests:\n    - name: a\n"
    + b"      exactly: {deviceClassName: c, selectors: [{cel: {expression: x}}]}\n",
    (
        b"apiVersion: apps/v1\nkind: Deployment\n"
        b"spec: {template: {spec: {containers: [{name: a, resources: {claims: [{name: b}]}}]}}}\n"
    ),
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_damaged_text_loads_or_is_refused(template):
    random_bytes = random.Random(5)
    for _ in range(400):
        data = bytearray(template)
        for _ in range(random_bytes.randint(1, 4)):
            place = random_bytes.randrange(len(data))
            kind = random_bytes.randrange(3)
            if kind == 0:
                data[place] = random_bytes.choice(b'{}[]:,"\\ \n-&*?!|>%@`x0.\xff\x00')
            elif kind == 1:
                del data[place : place + random_bytes.randint(1, 20)]
            else:
                data[place:place] = data[random_bytes.randrange(len(data)) :][: random_bytes.randint(1, 30)]
            if not data:
                break
        loads_or_is_refused(bytes(data))


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["1Gi", "All"])
NAMES = (
    "apiVersion kind metadata spec status items devices requests exactly firstAvailable name basic attributes capacity"
    " pool value int string config opaque parameters selectors cel count template"
)
names = st.sampled_from(NAMES.split())
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=15
)


@given(
    trees,
    st.sampled_from(
        [
            "ResourceClaim",
            "ResourceSlice",
            "ResourceClaimTemplate",
            "DeviceClass",
            "DeviceTaintRule",
            "Pod",
            "Deployment",
        ]
    ),
    st.sampled_from(["resource.k8s.io/v1", "resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3", "v1", "apps/v1"]),
)
def test_any_tree_loads_or_is_refused(tree, kind, api_version):
    value = {"apiVersion": api_version, "kind": kind, "metadata": tree, "spec": tree}
    for data in (json.dumps(value).encode(), b"# yaml\n" + json.dumps(value).encode()):
        loads_or_is_refused(data)
