"""
Documents of texts and of objects.
"""

from __future__ import annotations

import io
import json
from typing import Any

from dra_alloc.manifest import Documents, load


def read(text: str | bytes, **options: Any) -> Documents:
    """The objects of a text."""
    return load(["-"], stdin=io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def documents(*objects: dict[str, Any]) -> Documents:
    """The objects of a dump."""
    return read(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
