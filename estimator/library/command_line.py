"""click, Typer, Fire, tyro and absl: functions that a script calls with its options' defaults, or with what the caller sets."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import MISSING, Call, Class, Function, Guarded, HostFunction, Instance, Method, Partial, Symbol, Value
from analysis.library.knowledge import Handler, LibraryClass, Subject
from estimator.library.dataclass import fields_of

SUBJECT = Subject()
_COMMAND = SUBJECT.cls("click.Command")
_GROUP = SUBJECT.cls("click.Group")
#: Names of commands that train, where a program has several.
_TRAINING = ("train", "fit", "finetune", "fine_tune", "pretrain", "main", "run")


def _new(call: Call, kind: str, **fields: Value) -> Instance:
    made: Instance = call.machine.instance(call.machine.domain.lookup(kind), call.span)
    made.fields.update(fields)
    return made


def _command_of(call: Call, function: Value) -> Instance:
    """The command that decorators above a function add their options to."""
    if isinstance(function, Instance) and function.cls.dotted == "click.Command":
        return function
    return _new(call, "click.Command", function=function, options={}, context=False)


def _decorator(wrap: Handler) -> Handler:
    """A decorator with arguments: ``wrap`` sees the function first, then the decorator's own arguments."""
    return lambda call: HostFunction("decorator", lambda inner: wrap(Call(call.machine, [inner.args[0], *call.args], dict(call.kwargs), call.span)))


def _option(call: Call) -> Value:
    """``@click.option``: the longest name says which parameter it is."""
    function, *given = call.args
    command = _command_of(call, function)
    names = [name for name in given if isinstance(name, str)]
    own = [name for name in names if not name.startswith("-")]
    dashed = sorted(names, key=lambda name: len(name) - len(name.lstrip("-")))
    name = own[0] if own else dashed[-1].split("/")[0].lstrip("-") if names else ""
    command.fields["options"][name.replace("-", "_").lower()] = (_option_default(call, names), call.span)
    return command


def _option_default(call: Call, names: list[str]) -> Value:
    default, kind = call.kwargs.get("default", MISSING), call.kwargs.get("type", MISSING)
    if default is not MISSING:
        convert = isinstance(default, str) and kind is not MISSING and isinstance(kind, HostFunction | type)
        return call.machine.call(kind, [default], {}, call.span) if convert else default
    if call.kwargs.get("is_flag") is True or any("/" in name for name in names):
        return False
    if call.kwargs.get("multiple") is True:
        return ()
    return Symbol(f"the argument {names[0].lstrip('-')}", call.span) if call.kwargs.get("required") is True and names else None


def _argument(call: Call) -> Value:
    """``@click.argument``: what has no default must be given."""
    function, *names = call.args
    command = _command_of(call, function)
    name = str(names[0]) if names else ""
    absent = None if call.kwargs.get("required") is False else Symbol(f"the argument {name}", call.span)
    command.fields["options"][name.replace("-", "_").lower()] = (call.kwargs.get("default", absent), call.span)
    return command


def _with_context(call: Call) -> Value:
    command = _command_of(call, call.args[0])
    command.fields["context"] = True
    return command


@_COMMAND.method("__call__", "main", "invoke")
def _run_command(call: Call) -> Value:
    command = call.args[0].fields
    context = [Symbol("the context of a command", call.span)] if command["context"] else []
    return _called(call, command["function"], context, command["options"])


@_COMMAND.property("callback")
def _callback(call: Call) -> Value:
    return call.args[0].fields["function"]


def _called(call: Call, function: Value, first: list[Value], options: dict[str, Any]) -> Value:
    """Call ``function`` with its options: the caller's settings go before defaults, and each value's place is where its default is written."""
    machine = call.machine
    given: dict[str, Any] = machine.state.get("arguments", {})
    names = [*options, *_parameters(function)]
    machine.state.setdefault("asked", set()).update(names)
    values = {name: default for name, (default, _) in options.items()} | {name: given[name] for name in names if name in given}
    if machine.domain.tracks_places:
        machine.argument_places = ([], {name: span for name, (_, span) in options.items()})
    return machine.call(function, first, values, call.span)


