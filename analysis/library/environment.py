"""The process around the script: environment variables (the launcher's among them), paths, time, command line."""

from __future__ import annotations

from analysis.interpreter.exceptions import EXCEPTIONS
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Call, HostFunction, Instance, Value
from analysis.library.distributed import rank
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ranks import WORLD_SIZE

SUBJECT = Subject(
    examples=(
        Example(
            """
import os
import torch

if int(os.environ.get("WORLD_SIZE", 1)) > 1:
    torch.distributed.init_process_group("nccl")
if __name__ == "__main__":
    torch.zeros(1).item()
""",
            ("item",),
        ),
    ),
)

#: Variables that the launcher sets: those that differ between ranks, and those that count them.
_RANKS = frozenset(
    {"RANK", "LOCAL_RANK", "SLURM_PROCID", "SLURM_LOCALID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "GROUP_RANK", "NODE_RANK"}
)
_SIZES = frozenset({"WORLD_SIZE", "LOCAL_WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
_ADDRESSES = frozenset({"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"})

_ENVIRON = SUBJECT.cls("os._Environ")
SUBJECT.object("os.environ", "os._Environ")
SUBJECT.object("sys.path", "unknown.Reporter")
SUBJECT.object("sys.modules", "unknown.Reporter")
SUBJECT.values.update({"sys.argv": ("script.py",), "sys.version_info": (3, 12, 0), "sys.platform": "linux", "os.name": "posix"})
SUBJECT.values.update({"os.sep": "/", "os.linesep": "\n", "os.pathsep": ":"})


def _variable(call: Call, name: Value, default: Value) -> Value:
    domain = domain_of(call)
    set_here = call.machine.state.setdefault("environment", {})
    if isinstance(name, str):
        if name in set_here:
            return set_here[name]
        if name in _RANKS and name != "NODE_RANK" and domain.is_distributed():
            return rank(call)
        if name in _SIZES and domain.is_distributed():
            return str(WORLD_SIZE)
        if name in _RANKS | _SIZES | _ADDRESSES and not domain.is_distributed():
            return ("1" if name in _SIZES else "0") if default is _REQUIRED else default
    return domain.casting.symbol(f"the environment variable {name}", None, ()) if default is _REQUIRED or default is None else default


_REQUIRED = object()


@_ENVIRON.method("get", "setdefault")
def _get(call: Call) -> Value:
    return _variable(call, call.get(1, "key"), call.get(2, "default"))


@SUBJECT.function("os.getenv")
def _getenv(call: Call) -> Value:
    return _variable(call, call.get(0, "key"), call.get(1, "default"))


@_ENVIRON.method("__getitem__")
def _item(call: Call) -> Value:
    return _variable(call, call.args[1], _REQUIRED)


@_ENVIRON.method("__setitem__")
def _set(call: Call) -> Value:
    if isinstance(call.args[1], str):
        call.machine.state.setdefault("environment", {})[call.args[1]] = call.args[2]


@_ENVIRON.method("__contains__")
def _contains(call: Call) -> Value:
    name, domain = call.args[1], domain_of(call)
    if name in call.machine.state.get("environment", {}):
        return True
    if name in _RANKS | _SIZES | _ADDRESSES:
        return not str(name).startswith(("SLURM", "OMPI", "PMI")) and domain.is_distributed()
    return domain.casting.symbol(f"whether {name} is set", None, ())


@_ENVIRON.method("__getattr__")
def _other(call: Call) -> Value:
    name = call.args[1]
    return HostFunction(name, lambda inner: domain_of(inner).casting.symbol(f"os.environ.{name}()", inner.span, ()))


def _unknown(dotted: str) -> HostFunction:
    """Something that depends on the machine the program runs on."""
    return HostFunction(dotted, lambda call: domain_of(call).casting.result(call, f"{dotted}()"))


#: Packages of the standard library that tell nothing about training and change nothing of it.
_HARMLESS = """
os sys time datetime pathlib shutil glob socket subprocess tempfile platform resource psutil signal threading multiprocessing gc io pickle hashlib uuid re
string textwrap traceback inspect importlib types operator struct zipfile tarfile gzip csv urllib http getpass fcntl errno queue concurrent asyncio
statistics decimal fractions heapq bisect pprint atexit weakref
"""


@SUBJECT.below(*_HARMLESS.split())
def _standard(dotted: str) -> Value:
    """Other parts of the standard library tell nothing about training and change nothing of it."""
    return _unknown(dotted)


@SUBJECT.function(
    "tempfile.mkdtemp",
    "tempfile.mkstemp",
    "tempfile.gettempdir",
    "tempfile.TemporaryDirectory",
    "tempfile.NamedTemporaryFile",
    "os.getpid",
    "uuid.uuid4",
    "socket.gethostname",
)
def _own(call: Call) -> Value:
    """A name that each process has of its own."""
    domain = domain_of(call)
    return domain.casting.symbol("a name of the process's own", call.span, (), varying=domain.is_distributed())


@SUBJECT.function("sys.exit", "os._exit", "builtins.exit")
def _exit(call: Call) -> Value:
    ending = Instance(EXCEPTIONS["SystemExit"], call.span)
    ending.fields["args"] = tuple(call.args)
    raise GuestRaise(ending, call.span)
