"""
Files of our own as models: what is wrong with them, in their words instead of the parser's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

from dra_alloc.errors import Problem, Where, did_you_mean

_STRING: Final = "bare yes, no, on, off, y, n and numbers are no strings: put them in quotes"
_WORDS: Final = {
    "missing": "Required value",
    "extra_forbidden": "unknown field",
    "string_type": "has to be a string",
    "int_type": "has to be a whole number",
    "bool_type": "has to be true or false",
    "tuple_type": "has to be a list",
    "list_type": "has to be a list",
    "mapping_type": "has to be a mapping",
    "dict_type": "has to be a mapping",
    "model_type": "has to be a mapping",
}


def faults_of(kind: type[BaseModel], error: ValidationError, path: str = "") -> Iterator[Problem]:
    """Yield what is wrong with a value of a model, each with its path, which begins with `path`."""
    for each in error.errors(include_url=False, include_input=False):
        place = path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in each["loc"])
        yield Problem(_WORDS.get(each["type"], each["msg"]), Where(path=place.lstrip(".")), _known(kind, each))


def _known(kind: type[BaseModel], error: Any) -> str:
    """Return which fields there are beside one that is not known."""
    if error["type"] != "extra_forbidden":
        return _STRING if error["type"] == "string_type" else ""
    *above, last = error["loc"]
    for part in above:
        field = next((each for name, each in kind.model_fields.items() if part in (name, each.alias)), None)
        kind = (field and _model_in(field.annotation)) or kind
    names = [each.alias or name for name, each in kind.model_fields.items()]
    return did_you_mean(str(last), names) or f"it takes {', '.join(names)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a field, be it one, a list or a mapping of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model_in(each))), None)
