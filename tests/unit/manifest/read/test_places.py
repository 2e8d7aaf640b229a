"""
The lines of what turns out wrong after loading: of the deepest part of a path that was written.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.errors import Problem, Where
from dra_alloc.manifest import load

CLAIM = """\
# the first line
apiVersion: VERSION
kind: ResourceClaim
metadata:
  name: NAME
spec:
  devices:
    requests:
    - name: r
REQUEST
---
"""
EXACTLY = """\
      exactly:
        deviceClassName: gpu
        selectors:
        - cel:
            expression: "true"
"""
FLAT = """\
      deviceClassName: gpu
      selectors:
      - cel:
          expression: "true"
"""
EXPRESSION = "spec.devices.requests[0].exactly.selectors[0].cel.expression"
LONG = "# " + "x" * 4096 + "\n"


def claims(count: int, version: str = "resource.k8s.io/v1", request: str = EXACTLY) -> str:
    text = CLAIM.replace("VERSION", version).replace("REQUEST\n", request)
    return "".join(text.replace("NAME", f"c{number}") for number in range(count))


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (EXPRESSION, "expression:"),
        ("spec.devices.requests[0].exactly.selectors[0].cel.nothing", "- cel:"),
        ("spec.devices.requests[0].exactly.selectors[7].cel", "selectors:"),
        ("spec.devices.requests[0].exactly.count", "exactly:"),
        ("spec.devices.constraints", "devices:"),
        ("metadata.annotations[a.b/c]", "metadata:"),
        ("status", "apiVersion:"),
        ("", "apiVersion:"),
    ],
)
def test_the_line_of_a_path_is_that_of_what_there_is_of_it(path, word, tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(claims(2))
    documents = load(file)
    lines = claims(2).splitlines()
    said = documents.where(documents.claims[1], path).line
    second = lines.index("---") + 1
    assert said == next(number for number, line in enumerate(lines, 1) if number > second and word in line)


def test_a_path_of_an_older_version_is_found_where_it_was_written(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(claims(1, "resource.k8s.io/v1beta1", FLAT))
    documents = load(file)
    line = documents.where(documents.claims[0], EXPRESSION).line
    assert line is not None
    assert file.read_text().splitlines()[line - 1].strip() == 'expression: "true"'


@pytest.mark.parametrize("ending", [".yaml", ".json"])
def test_lines_in_large_files_are_found_too_by_reading_them_again(ending, tmp_path):
    file = tmp_path / f"m{ending}"
    if ending == ".yaml":
        file.write_text(LONG * 300 + claims(3))
    else:
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "NAME", "annotations": {"x": "x" * 400_000}},
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "r",
                            "exactly": {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": "true"}}]},
                        }
                    ]
                }
            },
        }
        file.write_text("\n".join(json.dumps(claim, indent=1).replace("NAME", f"c{each}") for each in range(3)))
    documents = load(file)
    places = documents.placed([(claim, Problem("wrong", Where(path=EXPRESSION))) for claim in documents.claims])
    lines = file.read_text().splitlines()
    assert [number for number, line in enumerate(lines, 1) if "expression" in line] == [
        each.where.line for each in places
    ]
    assert {each.message for each in places} == {"wrong"}
    file.write_text(file.read_text() + "\n")
    assert documents.where(documents.claims[1], EXPRESSION).line == documents.where(documents.claims[1]).line


def test_what_was_not_loaded_has_no_line(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(claims(1))
    (claim,) = load(file).claims
    assert load([]).where(claim, "spec") == Where("ResourceClaim c0", "spec")
