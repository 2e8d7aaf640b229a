"""
Objects as YAML that every reader of YAML takes for the same values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from dra_alloc.report.layout import inert, printable

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


def _shown(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return f"\\U{ord(character):08x}"


_Dumper.add_representer(str, _text)


def documents_text(objects: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the objects as documents, each under a comment."""
    parts = []
    for comment, item in objects:
        said = inert(printable(" ".join(comment.split())))
        body = yaml.dump(
            json.loads(json.dumps(item)), Dumper=_Dumper, sort_keys=False, width=1_000_000, allow_unicode=True
        )
        # All that is not plain stands in double quotes, where any character may be spelt out.
        shown = inert("".join(map(_shown, body)) if not body.replace("\n", "").isprintable() else body)
        parts.append(f"# {said}\n{shown}")
    return "---\n".join(parts)
