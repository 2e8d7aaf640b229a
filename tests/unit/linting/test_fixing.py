"""
Texts in which what lint finds is mended.
"""

from __future__ import annotations

import io
import json
from functools import cache
from itertools import product

import pytest
import yaml

from dra_alloc.linting.codes import RULES
from dra_alloc.linting.fixing import mended
from dra_alloc.linting.pages import page_of
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Documents, Manner, load_readable

TEXT = """\
# a claim of old
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec:
  shareable: true
  devices:
    requests:
    # the card
    - name: gpu
      deviceClassName: "gpu.example.com"   # ours
      selectors:
      - cel:
          expression: |-
            device.driver == "gpu.example.com"
      allocationmode: All  # misspelt
    constraints:
    - matchAttribute: gpu.example.com/model
      operator: Equal
"""
SAFE = """\
# a claim of old
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec:
  devices:
    requests:
    # the card
    - name: gpu
      exactly:
        deviceClassName: "gpu.example.com"   # ours
        selectors:
        - cel:
            expression: |-
              device.driver == "gpu.example.com"
      allocationmode: All  # misspelt
    constraints:
    - matchAttribute: gpu.example.com/model
"""


@cache
def cluster_of(text: str) -> Documents | None:
    return load_readable(["-"], stdin=io.BytesIO(text.encode()))[0] if text else None


def fixed(text: str, cluster: str = "", *, unsafe: bool = False) -> str:
    asked = LintAsked(cluster=cluster_of(cluster))
    manner = Manner("strict", "keep", asked.settings.profile().release)
    read = load_readable(["-"], stdin=io.BytesIO(text.encode()), manner=manner)
    (after,) = [each.after for each in mended(read[0], linted(read, asked), asked, unsafe=unsafe)] or [text]
    return after


def test_what_is_safe_is_mended_and_comments_stay():
    assert fixed(TEXT) == SAFE
    assert fixed(SAFE) == SAFE
    assert fixed(TEXT.replace("\n", "\r\n")) == SAFE.replace("\n", "\r\n")


def test_what_changes_the_meaning_is_asked_for():
    assert "allocationmode" in fixed(TEXT)
    text = TEXT.replace("      allocationmode: All  # misspelt\n", "")
    text = text.replace("matchAttribute", "matchattribute")
    assert "matchattribute" in fixed(text)
    after = fixed(text, unsafe=True)
    assert "    - matchAttribute: gpu.example.com/model\n" in after
    assert fixed(after, unsafe=True) == after


@pytest.mark.parametrize(
    "text",
    [
        # a comment would go with the line
        "    constraints:\n    - matchAttribute: gpu.example.com/model\n      # why\n      operator: Equal\n",
        # an alias stands for what is written once
        "    constraints:\n    - &a {matchAttribute: gpu.example.com/model, operator: Equal}\n    - *a\n",
    ],
)
def test_what_cannot_be_mended_is_left_alone(text):
    head = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  shareable: true\n"
    request = "  devices:\n    requests:\n    - {name: gpu, exactly: {deviceClassName: gpu.example.com}}\n"
    after = fixed(head + request + text)
    assert "shareable" not in after
    assert ("# why" in after) == ("# why" in text)
    assert fixed(after) == after


MENDED = {rule.code: rule for rule in RULES if rule.fix != "none"}


@pytest.mark.parametrize(("code", "as_json"), list(product(MENDED, (False, True))))
def test_every_example_with_a_fix_is_mended_and_stays_so(code, as_json):
    rule, page = MENDED[code], page_of(code)
    assert page is not None
    text = in_json(page.bad) if as_json else page.bad
    once = fixed(text, page.cluster, unsafe=rule.fix == "unsafe")
    assert once != text
    assert fixed(once, page.cluster, unsafe=rule.fix == "unsafe") == once
    read = load_readable(["-"], stdin=io.BytesIO(once.encode()))
    assert rule.code not in {each.code for each in linted(read, LintAsked(cluster=cluster_of(page.cluster))).findings}
    if rule.fix == "unsafe":
        assert fixed(text, page.cluster) == text


def in_json(text: str) -> str:
    return json.dumps(yaml.safe_load(text), indent=2) + "\n"


def test_a_number_is_quoted_only_where_a_text_belongs():
    assert 'name: "1"' in fixed(TEXT.replace("name: one", "name: 1"))
    boolean = SAFE.replace("allocationmode: All  # misspelt", "  adminAccess: 1")
    assert "adminAccess: 1\n" in fixed(boolean, unsafe=True)


HEAD = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  devices:\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    - name: g\n      #\n      deviceClassName: 'a' #b\n      exactly:\n        #c\n        count: 1\n",
            "    - name: g\n      exactly:\n        #\n        deviceClassName: 'a' #b\n        #c\n        count: 1\n",
        ),
        (
            "    - name: gpu\n      exactly:\n        count: 1\n        # c\n      deviceClassName: 'a'",
            "    - name: gpu\n      exactly:\n        count: 1\n        # c\n        deviceClassName: 'a'\n",
        ),
        (
            "    - deviceClassName: 'a'\n      name: gpu\n      exactly: {count: 1}\n",
            "    - name: gpu\n      exactly: {count: 1, deviceClassName: 'a'}\n",
        ),
        (
            "    - {deviceClassName: 'a', name: gpu, exactly: {count: 1}}\n",
            "    - {name: gpu, exactly: {count: 1, deviceClassName: 'a'}}\n",
        ),
    ],
)
def test_what_moves_is_written_as_it_was(before, after):
    assert fixed(f"{HEAD}    requests:\n{before}") == f"{HEAD}    requests:\n{after}"


def test_what_becomes_a_member_of_a_list_stays_where_it_is():
    request = "    requests:\n    - {name: gpu, exactly: {deviceClassName: a}}\n"
    wrong = "    config:\n      # why\n      opaque:\n        driver: a\n        parameters: {a: 1}\n"
    assert fixed(HEAD + request + wrong) == HEAD + request + wrong.replace("      opaque", "    - opaque")
