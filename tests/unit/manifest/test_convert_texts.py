"""
Texts with their objects in another version: what moves, what stays, and what is left alone.
"""

from __future__ import annotations

import textwrap
from itertools import islice
from typing import Any

import pytest
from ruamel.yaml import YAML

from dra_alloc.manifest.convert.objects import convert, goal_of
from dra_alloc.manifest.convert.texts import convert_text
from dra_alloc.manifest.read.inputs import InputBytes
from fuzz.targets.commented_files import TARGET

HEAD = "apiVersion: resource.k8s.io/{}\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec:\n  devices:\n    requests:\n"
SLICE = "apiVersion: resource.k8s.io/{}\nkind: ResourceSlice\nspec:\n  devices:\n"


def converted(text: str, to: str):
    return convert_text(InputBytes("f.yaml", text.encode()), goal_of(to))


def body(text: str, indent: int) -> str:
    return textwrap.indent(textwrap.dedent(text).lstrip("\n"), " " * indent)


def changed(head: str, text: str, between: tuple[str, str], indent: int = 4) -> str:
    found = converted(head.format(between[0]) + body(text, indent), between[1])
    assert not found.problems
    before, _, after = found.after.partition(head.format(between[1]))
    assert not before
    return textwrap.dedent(after)


UP = ("v1beta1", "v1")
DOWN = ("v1", "v1beta1")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            """
            - name: a  # the name
              # of ours
              deviceClassName: gpu  # the class

              selectors:
              - cel:
                  expression: |-
                    a # no comment

                    b
              # below
              #count: 2
            # another
            - name: b
            """,
            """
            - name: a  # the name
              exactly:
                # of ours
                deviceClassName: gpu  # the class

                selectors:
                - cel:
                    expression: |-
                      a # no comment

                      b
                # below
                #count: 2
            # another
            - name: b
            """,
        ),
        (
            """
            - deviceClassName: gpu
              # the name
              name: 'a'  # is a
              count: 2
            """,
            """
            - # the name
              name: 'a'  # is a
              exactly:
                deviceClassName: gpu
                count: 2
            """,
        ),
        (
            """
            - {name: a, deviceClassName: gpu, count: 2}
            - { "deviceClassName": gpu, "name": a, "count": 2 }
            - {name: a, deviceClassName: "", firstAvailable: []}
            """,
            """
            - {name: a, exactly: {deviceClassName: gpu, count: 2}}
            - { "name": a, "exactly": { "deviceClassName": gpu, "count": 2 } }
            - {name: a, firstAvailable: []}
            """,
        ),
        (
            """
            - &a
              name: a
              deviceClassName: &class !!str gpu
              selectors: &both
              - cel: {expression: "true"}
            - <<: *a
              name: b
            - name: c
              deviceClassName: *class
              selectors: *both
            - *a
            """,
            """
            - &a
              name: a
              exactly:
                deviceClassName: &class !!str gpu
                selectors: &both
                - cel: {expression: "true"}
            - <<: *a
              name: b
            - name: c
              exactly:
                deviceClassName: *class
                selectors: *both
            - *a
            """,
        ),
        (
            """
            - name: a
              deviceClassName: ""  # none
              firstAvailable:
              - {name: x}
            - name: b
              count: 0
            """,
            """
            - name: a
              # none
              firstAvailable:
              - {name: x}
            - name: b
            """,
        ),
    ],
)
def test_requests_up(text, after):
    assert changed(HEAD, text, UP) == textwrap.dedent(after).lstrip("\n")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            """
            - exactly:
                # above
                deviceClassName: gpu
              name: a
            - name: b
              exactly:  # behind
                deviceClassName: gpu
            - name: c
              exactly: {deviceClassName: gpu, count: 2}  # three
            - exactly: {deviceClassName: gpu}
            """,
            """
            - # above
              deviceClassName: gpu
              name: a
            - name: b
              # behind
              deviceClassName: gpu
            - name: c
              deviceClassName: gpu
              count: 2  # three
            - deviceClassName: gpu
            """,
        ),
    ],
)
def test_requests_down(text, after):
    assert changed(HEAD, text, DOWN) == textwrap.dedent(after).lstrip("\n")


