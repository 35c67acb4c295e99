"""Read path and query parameters, which arrive as text, as the types that their schemas ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.openapi.schemas import value_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.openapi.document import Operation

Value = str | int | bool

_INTEGER = re.compile(r"-?\d{1,18}")


def typed(text: str, schema: Mapping[str, object]) -> Value:
    """The text as an integer or a boolean where the schema wants one and the text is one."""
    match schema.get("type"):
        case "integer" if _INTEGER.fullmatch(text):
            return int(text)
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case _:
            return text


def path_problem(operation: Operation, values: Mapping[str, Value]) -> str | None:
    """What is wrong with the path parameters."""
    for parameter in operation.parameters:
        if parameter.place == "path" and (problem := value_problem(operation, parameter.name, values[parameter.name])):
            return f"path parameter {parameter.name}: {problem}"
    return None


def query_problem(operation: Operation, values: Mapping[str, Value]) -> str | None:
    """What is wrong with the query: an unknown parameter, a missing one, or a value that does not fit."""
    known = {parameter.name: parameter for parameter in operation.parameters if parameter.place == "query"}
    for name, value in values.items():
        if name not in known:
            return f"query parameter {name}: {operation.id} has no such parameter"
        if problem := value_problem(operation, name, value):
            return f"query parameter {name}: {problem}"
        if name == "per_page" and isinstance(value, int) and not 1 <= value <= MAX_PER_PAGE:
            return f"query parameter per_page: {value} is not between 1 and {MAX_PER_PAGE}"
    missing = next((one.name for one in known.values() if one.required and one.name not in values), None)
    return None if missing is None else f"query parameter {missing} is missing"


MAX_PER_PAGE = 100
