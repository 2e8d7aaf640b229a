"""
For tests of drivers: slices that an API server takes, and that make the pools they are meant to be.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Manner, load_readable
from dra_alloc.manifest.given import json_text
from dra_alloc.releases import DEFAULT_RELEASE

__all__ = ["assert_publishable"]


def assert_publishable(
    slices: Iterable[Any], *, release: str = DEFAULT_RELEASE, gates: Mapping[str, bool] | None = None
) -> None:
    """
    Hold that lint finds nothing above info in slices, as ``dra-alloc lint`` does in a file of them.

    Each is one of `dra_alloc.api`, a mapping as it is written in JSON, or of
    the official client; those of one driver and pool name are one pool.

    Raises: AssertionError, with every finding; InputError, without slices, or for a release or gate that is not known.
    """
    settings = Settings(release, gates or {})
    lines = b"\n".join(map(json_text, slices))
    if not lines:
        raise InputError("there are no slices to look at")
    manner = Manner(release=settings.profile().release)
    read = load_readable(["-"], stdin=io.BytesIO(lines), manner=manner)
    found = linted(read, LintAsked(settings))
    wrong = [*map(str, found.unreadable), *(f"{each.code} {each}" for each in found.counting)]
    if wrong:
        raise AssertionError("\n".join(wrong))
    if not read[0].slices:
        raise InputError("there are no slices to look at")