def test_comments_right_of_the_next_member_stay_with_what_is_above():
    new = """
    - capacity:
        m: {value: 5Gi}
        # more
      # the name
      name: a
    """
    old = "- basic:\n    capacity:\n      m: {value: 5Gi}\n      # more\n  # the name\n  name: a\n"
    assert changed(SLICE, new, DOWN, 2) == old
    assert changed(SLICE, old, UP, 2) == textwrap.dedent(new).lstrip("\n")


def test_devices_in_the_oldest_version():
    old = """
    - name: a
      basic:
        capacity:
          m: 5Gi  # five
    - name: b
      basic: {}
    """
    new = "- name: a\n  capacity:\n    m: {value: 5Gi}  # five\n- name: b\n"
    assert changed(SLICE, old, ("v1alpha3", "v1"), 2) == new
    wide = new.replace("m: {value: 5Gi}", "m:\n      value: 5Gi")
    assert changed(SLICE, wide, ("v1", "v1alpha3"), 2) == textwrap.dedent(old).lstrip("\n")


def test_what_means_unset_goes_and_its_comment_stays():
    text = 'nodeName: ""\nallNodes: false  # not here\ndriver: d\n'
    head = SLICE.replace("  devices:\n", "")
    assert changed(head, text, UP, 2) == "# not here\ndriver: d\n"
    assert changed(head, 'nodeName: ""\n', UP, 2) == "{}\n"
    assert changed(head, 'nodeName: ""\nallNodes: false\n', UP, 2) == "{}\n"
    flow = SLICE.replace("spec:\n  devices:\n", "spec: ")
    for given, left in (
        ('{driver: d, nodeName: "", allNodes: false}', "{driver: d}"),
        ('{nodeName: "", driver: d, allNodes: false}', "{driver: d}"),
        ('{nodeName: "", allNodes: false, driver: d}', "{driver: d}"),
        ('{nodeName: "", allNodes: false,}', "{}"),
    ):
        assert converted(flow.format("v1beta1") + given, "v1").after == flow.format("v1") + left


def test_requests_of_which_nothing_is_set():
    before = """
    - deviceClassName: ""
      count: 0
      name: a  # the name
      allocationMode: ""
    - deviceClassName: ""
      count: 0
    - {count: 0}
    """
    assert changed(HEAD, before, UP) == "- name: a  # the name\n- {}\n- {}\n"
    named = '- name: a\n  count: 0  # none\n  deviceClassName: ""\n'
    assert changed(HEAD, named, UP) == "- name: a\n  # none\n"


JSON = """{
\t"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSliceList",
\t"items": [
\t\t{
\t\t\t"spec": {
\t\t\t\t"devices": [
\t\t\t\t\t{
\t\t\t\t\t\t"name": "a",
\t\t\t\t\t\t"basic": {
\t\t\t\t\t\t\t"attributes": {},
\t\t\t\t\t\t\t"taints": []
\t\t\t\t\t\t}
\t\t\t\t\t},
\t\t\t\t\t{ "name": "b", "basic": {} },{"name":"\\ud83d\\ude00","basic":{"taints":[]}}
\t\t\t\t]
\t\t\t}
\t\t}
\t]
}
{"apiVersion": "v1", "kind": "Pod"}"""


def test_json():
    found = converted(JSON, "v1")
    assert not found.problems
    assert [(str(change.where), change.where.column) for change in found.changes] == [
        ("f.yaml:4: ResourceSlice", 3),
    ]
    assert (
        '\t\t\t\t\t\t"name": "a",\n\t\t\t\t\t\t"attributes": {},\n\t\t\t\t\t\t"taints": []\n\t\t\t\t\t},' in found.after
    )
    assert '{ "name": "b" },{"name":"\\ud83d\\ude00","taints":[]}' in found.after
    assert converted(found.after, "v1beta1").after == JSON


def test_lists_and_other_documents():
    pod = "# A pod.\napiVersion: v1\nkind: Pod\nspec: {a: 1,   b: [ 2 ]}\n"
    member = "- apiVersion: resource.k8s.io/v1beta1\n  kind: DeviceClass\n  metadata: {name: a}\n"
    text = (
        f"%YAML 1.1\n---\n{pod}---\napiVersion: v1\nkind: List\nitems:\n{member}- {{kind: Pod, apiVersion: v1}}\n...\n"
    )
    found = converted(text, "v1")
    assert found.after == text.replace("v1beta1", "v1")
    (change,) = found.changes
    assert (change.where.object, change.where.line, change.where.column) == ("DeviceClass a", 11, 3)
    assert (change.before, change.after) == ("resource.k8s.io/v1beta1", "resource.k8s.io/v1")


