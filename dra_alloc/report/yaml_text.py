"""
Objects as YAML that every reader of YAML takes for the same values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

#: Texts that no version of YAML takes for anything else.
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*", re.ASCII)
_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"))


class _Dumper(yaml.SafeDumper):
    """Quotes every text that could be read as something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write what is there twice out twice."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    style = None if is_plain else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _text)


def documents_text(objects: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the objects as documents, each under a comment."""
    parts = []
    for comment, item in objects:
        said = " ".join(comment.split())
        body = yaml.dump(
            json.loads(json.dumps(item)), Dumper=_Dumper, sort_keys=False, width=1_000_000, allow_unicode=True
        )
        parts.append(f"# {said}\n{body}")
    return "---\n".join(parts)
