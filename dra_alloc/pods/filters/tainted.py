"""
TaintToleration: taints of effect NoSchedule and NoExecute keep pods off that do not tolerate them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.api import Taint
from dra_alloc.pods.attempts import Attempt
from dra_alloc.pods.objections import Objection
from dra_alloc.pods.taints import repelling
from dra_alloc.releases import Release
from dra_alloc.rules import taint_name

_TEXT: Final = "node(s) had untolerated taint(s)"
#: Since when the scheduler does not say which taint it is.
_UNNAMED_SINCE: Final = Release(1, 35, 0, 0)


def refused(attempt: Attempt) -> Mapping[int, Objection]:
    """Return the nodes with a taint that the pod does not tolerate."""
    tolerations, comparing = attempt.pod.spec.tolerations, attempt.ruling.comparing
    known: dict[tuple[Taint, ...], Objection | None] = {}
    found: dict[int, Objection] = {}
    for place, taints in attempt.tenancy.tainted.items():
        if taints not in known:
            taint = repelling(taints, tolerations, comparing=comparing)
            known[taints] = None if taint is None else _objection(taint, attempt.ruling.release)
        objection = known[taints]
        if objection is not None:
            found[place] = objection
    return found


def _objection(taint: Taint, release: Release) -> Objection:
    said = f"the pod does not tolerate the node's taint {taint_name(taint)}"
    named = f"node(s) had untolerated taint {{{taint.key}: {taint.value or ''}}}"
    return Objection("node-taint", (_TEXT if release >= _UNNAMED_SINCE else named,), said)
