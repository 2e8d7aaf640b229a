"""
Manifests as text, and what is made of them.
"""

from __future__ import annotations

from dra_alloc.scenario.expand import Expansion, expand
from tests.reading import read


def made(text: str, dump: str = "", *taught: str) -> Expansion:
    """What the manifests make where the dump is there already."""
    return expand(read(text), read(dump), pod_templates=taught)


def names(found: Expansion, *states: str) -> list[str]:
    """The names of the pods, or of those in some states."""
    return [each.pod.metadata.name or "" for each in found.pods if not states or each.state in states]