def _parameters(function: Value) -> list[str]:
    """The names of a function's parameters that a command line can set."""
    match function:
        case Function(node=node):
            return [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        case Guarded(function=inner) | Partial(function=inner):
            return _parameters(inner)
        case Method(function=inner):
            return _parameters(inner)[1:]
        case Class() if fields_of(function):
            return list(fields_of(function))
        case Class():
            return _parameters(function.find("__init__"))[1:]
    return []


@_GROUP.method("__init__")
def _group_init(call: Call) -> Value:
    call.args[0].fields["commands"] = {}
    return None


@_GROUP.method("command", "group")
def _group_command(call: Call) -> Value:
    group, *names = call.args

    def register(inner: Call) -> Value:
        command = _command_of(inner, inner.args[0])
        given = names[0] if names else call.kwargs.get("name")
        group.fields["commands"][given if isinstance(given, str) else getattr(command.fields["function"], "name", "")] = command
        return inner.args[0] if group.cls.dotted == "typer.Typer" else command

    return HostFunction("decorator", register)


@_GROUP.method("callback")
def _group_callback(_call: Call) -> Value:
    return HostFunction("decorator", lambda inner: inner.args[0])


@_GROUP.method("add_command", "add_typer")
def _add_command(call: Call) -> Value:
    group, command = call.args[:2]
    group.fields["commands"][call.get(2, "name") or str(len(group.fields["commands"]))] = command
    return None


@_GROUP.method("__call__", "main")
def _run_group(call: Call) -> Value:
    """The only command, or else the one whose name says that it trains."""
    commands = call.args[0].fields["commands"]
    named = [name for name in _TRAINING if name in commands]
    chosen = next(iter(commands.values())) if len(commands) == 1 else commands[named[0]] if named else None
    return None if chosen is None else call.machine.call(chosen, [], {}, call.span)


def _typer_default(call: Call) -> Value:
    """``typer.Option(default)`` stands for its default; in ``Annotated`` it stands for nothing."""
    default = call.get(0, "default", ...)
    return Symbol("an argument that must be given", call.span) if default is ... else default


def _changed(call: Call, record: Instance, given: dict[str, Any]) -> Instance:
    """A copy of a record with what is given of its fields, and of those of the records in it (``part.field``)."""
    copy: Instance = call.machine.instance(record.cls, call.span)
    copy.fields.update(record.fields)
    for name in record.fields:
        inner = {key.partition(".")[2]: value for key, value in given.items() if key.startswith(f"{name}.")}
        if name in given:
            copy.fields[name] = given[name]
        elif inner and isinstance(record.fields[name], Instance):
            copy.fields[name] = _changed(call, record.fields[name], inner)
    return copy


@SUBJECT.function("typer.run", "defopt.run", "fire.Fire", "tyro.cli", "simple_parsing.parse", "draccus.parse", "pyrallis.parse")
def run_function(call: Call) -> Value:
    """Calls the function, or makes the record, with what the caller sets; of a record that is given as the default, its fields."""
    default = call.kwargs.get("default")
    if isinstance(default, Instance):
        return _changed(call, default, call.machine.state.get("arguments", {}))
    target = call.get(0, "f", call.kwargs.get("config_class", call.kwargs.get("component", call.kwargs.get("components"))))
    if isinstance(target, dict):
        named = [name for name in _TRAINING if name in target]
        target = next(iter(target.values())) if len(target) == 1 else target[named[0]] if named else None
    return _called(call, target, [], {}) if isinstance(target, (Function, Guarded, Method, Partial, HostFunction, Class)) else None


@SUBJECT.function("absl.app.run")
def _absl(call: Call) -> Value:
    return call.machine.call(call.args[0], [[call.machine.entry_path]], {}, call.span)


def _group(call: Call) -> Value:
    """``@click.group()``: what has commands of its own; its function runs before them and is taken to do nothing here."""
    return _new(call, "click.Group", commands={})


SUBJECT.classes["typer.Typer"] = LibraryClass("typer.Typer", (), dict(_GROUP.namespace))
SUBJECT.values.update(
    {
        "click.option": HostFunction("click.option", _decorator(_option)),
        "click.argument": HostFunction("click.argument", _decorator(_argument)),
        "click.command": HostFunction("click.command", _decorator(lambda call: _command_of(call, call.args[0]))),
        "click.group": HostFunction("click.group", _decorator(_group)),
        "click.pass_context": HostFunction("click.pass_context", _with_context),
        "click.version_option": HostFunction("click.version_option", _decorator(lambda call: call.args[0])),
        "click.echo": HostFunction("click.echo", lambda _call: None),
        "typer.echo": HostFunction("typer.echo", lambda _call: None),
        "typer.Option": HostFunction("typer.Option", _typer_default),
        "typer.Argument": HostFunction("typer.Argument", _typer_default),
    }
)
