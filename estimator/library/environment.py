"""The process around a script: its variables, the files that are there, the ranks that were started."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Any

from analysis.interpreter.values import Call, Class, HostFunction, Instance, Symbol, Value
from estimator.library.folders import inside
from estimator.library.language import domain_of
from estimator.tape.device import CUDA

#: What a launcher sets for one process on one machine.
_LAUNCHED = {"RANK": "0", "LOCAL_RANK": "0", "GROUP_RANK": "0", "NODE_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "LOCAL_WORLD_SIZE": "1"}


def world_size(call: Call) -> int:
    """How many processes train together: what the caller sets, else what the script was seen to ask for, else one."""
    domain = domain_of(call)
    devices = domain.request.overrides.get("devices", domain.observed.first("devices")[0])
    return devices if isinstance(devices, int) else 1


def _launched(call: Call, name: Value) -> Value:
    """The variable as a launcher of several processes sets it; None if it sets none of that name."""
    if name == "WORLD_SIZE":
        return str(world_size(call))
    return _LAUNCHED.get(name) if isinstance(name, str) else None


def _asked(call: Call) -> Value:
    """``os.environ.get(name, default)``."""
    found = _launched(call, call.args[0]) if world_size(call) > 1 else None
    return call.get(1, "default") if found is None else found


def _demanded(call: Call) -> Value:
    """``os.environ[name]``: a variable that must be there is a launcher's."""
    found = _launched(call, call.args[1])
    return Symbol(f"the environment variable {call.args[1]}", call.span) if found is None else found


def _method(function: Callable[[Call], Value]) -> Callable[[Call], Value]:
    return lambda call: function(Call(call.machine, call.args[1:], call.kwargs, call.span))


def _environment() -> Instance:
    """``os.environ``. A variable that is only asked for is not set, so that its default decides; what a script sets is for others."""
    methods: dict[str, Callable[[Call], Value]] = {
        "__getitem__": _demanded,
        "get": _method(_asked),
        "__contains__": lambda call: world_size(call) > 1 and _launched(call, call.args[1]) is not None,
        "setdefault": lambda call: call.args[2],
        "copy": lambda call: call.args[0],
        **dict.fromkeys(("__setitem__", "__delitem__", "update", "pop"), lambda _call: None),
    }
    return Instance(Class("_Environ", "os._Environ", (), {name: HostFunction(f"os.environ.{name}", run) for name, run in methods.items()}))


def _there(kinds: str) -> HostFunction:
    """``os.path.exists`` and its kin, of ``kinds`` "file", "folder" or both.

    What the repository does not hold may be there or not: where a script ends in an error otherwise it is, else what earlier runs would have left is
    taken not to be there, since a run from the start needs most memory.
    """

    def run(call: Call) -> Value:
        path = call.args[0]
        if not isinstance(path, str):
            return Symbol("whether a file is there", call.span)
        is_file = posixpath.normpath(path) in call.machine.snapshot.paths
        is_folder = not is_file and inside(call.machine, path) is not None
        if is_file or is_folder:
            return (is_file and "file" in kinds) or (is_folder and "folder" in kinds)
        return Symbol(f"whether {path} is there", call.span, call.machine.stamp)

    return HostFunction("os.path.exists", run)


def _joined(call: Call) -> Value:
    if all(isinstance(part, str) for part in call.args):
        return posixpath.join(*call.args)
    return Symbol("a path", call.span)


def _relative(call: Call) -> Value:
    """``os.path.relpath``: the repository's top is where the script is started."""
    path, start = call.get(0, "path"), call.get(1, "start", ".")
    if isinstance(path, str) and isinstance(start, str) and path.startswith("/") == start.startswith("/"):
        return posixpath.relpath(f"/{path}", f"/{start}")
    return Symbol("a relative path", call.span)


def _on_path(function: Any) -> HostFunction:
    """A function of ``os.path`` on a known path."""
    name = f"os.path.{function.__name__}"
    return HostFunction(name, lambda call: function(call.args[0]) if isinstance(call.args[0], str) else Symbol("a part of a path", call.span))


def _nothing(*_: Any, **__: Any) -> None:
    """A call without an effect on memory."""


NAMES: dict[str, Value] = {
    "os.environ.get": HostFunction("os.environ.get", _asked),
    "os.getenv": HostFunction("os.getenv", _asked),
    "os.environ": _environment(),
    "os.path.exists": _there("file or folder"),
    "os.path.isfile": _there("file"),
    "os.path.isdir": _there("folder"),
    "os.path.join": HostFunction("os.path.join", _joined),
    "os.path.relpath": HostFunction("os.path.relpath", _relative),
    **{f"os.path.{name}": _on_path(getattr(posixpath, name)) for name in ("basename", "dirname", "splitext", "normpath")},
    **dict.fromkeys(("os.path.abspath", "os.path.realpath", "os.path.expanduser"), _on_path(posixpath.normpath)),
    **{f"os.{name}": _nothing for name in ("makedirs", "mkdir", "remove", "chdir", "rename")},
    "preflight_host.world_size": HostFunction("world_size", world_size),
    "torch.accelerator.current_accelerator": lambda *_, **__: CUDA,
    "torch.accelerator.current_device_index": lambda *_: 0,
    "torch.accelerator.device_count": HostFunction("torch.accelerator.device_count", world_size),
    "torch.cuda.device_count": HostFunction("torch.cuda.device_count", world_size),
    "torch.accelerator.is_available": lambda: True,
    **{f"torch.accelerator.{name}": _nothing for name in ("set_device_index", "set_device_idx", "synchronize", "empty_cache")},
}
