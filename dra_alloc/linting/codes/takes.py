"""
How codes say which faults of validation are theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dra_alloc.manifest.validate.violations import FieldFault

Takes = Callable[[FieldFault, Any], bool]


def unknown_field(path: str) -> Takes:
    """Take unknown fields at paths that match a pattern to their end."""
    pattern = re.compile(f"(?:.*[.])?(?:{path})")
    return lambda fault, _: fault.detail.startswith("unknown field") and bool(pattern.fullmatch(fault.where.path))


def said(text: str, path: str = "") -> Takes:
    """Take faults whose detail has a text, at paths that match a pattern."""
    pattern = re.compile(f".*(?:{path})")
    return lambda fault, _: text in fault.detail and bool(pattern.match(fault.where.path))


def of_type(*types: str) -> Takes:
    """Take faults of these types."""
    return lambda fault, _: fault.type in types
