"""``pathlib``: paths as texts, so that whatever takes a name takes them, with the files of the repository behind them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import Call, GuestList, HostFunction, HostValue, Symbol, Value
from estimator.library.folders import inside, matching

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


class PathText(str, HostValue):
    """A path of which the text is known."""

    __slots__ = ("machine",)

    machine: Machine

    def _made(self, text: str) -> PathText:
        return path_of(self.machine, text)

    def __truediv__(self, other: Any) -> Value:
        return self._made(posixpath.join(self, other)) if isinstance(other, str) else Symbol("a path", self.machine.span)

    def __rtruediv__(self, other: Any) -> Value:
        return self._made(posixpath.join(other, self)) if isinstance(other, str) else Symbol("a path", self.machine.span)

    def joinpath(self, *parts: str) -> Value:
        """One below another."""
        return self._made(posixpath.join(self, *parts)) if all(isinstance(part, str) for part in parts) else Symbol("a path", self.machine.span)

    @property
    def parent(self) -> PathText:
        """The folder it is in."""
        return self._made(posixpath.dirname(self) or ".")

    @property
    def parents(self) -> list[PathText]:
        """The folders it is in, the nearest first; above the repository everything is its top."""
        found = [self.parent]
        while len(found) <= self.count("/") + 1:
            found.append(found[-1].parent)
        return found

    @property
    def name(self) -> str:
        """Its last part."""
        return posixpath.basename(self)

    @property
    def stem(self) -> str:
        """Its last part without what stands after the last dot."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """What stands after the last dot, with it."""
        return posixpath.splitext(self)[1]

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts."""
        return tuple(self.split("/"))

    def with_name(self, name: str) -> PathText:
        """Another file of the same folder."""
        return self._made(posixpath.join(posixpath.dirname(self), name))

    def with_suffix(self, suffix: str) -> PathText:
        """The same with another ending."""
        return self._made(posixpath.splitext(self)[0] + suffix)

    def resolve(self, *_: Any, **__: Any) -> PathText:
        """The same: the repository is all there is."""
        return self

    absolute = expanduser = resolve

    def as_posix(self) -> str:
        """Its text."""
        return str(self)

    def is_absolute(self) -> bool:
        """Whether it begins at the root."""
        return self.startswith("/")

    def exists(self) -> Any:
        """Whether the repository has it; whether earlier runs, or a person, have made what it has not, is not known."""
        path = posixpath.normpath(self)
        there = path in self.machine.snapshot.paths or any(each.startswith(f"{path}/") for each in self.machine.snapshot.paths)
        return there or Symbol(f"whether {self} exists", self.machine.span, self.machine.stamp)

    is_dir = exists

    def is_file(self) -> Any:
        """The same of a file: a folder of the repository is none."""
        return False if posixpath.normpath(self) not in self.machine.snapshot.paths and inside(self.machine, self) else self.exists()

    def open(self, *_: Any, **__: Any) -> Value:
        """The file, opened."""
        return self.machine.open_file(str(self), self.machine.span)

    def read_text(self, *_: Any, **__: Any) -> Value:
        """The whole text if the repository holds the file."""
        return self.machine.open_file(str(self), self.machine.span).read()

    read_bytes = read_text

    def mkdir(self, *_: Any, **__: Any) -> None:
        """Nothing happens."""

    unlink = touch = write_text = write_bytes = rmdir = mkdir

    def glob(self, pattern: str) -> Value:
        """Files and folders of the repository that a pattern names; which there are in a folder that it does not hold is not known."""
        found = matching(self.machine, self, pattern)
        if found is None:
            return Symbol(f"the files {self}/{pattern}", self.machine.span, self.machine.stamp)
        return GuestList(self._made(posixpath.join(self, each)) for each in found)

    def rglob(self, pattern: str) -> Value:
        """The same at any depth."""
        return self.glob(f"**/{pattern}")

    def iterdir(self) -> Value:
        """What lies in the folder."""
        return self.glob("*")


def path_of(machine: Machine, text: str) -> PathText:
    """The path of that text."""
    made = PathText(text)
    made.machine = machine
    return made


def _path(call: Call) -> Value:
    if all(isinstance(part, str) for part in call.args):
        return path_of(call.machine, posixpath.join(*call.args) if call.args else ".")
    return Symbol("a path", call.span, call.machine.stamp)


def _here(call: Call) -> Value:
    return path_of(call.machine, ".")


NAMES: dict[str, Value] = {
    **{f"pathlib.{name}": HostFunction(f"pathlib.{name}", _path) for name in ("Path", "PurePath", "PosixPath", "PurePosixPath")},
    **{f"pathlib.Path.{name}": HostFunction(f"pathlib.Path.{name}", _here) for name in ("cwd", "home")},
}
