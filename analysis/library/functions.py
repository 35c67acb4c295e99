"""``functools`` and ``contextlib``: functions of functions, and context managers."""

from __future__ import annotations

from analysis.interpreter.binding import partial_of
from analysis.interpreter.generators import Manager
from analysis.interpreter.managers import enter, leave
from analysis.interpreter.values import Call, Class, Function, HostFunction, Property, Value
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import contextlib
import functools
import torch

net = torch.nn.Linear(1, 1)

@contextlib.contextmanager
def evaluating(model):
    model.eval()
    try:
        yield model
    finally:
        model.train()

def logged(function):
    @functools.wraps(function)
    def run(*args):
        return function(*args)
    return run

@logged
def look(model):
    model(torch.zeros(1, 1))

make = functools.partial(torch.optim.SGD, lr=0.1)
make(net.parameters())
with evaluating(net) as same, contextlib.nullcontext(3) as three:
    look(same)
""",
            ("optimizer_built SGD", "eval Linear", "forward Linear", "train Linear"),
        ),
    ),
)


@SUBJECT.function("functools.partial", "functools.partialmethod")
def _partial(call: Call) -> Value:
    function, *args = call.args
    return partial_of(function, tuple(args), dict(call.kwargs))


@SUBJECT.function("functools.wraps")
def _wraps(call: Call) -> Value:
    """What is wrapped can be found again, as Python lets one."""

    def wrap(inner: Call) -> Value:
        if isinstance(inner.args[0], Function):
            inner.args[0].fields["__wrapped__"] = call.args[0]
        return inner.args[0]

    return HostFunction("wraps", wrap)


def unwrapped(function: Value) -> Value:
    """The function inside its wrappers."""
    while isinstance(function, Function) and "__wrapped__" in function.fields:
        function = function.fields["__wrapped__"]
    return function


@SUBJECT.function("functools.lru_cache", "functools.cache", "functools.update_wrapper")
def _same(call: Call) -> Value:
    if call.args and isinstance(call.args[0], (Function, Class, HostFunction)):
        return call.args[0]
    return HostFunction("decorator", lambda inner: inner.args[0])


@SUBJECT.function("functools.cached_property", "abc.abstractproperty")
def _cached_property(call: Call) -> Value:
    return Property(call.args[0])


@SUBJECT.function("functools.reduce")
def _reduce(call: Call) -> Value:
    function, source, *start = call.args
    items = [*start, *call.machine.items(source, call.span)]
    value = items[0] if items else None
    for item in items[1:]:
        value = call.machine.call(function, [value, item], {}, call.span)
    return value


@SUBJECT.function("contextlib.contextmanager", "contextlib.asynccontextmanager")
def _contextmanager(call: Call) -> Value:
    function = call.args[0]

    def made(inner: Call) -> Manager:
        return Manager(inner.machine.call(function, list(inner.args), dict(inner.kwargs), inner.span), lambda: made(inner))

    return HostFunction("contextmanager", made)


_NULL = SUBJECT.cls("contextlib.nullcontext")
for _name in ("suppress", "closing", "redirect_stdout", "redirect_stderr", "AbstractContextManager", "ContextDecorator"):
    SUBJECT.cls(f"contextlib.{_name}", "contextlib.nullcontext")


@_NULL.method("__init__")
def _null(call: Call) -> Value:
    call.args[0].fields["enter_result"] = call.get(1, "enter_result")


@_NULL.method("__enter__", "__aenter__")
def _enter_null(call: Call) -> Value:
    return call.args[0].fields.get("enter_result")


@_NULL.method("__exit__", "__aexit__")
def _exit_null(_call: Call) -> Value:
    return None


_STACK = SUBJECT.cls("contextlib.ExitStack")
SUBJECT.cls("contextlib.AsyncExitStack", "contextlib.ExitStack")


@_STACK.method("__init__")
def _stack(call: Call) -> Value:
    call.args[0].fields["entered"] = []


@_STACK.method("enter_context", "enter_async_context")
def _enter_context(call: Call) -> Value:
    call.args[0].fields["entered"].append(call.args[1])
    return enter(call.machine, call.args[1], call.span)


@_STACK.method("__enter__", "__aenter__")
def _enter_stack(call: Call) -> Value:
    return call.args[0]


@_STACK.method("callback", "push", "pop_all")
def _callback(call: Call) -> Value:
    return call.args[1] if len(call.args) > 1 else call.args[0]


@_STACK.method("__exit__", "__aexit__", "close")
def _exit_stack(call: Call) -> Value:
    entered = call.args[0].fields["entered"]
    call.args[0].fields["entered"] = []
    for manager in reversed(entered):
        leave(call.machine, manager, call.span, None)
