"""
What the API server takes, and warns of.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_alloc.api import DeviceTaintRule, ResourceSlice
from dra_alloc.api.go_text import quote
from dra_alloc.errors import Problem, Where
from dra_alloc.manifest.validate.releases import DRIVERS_IN_CAPITALS_TOLD, EMPTY_SELECTORS_TOLD
from dra_alloc.releases import Release


def warnings_of(item: ResourceSlice | DeviceTaintRule, release: Release) -> Iterator[Problem]:
    """Yield what the API server of a release says of an object that it stores all the same. Spec: VAL-18."""
    if isinstance(item, DeviceTaintRule):
        selector = item.spec.device_selector
        if EMPTY_SELECTORS_TOLD.holds(release) and selector is not None and selector == type(selector)():
            text = "an empty selector matches every device from every driver in the cluster"
            yield Problem(text, Where(path="spec.deviceSelector"))
    elif DRIVERS_IN_CAPITALS_TOLD.holds(release) and item.spec.driver != item.spec.driver.lower():
        text = f"driver names should be lowercase; {quote(item.spec.driver)} contains uppercase characters"
        yield Problem(text, Where(path="spec.driver"))