def test_fractions_are_what_they_were():
    device = "  - name: a\n    attributes: {x: {int: 2.0}}\n    capacity: {m: {value: 1.50}}\n"
    text = SLICE.format("v1") + device
    found = converted(text, "v1beta1")
    assert not found.problems
    assert "basic:\n      attributes: {x: {int: 2.0}}\n      capacity: {m: {value: 1.50}}\n" in found.after
    assert converted(found.after, "v1").after == text


def test_what_is_no_json_and_no_yaml():
    (problem,) = converted('{"apiVersion": "resource.k8s.io/v1", "a": [}', "v1beta1").problems
    assert "cannot be read as JSON" in str(problem)


def test_line_ends_and_the_end_of_the_file():
    text = HEAD.format("v1beta1") + "    - name: a\n      count: 2"
    for ending in ("\n", "\r\n"):
        before = text.replace("\n", ending)
        found = converted(before, "v1")
        assert found.after.endswith(f"name: a{ending}      exactly:{ending}        count: 2")
        assert converted(found.after, "v1beta1").after == before


@pytest.mark.parametrize(
    ("text", "between", "why"),
    [
        ("- &a\n  name: a\n  deviceClassName: gpu\n- <<: *a\n  count: 2\n", UP, ": << would no longer give all"),
        ("- name: a\n  exactly: &e\n    count: 2\n", DOWN, ": it has an anchor or a tag;"),
        ("- name: a\n  exactly: &e {count: 2}\n", DOWN, ": it has an anchor or a tag;"),
        ("- name: a\n  exactly: &e {count: 2}\n- name: b\n  exactly: *e\n", DOWN, ": it has an anchor or a tag;"),
        ("- name: a\n  exactly: {  # here\n    count: 2}\n", DOWN, ": a comment stands inside what changes;"),
    ],
)
def test_what_cannot_be_written_is_left_alone_and_named(text, between, why):
    other = "---\n" + HEAD.format(between[0]).replace("name: c", "name: d").replace("requests:", "requests: []")
    found = converted(HEAD.format(between[0]) + body(text, 4) + other, between[1])
    (problem,) = found.problems
    assert why in str(problem)
    assert str(problem).startswith("f.yaml:1: ResourceClaim c: ")
    assert found.after == found.before
    assert not found.changes


def test_every_problem_has_its_line():
    text = HEAD.format("v1") + "    - name: a\n      exactly: {}\n    - nam: b\n    - name: c\n      name: d\n"
    found = converted(text, "v1beta1")
    assert [str(each).partition(" (")[0] for each in found.problems] == [
        'f.yaml:9: ResourceClaim c: spec.devices.requests[1].nam: unknown field "spec.devices.requests[1].nam"',
        'f.yaml:11: ResourceClaim c: spec.devices.requests[2].name: duplicate field "spec.devices.requests[2].name"',
    ]
    found = converted(text.replace("nam:", "name:").replace("      name: d\n", ""), "v1beta1")
    (problem,) = found.problems
    assert str(problem) == (
        "f.yaml:8: ResourceClaim c: spec.devices.requests[0].exactly: "
        "resource.k8s.io/v1beta1 cannot say this: an object would be taken as null"
    )


@pytest.mark.parametrize(
    "text",
    ["    {{- if .Values.gpu }}\n    - name: a\n    {{- end }}\n", "    - {name: a, count: '{{ .Values.n }}'}\n"],
)
def test_templates_are_named_and_left_alone(text):
    found = converted(HEAD.format("v1beta1") + text, "v1")
    assert found.unrendered
    assert found.after == found.before
    assert "helm template" in str(found.problems[0])


def test_what_says_nothing_of_ours_is_not_even_read():
    assert converted("a: [", "v1").problems == ()
    assert converted("resource.k8s.io: [", "v1").problems


def test_another_reader_of_yaml_reads_what_was_meant():
    def read(text: str) -> list[Any]:
        return list(YAML(typ="safe", pure=True).load_all(text))

    for case in islice((case for case in TARGET.cases(3) if "text" in case), 40):
        (before,), (after,) = read(case["text"]), read(converted(case["text"], case["to"]).after)
        assert convert(before, case["to"]) == after
