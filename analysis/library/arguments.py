"""Command-line arguments in a trace: switches may be on or off, ranks differ, and what has no default is unknown."""

from __future__ import annotations

from analysis.interpreter.values import Call, External, Instance, Value
from analysis.library.distributed import rank
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--quiet", action="store_true")
args = parser.parse_args()
for step in range(args.steps):
    torch.zeros(1).item()
""",
            ("item", "item"),
        ),
    ),
)

#: What ``argparse.ArgumentParser`` means to the trace; on the tape a switch is what it is without being given.
PARSER = "trace.ArgumentParser"
#: Options that a launcher sets on each rank.
_RANKS = frozenset({"local_rank", "rank", "gpu"})
_OPEN = "parser: open options"

_PARSER = SUBJECT.cls(PARSER, "argparse.ArgumentParser")
for _other in ("configargparse.ArgumentParser", "configargparse.ArgParser", "transformers.HfArgumentParser"):
    SUBJECT.cls(_other, PARSER)


@_PARSER.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields.update({"arguments": {}, _OPEN: set(), "parser: dataclasses": call.get(1, "dataclass_types")})


@_PARSER.method("add_argument")
def _add(call: Call) -> Value:
    action = call.kwargs.get("action")
    switch = action in {"store_true", "store_false"} or (isinstance(action, External) and action.dotted.endswith("BooleanOptionalAction"))
    before = set(call.args[0].fields["arguments"])
    add = domain_of(call).library.cls("argparse.ArgumentParser").find("add_argument")
    result = call.machine.call(add, list(call.args), dict(call.kwargs), call.span)
    added = set(call.args[0].fields["arguments"]) - before
    if switch or ("default" not in call.kwargs and "type" in call.kwargs and not any(name.startswith("resume") for name in added)):
        call.args[0].fields[_OPEN] |= added
    return result


@_PARSER.method("parse_args", "parse_intermixed_args")
def _parse(call: Call) -> Value:
    return _opened(call, "parse_args")


@_PARSER.method("parse_known_args")
def _parse_known(call: Call) -> Value:
    return _opened(call, "parse_args"), []


def _opened(call: Call, name: str) -> Value:
    parser, domain = call.args[0], domain_of(call)
    parse = domain.library.cls("argparse.ArgumentParser").find(name)
    namespace = call.machine.call(parse, [parser], {}, call.span)
    for option in namespace.fields if isinstance(namespace, Instance) else ():
        if option in _RANKS and domain.world.distributed:
            namespace.fields[option] = rank(call)
        elif option in parser.fields[_OPEN]:
            namespace.fields[option] = domain.casting.symbol(f"--{option}", call.span, ())
    return namespace


@_PARSER.method("parse_args_into_dataclasses", "parse_json_file", "parse_yaml_file", "parse_dict")
def _into_dataclasses(call: Call) -> Value:
    kinds = call.args[0].fields.get("parser: dataclasses")
    listed = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    return tuple(call.machine.call(kind, [], {}, call.span) for kind in listed)
