"""Turn the document's OpenAPI 3.0 schemas into compiled JSON Schema validators.

Two things change on the way: `nullable` becomes a type of its own, and in requests every object is closed, so that a
misspelt field is an error here although GitHub would ignore it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

import jsonschema_rs

from simulator.openapi.document import Json, components, operations

if TYPE_CHECKING:
    from simulator.openapi.document import Operation

# The description calls these integers; GitHub sends null for comments that are outdated or on whole files, as its own
# description of the webhook payloads says.
_SENT_AS_NULL = ("position", "line", "original_position", "original_line")
# The description asks of some accounts to be both; its component for the same thing says "any of".
_EITHER_ACCOUNT = ["Simple User", "Enterprise"]
_IGNORED = ("nullable", "example", "examples", "discriminator", "xml", "externalDocs")


def body_problem(operation: Operation, body: object) -> str | None:
    """What is wrong with a request body, with where in it; None when nothing is."""
    return _problem(_body_validator(operation.id), body)


def value_problem(operation: Operation, parameter: str, value: object) -> str | None:
    """What is wrong with the value of a path or query parameter."""
    return _problem(_parameter_validator(operation.id, parameter), value)


def answer_problem(operation: Operation, status: int, answer: object) -> str | None:
    """What is wrong with an answer of the simulator itself; statuses without a described body are fine."""
    if operation.responses.get(str(status)) is None:
        return None
    return _problem(_answer_validator(operation.id, status), answer)


def _problem(validator: jsonschema_rs.Validator, instance: object) -> str | None:
    error = next(validator.iter_errors(instance), None)
    if error is None:
        return None
    place = "/".join(str(part) for part in error.instance_path)
    return f"{place}: {error.message}" if place else error.message


@cache
def _by_id(operation_id: str) -> Operation:
    return next(one for one in operations() if one.id == operation_id)


@cache
def _body_validator(operation_id: str) -> jsonschema_rs.Validator:
    return _compile(_by_id(operation_id).body or {}, closed=True)


@cache
def _parameter_validator(operation_id: str, name: str) -> jsonschema_rs.Validator:
    parameter = next(one for one in _by_id(operation_id).parameters if one.name == name)
    return _compile(parameter.schema, closed=True)


@cache
def _answer_validator(operation_id: str, status: int) -> jsonschema_rs.Validator:
    return _compile(_by_id(operation_id).responses[str(status)] or {}, closed=False)


def _compile(schema: Json, *, closed: bool) -> jsonschema_rs.Validator:
    root = {**cast("Json", _convert(schema, closed=closed)), "components": _components(closed=closed)}
    return jsonschema_rs.Draft7Validator(root, validate_formats=True, ignore_unknown_formats=True)


@cache
def _components(*, closed: bool) -> Json:
    schemas = cast("Json", components()["schemas"])
    converted = {name: cast("Json", _convert(schema, closed=closed)) for name, schema in schemas.items()}
    comment = cast("dict[str, Json]", converted["pull-request-review-comment"]["properties"])
    for name in _SENT_AS_NULL:
        comment[name] = {"anyOf": [comment[name], {"type": "null"}]}
    return {"schemas": converted}


def _convert(schema: object, *, closed: bool) -> object:
    if isinstance(schema, list):
        return [_convert(one, closed=closed) for one in schema]
    if not isinstance(schema, dict):
        return schema
    converted: Json = {}
    if [part.get("title") for part in schema.get("allOf", [])] == _EITHER_ACCOUNT:
        schema = {"anyOf": schema["allOf"], "nullable": schema.get("nullable")}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            converted[key] = {name: _convert(inner, closed=closed) for name, inner in value.items()}
        elif key not in _IGNORED or not isinstance(value, (bool, str, list, dict)):
            converted[key] = _convert(value, closed=closed)
    if closed and "properties" in converted:
        converted.setdefault("additionalProperties", False)
    if schema.get("nullable"):
        return {"anyOf": [converted, {"type": "null"}]}
    return converted
