"""``argparse``: a namespace of defaults. Switches may be on or off, ranks differ, and what has no default is unknown."""

from __future__ import annotations

from analysis.interpreter.builtins import BUILTINS
from analysis.interpreter.values import Call, External, GuestList, Instance, Value
from analysis.library.configured_windows import given
from analysis.library.distributed import rank
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.required import HANDED_ON, asked_for, handed_on
from analysis.source import SourceFile

SUBJECT = Subject(
    examples=(
        Example(
            """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default="2")
parser.add_argument("--quiet", action="store_true")
parser.add_argument("--averaged", action="store_true", default=True)
args = parser.parse_args()
for step in range(args.steps):
    torch.zeros(1).item()
if not args.averaged:
    torch.zeros(1).item()
""",
            ("item", "item"),
        ),
        Example(
            """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--scp", default=None)
parser.add_argument("--folder", default=None)
args = parser.parse_args()
if (args.scp is not None and args.folder is not None) or (args.scp is None and args.folder is None):
    raise ValueError("one of the two")
torch.zeros(1).item()
""",
            ("item",),
        ),
        Example(
            """
import argparse
import torch

def options():
    parser = argparse.ArgumentParser("options", add_help=False)
    parser.add_argument("--steps", type=int, default=2)
    return parser

parser = argparse.ArgumentParser("training", parents=[options()])
args = parser.parse_args()
for step in range(args.steps):
    torch.zeros(1).item()
""",
            ("item", "item"),
        ),
        Example(
            """
import argparse
import torch

def as_bool(text):
    return text.lower() in ("yes", "true")

parser = argparse.ArgumentParser()
parser.add_argument("--report", type=as_bool, default=False)
parser.add_argument("--quiet", type=as_bool, default=True)
args = parser.parse_args()
if args.report:
    torch.zeros(1).item()
if not args.quiet:
    torch.zeros(1).item()
""",
            ("item",),
        ),
        Example(
            """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--window", type=int, default=1)
args = parser.parse_args()
opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
for i in range(9):
    if (i + 1) % args.window == 0:
        opt.step()
""",
            ("optimizer_built SGD", "step SGD", "step SGD"),
        ),
    ),
)

#: Options that a launcher sets on each rank.
_RANKS = frozenset({"local_rank", "rank", "gpu"})
_OPTIONS = "parser: options"

_PARSER = SUBJECT.cls("argparse.ArgumentParser")
_NAMESPACE = SUBJECT.cls("argparse.Namespace")
for _other in ("configargparse.ArgumentParser", "configargparse.ArgParser", "transformers.HfArgumentParser"):
    SUBJECT.cls(_other, "argparse.ArgumentParser")


@_PARSER.method("__init__")
def _init(call: Call) -> Value:
    options: dict[str, dict[str, Value]] = {}
    parents = call.kwargs.get("parents")
    for each in parents if isinstance(parents, (list, tuple)) else ():
        options |= each.fields.get(_OPTIONS, {}) if isinstance(each, Instance) else {}
    call.args[0].fields.update({_OPTIONS: options, "parser: dataclasses": call.get(1, "dataclass_types")})


@_PARSER.method("add_argument")
def _add(call: Call) -> Value:
    names = [name for name in call.args[1:] if isinstance(name, str)]
    long = next((name for name in names if name.startswith("--")), names[0] if names else None)
    dest = call.kwargs.get("dest") or (long.lstrip("-").replace("-", "_") if long else None)
    if isinstance(dest, str):
        call.args[0].fields.setdefault(_OPTIONS, {})[dest] = dict(call.kwargs)


@_PARSER.method("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser")
def _group(call: Call) -> Value:
    return call.args[0]


@_PARSER.method("set_defaults")
def _defaults(call: Call) -> Value:
    for name, value in call.kwargs.items():
        call.args[0].fields.setdefault(_OPTIONS, {}).setdefault(name, {})["default"] = value


@_PARSER.method("get_default")
def _default(call: Call) -> Value:
    return _value(call, call.args[1], call.args[0].fields.get(_OPTIONS, {}).get(call.args[1], {}))


@_PARSER.method("print_help", "error", "exit", "register", "print_usage", "format_help")
def _nothing(_call: Call) -> Value:
    return None


@_PARSER.method("parse_args", "parse_intermixed_args")
def _parse(call: Call) -> Value:
    held = call.kwargs.get("namespace")
    namespace: Instance = held if isinstance(held, Instance) else call.machine.instance(domain_of(call).library.cls("argparse.Namespace"), call.span)
    source = call.machine.snapshot.source(call.span.path) if call.span.path in call.machine.snapshot.contents else None
    for name, options in call.args[0].fields.get(_OPTIONS, {}).items():
        value = _value(call, name, options)
        asked = _given(call, name, value, source) if isinstance(source, SourceFile) else value
        call.machine.heap.write(namespace.fields, name, asked)
    return namespace


def _given(call: Call, name: str, value: Value, source: SourceFile) -> Value:
    """The value of an option that has to be given, or that tells something only where it is; else its default."""
    domain = domain_of(call)
    asked = value is None and name in asked_for(source)
    if value in (None, "") and domain.world.flags and not domain.world.collecting and name in handed_on(source):
        return domain.casting.symbol(f"--{name}{HANDED_ON}", call.span, ())
    if asked:
        return domain.casting.symbol(f"--{name}", call.span, ())
    return given(domain, name, value)


@_PARSER.method("parse_known_args")
def _parse_known(call: Call) -> Value:
    rest = GuestList()
    rest.span, rest.stamp = call.span, call.machine.stamp
    return _parse(call), rest


@_PARSER.method("parse_args_into_dataclasses", "parse_json_file", "parse_yaml_file", "parse_dict")
def _into_dataclasses(call: Call) -> Value:
    kinds = call.args[0].fields.get("parser: dataclasses")
    listed = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    return tuple(call.machine.call(kind, [], {}, call.span) for kind in listed)


def _value(call: Call, name: str, options: dict[str, Value]) -> Value:
    """What the option is without being given; a switch and what has no default may be anything."""
    domain = domain_of(call)
    action, kind, default = options.get("action"), options.get("type"), options.get("default")
    if name in _RANKS and domain.is_distributed():
        return rank(call)
    if action in {"store_true", "store_false"} and options.get("default") is (action == "store_true"):
        return options["default"]  # giving it changes nothing
    if action in {"store_true", "store_false"} or (isinstance(action, External) and action.dotted.endswith("BooleanOptionalAction")):
        return domain.casting.symbol(f"--{name}", call.span, ())
    if default is False and kind is not None and kind is not BUILTINS["bool"]:  # ``type=str2bool``: a switch that is written with a word
        return domain.casting.symbol(f"--{name}", call.span, ())
    if "default" in options:
        return call.machine.call(kind, [default], {}, call.span) if isinstance(default, str) and kind is not None else default
    unknown = options.get("required") is True or "type" in options
    return domain.casting.symbol(f"--{name}", call.span, ()) if unknown and not name.startswith("resume") else None


@_NAMESPACE.method("__init__")
def _namespace(call: Call) -> Value:
    call.args[0].fields.update(call.kwargs)


@_NAMESPACE.method("__contains__")
def _contains(call: Call) -> Value:
    return call.args[1] in call.args[0].fields


SUBJECT.alias("argparse.Namespace", "types.SimpleNamespace")
