"""
Releases and gates: versions that are not served, and fields that are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_alloc.linting.codes.takes import said
from dra_alloc.linting.looking import Linting, value_at
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SERVED
from dra_alloc.scenario.prepare.gating import stored
from dra_alloc.scenario.validating import GATED


def _dropped(linting: Linting) -> Iterator[Hit]:
    gates, release = linting.settings.effective_gates(), linting.settings.profile().release
    for item in (each for member in GATED for each in getattr(linting.documents, member)):
        for field in stored(item, gates, release)[1]:
            written = linting.written_of(item)
            if written is not None:
                said = f"the field is dropped: gate {field.gate} is off in Kubernetes {linting.settings.release}"
                path = value_at(written, field.path, v1=True)[0]
                yield Hit(written, path, said, f"switch {field.gate} on in the cluster, or leave the field out")


def _switched_off(linting: Linting) -> Iterator[Hit]:
    release = linting.settings.profile().release
    for each in linting.written:
        served = SERVED.get(each.kind, {}) if each.group == RESOURCE_GROUP else {}
        if each.version != "v1" and each.version in served and served[each.version].holds(release):
            said = f"{each.api_version} is off in Kubernetes {linting.settings.release} unless it is switched on"
            on = "v1" in served and served["v1"].holds(release)
            yield Hit(each, ("apiVersion",), said, "dra-alloc convert --to v1 rewrites it" if on else "")


RULES: Final = (
    LintRule("R701", "error", "no release has the kind in this version", takes=said("no matches for kind")),
    LintRule("R702", "error", "the release does not have the kind in this version", takes=said("has no kind")),
    LintRule("R703", "warning", "the gate of a field is off, and the field is dropped", finds=_dropped),
    LintRule("R704", "info", "the version is off unless somebody switches it on", finds=_switched_off),
)
