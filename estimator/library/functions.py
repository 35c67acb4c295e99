"""``functools``, ``types`` and ``contextlib``: functions of functions, and context managers made of generators."""

from __future__ import annotations

from analysis.interpreter.binding import partial_of
from analysis.interpreter.generators import Generator, Manager
from analysis.interpreter.values import Call, Class, Function, HostFunction, Instance, Method, Property, Value
from analysis.library.knowledge import Subject

SUBJECT = Subject()


@SUBJECT.function("functools.partial", "functools.partialmethod")
def _partial(call: Call) -> Value:
    return partial_of(call.args[0], tuple(call.args[1:]), dict(call.kwargs))


@SUBJECT.function("types.MethodType")
def _bound(call: Call) -> Value:
    """A function with the object that it is called on; what is no function of the guest's is held by an object of ours."""
    function, owner = call.args
    if isinstance(function, Function):
        return Method(function, owner)
    holder = call.machine.import_module("preflight_methods", call.machine.entry_path)
    return call.machine.call(call.machine.getattr(holder, "Bound", call.span), [function, owner], {}, call.span)


@SUBJECT.function("functools.wraps", "functools.update_wrapper")
def _wraps(_call: Call) -> Value:
    return HostFunction("functools.wraps", lambda call: call.args[0])


@SUBJECT.function("functools.lru_cache", "functools.cache")
def _cache(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Function):
        return call.args[0]
    return HostFunction("functools.lru_cache", lambda inner: inner.args[0])


@SUBJECT.function("functools.cached_property")
def _cached_property(call: Call) -> Value:
    return Property(call.args[0])


@SUBJECT.function("functools.reduce")
def _reduce(call: Call) -> Value:
    function, items = call.args[0], call.machine.items(call.args[1], call.span)
    if len(call.args) > 2:  # noqa: PLR2004  the third argument is the start
        items = [call.args[2], *items]
    result = items[0] if items else None
    for item in items[1:]:
        result = call.machine.call(function, [result, item], {}, call.span)
    return result


@SUBJECT.function("contextlib.contextmanager", "contextlib.asynccontextmanager")
def _contextmanager(call: Call) -> Value:
    function = call.args[0]

    def make(inner: Call) -> Value:
        generator = inner.machine.call(function, list(inner.args), dict(inner.kwargs), inner.span)
        return Manager(generator, lambda: make(inner)) if isinstance(generator, Generator) else generator

    return HostFunction("contextlib.contextmanager", make)


@SUBJECT.function("contextlib.nullcontext")
def _nullcontext(call: Call) -> Value:
    return call.machine.instance(NULL_CONTEXT, call.span)


@SUBJECT.function("contextlib.redirect_stdout", "contextlib.closing")
def _closing(call: Call) -> Value:
    return call.machine.instance(NULL_CONTEXT, call.span)


@SUBJECT.function("contextlib.suppress")
def _suppress(call: Call) -> Value:
    made = call.machine.instance(SUPPRESS, call.span)
    made.fields["kinds"] = call.args
    return made


def _is_suppressed(call: Call) -> Value:
    """Whether the exception with which a block ends is one of those that were named."""
    raised = next((value for value in call.args if isinstance(value, Class)), None)
    manager = next((value for value in call.args if isinstance(value, Instance) and "kinds" in value.fields), None)
    return raised is not None and manager is not None and any(kind in raised.mro for kind in manager.fields["kinds"])


_ENTER = HostFunction("__enter__", lambda _call: None)
NULL_CONTEXT = Class("nullcontext", "contextlib.nullcontext", (), {"__enter__": _ENTER, "__exit__": _ENTER})
SUPPRESS = Class("suppress", "contextlib.suppress", (), {"__enter__": _ENTER, "__exit__": HostFunction("__exit__", _is_suppressed)})


@SUBJECT.function("contextlib.ExitStack", "contextlib.AsyncExitStack")
def _exit_stack(call: Call) -> Value:
    return call.machine.instance(NULL_CONTEXT, call.span)
