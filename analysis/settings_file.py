"""The configuration file of a repository, from bytes to ``Settings``: pure, and strict about every key.

It is the table ``[tool.preflight]`` of ``pyproject.toml``, or ``.preflight.toml``, which goes before it and may leave
out ``[tool.preflight]``.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

from analysis.finding import Severity
from analysis.nearest import did_you_mean
from analysis.settings import Absolute, CommentStyle, EntrySettings, FailOn, Relative, Scalar, Settings, Threshold

#: In the order in which they are looked for.
FILES = (".preflight.toml", "pyproject.toml")
#: A configuration is written by hand; more than this is not one.
MAX_BYTES = 1_000_000

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(%|[KMGT]i?B)", re.ASCII)
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class SettingsError(Exception):
    """A configuration that does not hold; the message names the file, the key and what to do."""


class UnknownRuleError(Exception):
    """A name that no rule has; the message says where it stands and names the nearest known one."""


def settings_of(contents: Mapping[str, bytes]) -> Settings:
    """The configuration among ``contents`` (bytes by path from the root), or the defaults. Raises SettingsError."""
    for path in FILES:
        if path in contents:
            table = _table(path, contents[path])
            if table is not None:
                return _settings(path, table)
    return Settings()


def _table(path: str, raw: bytes) -> dict[str, Any] | None:
    """The table that holds the keys; None if ``pyproject.toml`` has none."""
    if len(raw) > MAX_BYTES:
        raise SettingsError(f"{path} is larger than {MAX_BYTES // 1_000_000} MB: it is not a configuration")
    try:
        document = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8: byte {error.start} cannot be read") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    except ValueError as error:  # Python refuses to make a number of thousands of digits
        raise SettingsError(f"{path} holds a number that is too long to be read") from error
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deep to be a configuration") from error
    tool = document.get("tool")
    inner = tool.get("preflight") if isinstance(tool, dict) else None
    if inner is None:
        return document if path == ".preflight.toml" else None
    if not isinstance(inner, dict):
        raise SettingsError(f"{path}: tool.preflight must be a table")
    return inner


def _settings(path: str, table: dict[str, Any]) -> Settings:
    return Settings(**_read(path, "", table, _KEYS))


def _read(path: str, prefix: str, table: dict[str, Any], keys: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Field values by field name. Raises SettingsError for a key that is unknown or a value that does not fit."""
    values = {}
    for key, value in table.items():
        if key not in keys:
            raise SettingsError(f"{path}: unknown key {prefix}{key}{did_you_mean(key, keys)}")
        try:
            values[key.replace("-", "_")] = keys[key](value)
        except ValueError as error:
            raise SettingsError(f"{path}: {prefix}{key} {error}") from error
    return values


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004  # one error for every value that does not fit
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError('must be a list of strings, such as ["a", "b"]')
    return tuple(value)


def _arguments(value: object) -> tuple[str, ...]:
    return tuple(shlex.split(value)) if isinstance(value, str) else _strings(value)


def _mapping(read: Callable[[Any], T]) -> Callable[[Any], Mapping[str, T]]:
    def reader(value: object) -> Mapping[str, T]:
        if not isinstance(value, dict):
            raise ValueError("must be a table")  # noqa: TRY004  # as above
        values = {}
        for key, each in value.items():
            try:
                values[key] = read(each)
            except ValueError as error:
                raise ValueError(f'of "{key}" {error}') from error
        return MappingProxyType(values)

    return reader


def _choice(kind: type[E]) -> Callable[[Any], E]:
    def reader(value: object) -> E:
        known = [str(each.value) for each in kind]
        if value not in known:
            raise ValueError(f"must be one of {', '.join(known)}{did_you_mean(str(value), known)}")
        return kind(value)

    return reader


def _severity(value: object) -> Severity:
    known = [each.label for each in Severity]
    if value not in known:
        raise ValueError(f"must be one of {', '.join(known)}{did_you_mean(str(value), known)}")
    return Severity[str(value).upper()]


def _scalar(value: object) -> Scalar:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("must be a number, a string, true or false")  # noqa: TRY004  # as above
    return value


def _threshold(value: object) -> Threshold:
    matched = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if matched is None:
        raise ValueError('must be a share or a size, such as "5%" or "512 MiB"')
    number, unit = float(matched[1]), matched[2]
    return Relative(number / 100) if unit == "%" else Absolute(round(number * _UNITS[unit[0]]))


def _entries(value: object) -> Mapping[str, EntrySettings]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ValueError('must hold one table for each entry point, such as [tool.preflight.entry."train.py"]')
    return MappingProxyType({path: EntrySettings(**_read_entry(path, table)) for path, table in value.items()})


def _read_entry(path: str, table: dict[str, Any]) -> dict[str, Any]:
    try:
        return _read(f'of "{path}"', "", table, _ENTRY_KEYS)
    except SettingsError as error:
        raise ValueError(str(error)) from error


_ENTRY_KEYS: Mapping[str, Callable[[Any], Any]] = {"gpus": _strings, "assume": _mapping(_scalar), "args": _arguments}

_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "gpus": _strings,
    "entry-points": _strings,
    "include": _strings,
    "exclude": _strings,
    "select": _strings,
    "ignore": _strings,
    "per-file-ignores": _mapping(_strings),
    "severity": _mapping(_severity),
    "fail-on": _choice(FailOn),
    "comment": _choice(CommentStyle),
    "suggestions": _boolean,
    "drafts": _boolean,
    "memory-threshold": _threshold,
    "sarif": _boolean,
    "assume": _mapping(_scalar),
    "entry": _entries,
}
