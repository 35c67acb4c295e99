"""The OpenAPI document and its operations, with the paths that they answer to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast
from urllib.parse import unquote

Json = dict[str, object]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter with the schema of its value."""

    name: str
    place: str
    required: bool
    schema: Json


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: `id` is GitHub's, `template` the path with its placeholders."""

    id: str
    method: str
    template: str
    pattern: re.Pattern[str]
    parameters: tuple[Parameter, ...]
    body: Json | None
    body_required: bool
    responses: dict[str, Json | None]

    def path_values(self, path: str) -> dict[str, str] | None:
        """The decoded values of the placeholders when the path is this operation's, else None."""
        match = self.pattern.fullmatch(path)
        return None if match is None else {name: unquote(value) for name, value in match.groupdict().items()}


@cache
def components() -> Json:
    """The shared parts of the document that `$ref` points into."""
    return cast("Json", _document()["components"])


@cache
def operations() -> tuple[Operation, ...]:
    """All operations, those with the most literal path first so that the first match is the right one."""
    found = [
        _operation(method.upper(), template, cast("Json", described))
        for template, methods in cast("dict[str, Json]", _document()["paths"]).items()
        for method, described in methods.items()
    ]
    return tuple(sorted(found, key=lambda operation: _looseness(operation.template)))


def match(method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
    """The operation that a request is for, with its path parameters, or None when GitHub has none like it."""
    for operation in operations():
        if operation.method == method:
            values = operation.path_values(path)
            if values is not None:
                return operation, values
    return None


@cache
def _document() -> Json:
    text = resources.files("simulator.openapi").joinpath("github.json").read_text(encoding="utf-8")
    return cast("Json", json.loads(text))


def _looseness(template: str) -> tuple[int, int]:
    segments = template.strip("/").split("/")
    return sum(segment.startswith("{") for segment in segments[3:]) - len(segments), len(_PLACEHOLDER.findall(template))


def _operation(method: str, template: str, described: Json) -> Operation:
    listed = [_follow(one) for one in cast("list[Json]", described.get("parameters", []))]
    many = {str(one["name"]) for one in listed if one.get("x-multi-segment")}
    pattern = "".join(f"(?P<{part}>{_shape(part, many)})" if at % 2 else re.escape(part) for at, part in enumerate(_PLACEHOLDER.split(template)))
    request = cast("Json", described.get("requestBody", {}))
    return Operation(
        id=str(described["operationId"]),
        method=method,
        template=template,
        pattern=re.compile(pattern, re.DOTALL),
        parameters=tuple(Parameter(str(one["name"]), str(one["in"]), bool(one.get("required")), cast("Json", one["schema"])) for one in listed),
        body=_json_schema(request),
        body_required=bool(request.get("required")),
        responses={status: _json_schema(_follow(response)) for status, response in cast("dict[str, Json]", described["responses"]).items()},
    )


def _shape(placeholder: str, many_segments: set[str]) -> str:
    if placeholder == "path":  # the root of a repository has contents too
        return ".*"
    return ".+" if placeholder in many_segments else "[^/]+"


def _follow(described: Json) -> Json:
    reference = described.get("$ref")
    if reference is None:
        return described
    found: object = _document()
    for part in str(reference).removeprefix("#/").split("/"):
        found = cast("Json", found)[part]
    return cast("Json", found)


def _json_schema(described: Json) -> Json | None:
    content = cast("dict[str, Json]", described.get("content", {}))
    media = content.get("application/json")
    return None if media is None else cast("Json", media.get("schema"))
