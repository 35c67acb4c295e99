"""Files that guest code opens: those of the snapshot can be read, and their text executed in place."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from analysis.interpreter.frames import Frame
from analysis.interpreter.values import HostValue, Module, Symbol, Value
from analysis.source import NotAnalysed, read

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


class FileText(str):
    """The text of a file of the snapshot, which remembers its path."""

    __slots__ = ("path",)

    path: str


class Unread(Symbol):
    """The text of a file that the snapshot does not hold."""

    __slots__ = ()


class OpenFile(HostValue):
    """What ``open`` returns; ``name`` as it is written. Nothing is ever written to it."""

    __slots__ = ("name", "span", "text")

    def __init__(self, text: FileText | None, span: Span, name: str = "a file") -> None:
        self.text = text
        self.span = span
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def read(self, *_size: Value) -> Value:
        """The whole text if the snapshot holds the file."""
        return Unread(f"the content of {self.name}", self.span) if self.text is None else self.text

    def readlines(self) -> Value:
        """Its lines."""
        return Symbol(f"the lines of {self.name}", self.span) if self.text is None else self.text.splitlines(keepends=True)

    def write(self, *_text: Value) -> None:
        """Nothing happens."""

    def close(self) -> None:
        """Nothing happens."""

    def flush(self) -> None:
        """Nothing happens."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def __iter__(self) -> Iterator[Value]:
        if self.text is None:
            raise TypeError("how many lines it has is not known")
        return iter(self.text.splitlines(keepends=True))


def open_file(machine: Machine, path: Value, span: Span) -> OpenFile:
    """``open(path)``: looked for beside the entry script, then from the top."""
    if isinstance(path, str):
        for folder in (posixpath.dirname(machine.entry_path), ""):
            name = posixpath.normpath(posixpath.join(folder, path))
            raw = machine.snapshot.contents.get(name)
            if raw is not None:
                text = FileText(raw.decode("utf-8", "replace"))
                text.path = name
                return OpenFile(text, span)
    return OpenFile(None, span, path if isinstance(path, str) else "a file")


def run_text(machine: Machine, code: Value, span: Span) -> Value:
    """``exec``: the text of a file of the snapshot runs in the module that executes it; other text is not followed."""
    if not isinstance(code, FileText) or machine.frame is None:
        machine.note(span, "executes text that is not a file of the repository")
        return Symbol("the result of executed text", span, machine.stamp)
    source = read(code.path, code.encode("utf-8"))
    if isinstance(source, NotAnalysed):
        machine.note(span, f"executes {code.path}, which cannot be analysed: {source.reason}")
        return None
    here = machine.frame
    module = Module(here.module.name, source, here.module.vars)
    frame = Frame(module, here.vars if here.names is None else dict(here.vars), here.cells, qualname=here.qualname, stamp=here.stamp)
    machine.frame = frame
    body: list[ast.stmt] = source.tree.body
    machine.execute(body, frame)
    machine.frame = here
    return None
