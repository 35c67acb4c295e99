"""Other ways to the command line: tyro, Fire, Typer, click, absl, simple-parsing. They call a function, or build a record, with its defaults."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, Class, Function, Guarded, HostFunction, Method, Partial, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Handler, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
from dataclasses import dataclass
import torch
import tyro

@dataclass
class Args:
    seed: int = 3

args = tyro.cli(Args)
torch.manual_seed(args.seed)
""",
            ("seed",),
        ),
        Example(
            """
import click
import torch

@click.command()
@click.option("--steps", type=int, default=2)
@click.option("--out-dir", default="x")
def main(steps, out_dir):
    for _ in range(steps):
        torch.zeros(1).item()

if __name__ == "__main__":
    main()
""",
            ("item", "item"),
        ),
        Example(
            """
import fire
import torch

class Config:
    distributed: bool = False

def main(**options):
    for name, value in options.items():
        if hasattr(Config, name):
            setattr(Config, name, value)
    if Config.distributed:
        torch.distributed.init_process_group("nccl")

fire.Fire(main)
""",
            ("init_distributed nccl",),
        ),
        Example("import fire\nimport torch\n\ndef main(steps=2):\n    torch.zeros(1).item()\n\nfire.Fire(main)\n", ("item",)),
    ),
)

_CALLABLE = (Function, Guarded, Method, Partial, HostFunction, Class)


@SUBJECT.function("tyro.cli", "simple_parsing.parse", "draccus.parse", "pyrallis.parse", "jsonargparse.CLI", "fire.Fire", "typer.run", "defopt.run")
def _run(call: Call) -> Value:
    """Calls the function, or makes the record, without arguments."""
    target = call.get(0, "f", call.kwargs.get("config_class", call.kwargs.get("component", call.kwargs.get("components"))))
    if isinstance(target, Function) and target.node.args.kwarg is not None:
        options = domain_of(call).casting.symbol("the options of the command line", call.span, ())
        return call.machine.call(target, [], {"**": options}, call.span)
    if isinstance(target, _CALLABLE):
        return call.machine.call(target, [], {}, call.span)
    return domain_of(call).casting.symbol("the arguments", call.span, ())


@SUBJECT.function("absl.app.run")
def _absl(call: Call) -> Value:
    return call.machine.call(call.args[0], [["script.py"]], {}, call.span)


def _decorator(wrap: Handler) -> Handler:
    return lambda call: HostFunction("decorator", lambda inner: wrap(Call(call.machine, [inner.args[0], *call.args], dict(call.kwargs), inner.span)))


def _option(call: Call) -> Value:
    """The function with the option's default bound to it."""
    function, *names = call.args
    long = [name for name in names if isinstance(name, str)]
    name = next((each for each in long if not each.startswith("-")), None) or next((each for each in long if each.startswith("--")), "")
    default = call.kwargs.get("default", MISSING)
    if default is MISSING and call.kwargs.get("is_flag") is not True:
        return function
    value = domain_of(call).casting.symbol(f"--{name}", call.span, ()) if default is MISSING or call.kwargs.get("is_flag") is True else default
    return Partial(function, (), {name.lstrip("-").split("/")[0].replace("-", "_"): value})


def _command(call: Call) -> Value:
    return call.args[0]


SUBJECT.values["click.option"] = HostFunction("click.option", _decorator(_option))
for _name in ("click.command", "click.group", "click.argument", "click.pass_context", "click.version_option"):
    SUBJECT.values[_name] = HostFunction(_name, _decorator(_command))
