"""
The JSON schema of vector files, and a check of all of them.

    python -m spec.schema          checks every vector
    python -m spec.schema --write  writes spec/case.schema.json again
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from spec.case import HERE, KINDS, VECTORS, VectorError, load_case

SCHEMA: Final = HERE / "case.schema.json"

Json = dict[str, Any]


def schema() -> Json:
    """Return the JSON schema of vector files: one of the kinds, by the folder."""
    kinds = {kind: kind.model_json_schema() for kind in dict.fromkeys(KINDS.values())}
    definitions: Json = {}
    for kind, made in kinds.items():
        definitions |= made.pop("$defs", {})
        definitions[kind.__name__] = made
    folders = ", ".join(f"{folder}: {kind.__name__}" for folder, kind in KINDS.items())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A vector of the specification",
        "description": f"Which kind a file holds follows from its folder: {folders}",
        "anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": dict(sorted(definitions.items())),
    }


def main() -> int:
    """Check every vector, or write the schema."""
    if sys.argv[1:] == ["--write"]:
        SCHEMA.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
        return 0
    paths = sorted(VECTORS.rglob("*.yaml"))
    wrong = 0
    for path in paths:
        try:
            load_case(path)
        except VectorError as error:
            wrong += 1
            print(error)
    print(f"{len(paths)} vectors, {wrong} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
