"""A catalog on the terminal or as JSON: what ``rules``, ``gpus`` and ``models`` share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from bot.cli.parser import Parser
from bot.cli.terminal import Paint, Style
from estimator.report.wording import size

#: Of the other names of a row; JSON lists them all.
_NAMES_SHOWN = 4

Row = Mapping[str, object]


def print_listing(command: str, docstring: str | None, words: Sequence[str], rows: Sequence[Row], stream: TextIO) -> None:
    """Print ``rows`` as the options in ``words`` ask: the key of the JSON list is the command's name."""
    print_rows(command, listing_parser(command, docstring).parse_args(words).format, rows, stream)


def listing_parser(command: str, docstring: str | None) -> Parser:
    """The options that every catalog has."""
    parser = Parser(command, docstring)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    return parser


def print_rows(command: str, form: str, rows: Sequence[Row], stream: TextIO) -> None:
    """Print ``rows`` as ``text`` or ``json``."""
    if form == "json":
        print(json.dumps({"version": 1, command: list(rows)}, indent=2), file=stream)
        return
    paint = Paint.of(stream)
    table = [[_cell(name, value) for name, value in row.items()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *rest in table:
        cells = [f"{cell:{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([paint(f"{name:{widths[0]}}", Style.BOLD), *cells]).rstrip(), file=stream)


def _cell(name: str, value: object) -> str:
    match value:
        case int() if name.endswith("_bytes"):
            return f"{size(value)} {name.removesuffix('_bytes')}"
        case list():
            names = [str(each["name"]) if isinstance(each, dict) else str(each) for each in value]
            return ", ".join([*names[:_NAMES_SHOWN], *(["…"] if len(names) > _NAMES_SHOWN else [])])
        case _:
            return str(value)
