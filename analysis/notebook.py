"""A notebook as one source: its code cells one after another, as they run from top to bottom, each position told by cell and line.

Magics and lines for the shell become Python that does nothing, in as many characters, so that all other columns stay. Cells are counted from
1 as a reader counts them, those that hold text included.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from analysis.source import Cell, NotAnalysed, SourceFile, read

ENDING = ".ipynb"
#: Outputs such as images make notebooks large; of what they hold, only the code is parsed.
MAX_BYTES = 10_000_000
#: Cell magics whose cell is Python that runs in the notebook's own namespace.
_PYTHON_CELLS = frozenset({"capture", "debug", "memit", "mprun", "prun", "python", "python3", "time", "timeit"})
#: Line magics in front of a statement that they run.
_RUNNING = re.compile(r"([ \t]*)(%(?:time|prun|memit)[ \t]+)(?![-\s])")
_ASSIGNED = re.compile(r"([ \t]*[\w.,\[\]'\" \t]+=[ \t]*)([%!].*)")
_MAGIC = re.compile(r"([ \t]*)([%!?].*|[\w.%*]+\?{1,2}[ \t]*)")


def read_notebook(path: str, raw: bytes) -> SourceFile | NotAnalysed:
    """The code cells of ``raw``, the bytes of ``path``."""
    if len(raw) > MAX_BYTES:
        return NotAnalysed(path, f"larger than {MAX_BYTES // 1_000_000} MB")
    document = _document(path, raw)
    if isinstance(document, NotAnalysed):
        return document
    texts, cells, size = [], [], 0
    for number, text in _code(document):
        content = _python(text).rstrip("\n").encode("utf-8", "replace") + b"\n"
        cells.append(Cell(number, size))
        texts.append(content)
        size += len(content)
    source = read(path, b"".join(texts))
    if isinstance(source, NotAnalysed):
        return _in_its_cell(source, texts, cells)
    return replace(source, cells=tuple(cells), encoding="JSON strings")


def _document(path: str, raw: bytes) -> dict[str, Any] | NotAnalysed:
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return NotAnalysed(path, f"is not UTF-8: byte {error.start} cannot be read")
    except json.JSONDecodeError as error:
        return NotAnalysed(path, f"is not a notebook: not valid JSON: {error.msg}", error.lineno)
    except (RecursionError, ValueError):
        return NotAnalysed(path, "is not a notebook: its JSON is nested too deep or holds numbers that are too long")
    if not isinstance(document, dict) or not isinstance(document.get("cells", document.get("worksheets")), list):
        return NotAnalysed(path, "is not a notebook: its JSON holds no list of cells")
    language = _language(document)
    return document if language in {"", "python", "ipython"} else NotAnalysed(path, f"is a notebook in {language}, not in Python")


def _language(document: dict[str, Any]) -> str:
    """What its kernel speaks, in lower case; "" where it does not say."""
    metadata = document.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(table) if isinstance(metadata, dict) else None
        name = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(name, str):
            return name.lower()
    return ""


def _code(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The number and text of each code cell, in the forms of nbformat 4 and 3."""
    sheets = document.get("worksheets") if "cells" not in document else [document]
    cells = [cell for sheet in sheets or () if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            text = cell.get("source", cell.get("input", ""))
            yield number, "".join(map(str, text)) if isinstance(text, list) else str(text)


def _python(text: str) -> str:
    """A cell as Python with the same lines and columns; blank lines where it is in another language."""
    lines = text.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and (first[2:].split() or [""])[0] not in _PYTHON_CELLS:
        return "\n" * (len(lines) - 1)
    if not any(_MAGIC.match(line) or _ASSIGNED.match(line) for line in lines) or _parses(text):
        return text
    made, continued = [], False
    for line in lines:
        plain = "" if continued else _plain(line)
        continued = (continued or plain != line) and line.rstrip().endswith("\\")
        made.append(plain)
    return "\n".join(made)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _plain(line: str) -> str:
    """The line without its magic."""
    if found := _RUNNING.match(line):
        return f"{found[1]}0{' ' * (len(found[2]) - 2)};{line[found.end() :]}"
    if found := _MAGIC.fullmatch(line) or _ASSIGNED.fullmatch(line):
        return f"{found[1]}0{'#' if len(found[2]) > 1 else ''}{found[2][2:]}"
    return line


def _in_its_cell(failed: NotAnalysed, texts: list[bytes], cells: list[Cell]) -> NotAnalysed:
    """The same failure with the cell that holds its line."""
    line = failed.line
    for text, cell in zip(texts, cells, strict=True):
        length = text.count(b"\n")
        if line <= length:
            return NotAnalysed(failed.path, f"cell {cell.number} is {failed.reason}" if failed.reason.startswith("not ") else failed.reason, line)
        line -= length
    return failed
