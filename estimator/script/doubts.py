"""What was not followed: kept as symbols that know what they come from, so that the cause is said once and not what follows from it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.interpreter.signals import StopRun
from analysis.interpreter.values import External, HostFunction, Instance, Symbol, Value
from estimator.library.symbols import Number
from estimator.script import shapes
from estimator.script.ancestry import call_of, chain, is_lost, library_behind, lost
from estimator.script.holding import hands_out_parameters, holds_device_tensor, holds_parameters
from estimator.script.words import call_in_words, in_words, without_marks
from estimator.tape.device import CUDA
from estimator.tape.not_followed import NotFollowed
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from analysis.source import Span
    from estimator.script.domain import TapeDomain

#: Names of what spreads a model over devices.
_SHARDS = ("fully_shard", "FullyShardedDataParallel", "FSDP", "deepspeed", "parallelize_module", "distribute_")
#: Parts of the names of what takes a model and leaves it as it is.
_ONLY_LOOKS = ("wandb", "log", "summary", "watch", "print", "save", "count", "num_param", "callback", "profile", "stat", "writer", "mlflow")
#: What makes nothing on a device: it is lost when a tensor is made of it.
_ON_THE_HOST = "estimator.library.array"
#: How a backward of nothing is called.
_NO_LOSS = "NoneType.backward"
#: Functions that take a device.
_PLACING = frozenset({"to", "module_to", "Device", "cuda"})
#: Methods that are given a tensor for its type or shape only.
_LIKE_ANOTHER = frozenset({".type_as", ".view_as", ".expand_as", ".reshape_as", ".to"})
#: Functions that make a table of a size.
_TABLES = frozenset({"zeros", "ones", "empty", "full"})
#: How the value of an argument that nobody gives is called.
ARGUMENT = "the argument "
_ARITHMETIC = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv,
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.lt, operator.le, operator.gt, operator.ge,
    }
)  # fmt: skip


def report(domain: TapeDomain, symbol: Symbol, sentence: str) -> None:
    """Say why ``symbol`` is lost; what comes of it refers to this."""
    domain.causes[id(symbol)] = (symbol, sentence)
    domain.doubt(sentence)


def promote(domain: TapeDomain, value: Value, otherwise: str) -> str:
    """What was lost has reached a model, its backward or an optimizer: the sentence that was said then takes the estimate with it, and is returned."""
    symbols = list(chain(value)) if not isinstance(value, (list, tuple)) else [symbol for item in value for symbol in chain(item)]
    cause = next((domain.causes[id(symbol)][1] for symbol in symbols if id(symbol) in domain.causes), otherwise)
    domain.observed.unknowns.pop(cause, None)
    domain.lose(cause)
    return cause


def branch(domain: TapeDomain, condition: Value, span: Span) -> None:
    """A condition inside a model that is not known: which way it goes may change what is kept."""
    if is_lost(domain, condition) or (isinstance(condition, Symbol) and condition.test and condition.test[0] == "is"):
        return  # said already; or asked only whether something is there, which says itself where it is used
    taken = "true" if isinstance(condition, External) else "false"
    asked = f"which way the model goes here depends on {in_words(condition)}, which is not known; taken as {taken}"
    domain.observed.unknowns[f"{domain.here(span)}: {asked} (--set NAME=VALUE sets a script argument or global)"] = None


def handed_over(domain: TapeDomain, callee: Value, span: Span) -> None:
    """A model went into something that was not followed: it may have been changed in place."""
    words = in_words(callee)
    if any(name in words for name in _SHARDS):
        sentence = f"sharding by {words} is not modelled yet: what is shown is one device without it"
    elif any(name in words.lower() for name in _ONLY_LOOKS):
        return
    else:
        sentence = f"what {words} does to the model is not known"
    domain.observed.unknowns[f"{domain.here(span)}: {sentence}"] = None


def swallowed(domain: TapeDomain, callee: Value, span: Span) -> Symbol:
    """A tensor went into something that was not followed."""
    given = lost(call_in_words(callee), span, callee)
    here, source = domain.here(span), library_behind(domain, callee)
    if source is None or source[0] == here:
        sentence = f"{here}: what {in_words(callee)} does with the tensors it is given is not known"
    else:
        sentence = f"{source[0]}: {source[1]} is not modelled yet, and the tensors of {here} go through it"
    if not is_lost(domain, callee):
        report(domain, given, sentence)
    elif domain.inside:
        promote(domain, callee, sentence)
    return given


def backward_of(domain: TapeDomain, callee: Value, span: Span) -> None:
    """``backward`` of something unknown: what it would free and keep is not known, and nothing is to be learnt from the rest of the run."""
    if not (isinstance(callee, Symbol) and callee.test and callee.test[0] == ".backward"):
        return
    here, source = domain.here(span), library_behind(domain, callee)
    sentence = f"{here}: backward runs on {in_words(callee.source)}, which is not known"
    if source is not None:
        sentence = f"{source[0]}: {source[1]} is not modelled yet, and backward runs on what comes of it ({here})"
    promote(domain, callee, sentence)
    raise StopRun


def arrived(domain: TapeDomain, name: str, value: Symbol) -> None:
    """A model is given something unknown."""
    sentence = f"{domain.here(domain.machine.span)}: the model {name} is given {in_words(value)}, whose shape is not known{hint(value)}"
    domain.causes[id(value)] = (value, promote(domain, value, sentence))


def failed(domain: TapeDomain, callee: Value, error: Exception, span: Span, operands: Sequence[Value]) -> Value:
    """Host code refused its operands: with a number in the place of an unknown one it may not."""
    if isinstance(callee, str) and callee == _NO_LOSS:
        domain.lose(f"{domain.here(span)}: backward runs on what a model gave for its loss, and as far as it was followed that is None")
        raise StopRun
    unknown = _unknown_operand(domain, error, operands)
    if unknown is not None and not is_lost(domain, unknown) and any(callee is each for each in _ARITHMETIC):
        try:
            result = callee(*(1.0 if isinstance(value, (Symbol, External)) else value for value in operands))
        except (NotFollowed, TypeError):
            pass
        else:
            if not isinstance(unknown, Number):
                domain.observed.unknowns[f"{domain.here(span)}: {in_words(unknown)} is not known, taken as a number"] = None
            return result
    if not _of_tensors(callee, operands):
        quiet = Symbol(f"what {_name_of(callee)} gives", span, domain.machine.stamp)
        quiet.source = unknown
        return quiet
    if _name_of(callee) in _TABLES and not domain.inside:
        table = shapes.of_sample(domain.machine, operands)
        if table is not None:
            return table
    if unknown is not None and getattr(callee, "__name__", "") in _PLACING and not is_lost(domain, unknown):
        placed = _on_gpu(domain, callee, operands, span)
        if placed is not None:
            return placed
    # What is lost because of a loss refers to the first one, so that chains stay short.
    first = next((symbol for symbol in chain(unknown) if id(symbol) in domain.causes), unknown)
    given = lost(f"what {_name_of(callee)} gives", span, callee if first is None else first)
    sentence = _blame(domain, unknown, callee, span) or f"{domain.here(span)}: {_reason(callee, error, unknown)}"
    if unknown is None or not is_lost(domain, unknown):
        report(domain, given, sentence)
    elif domain.inside:
        promote(domain, unknown, sentence)
    return given


def _on_gpu(domain: TapeDomain, callee: Any, operands: Sequence[Value], span: Span) -> Value:
    """A move to a device that is not known goes to the GPU; None where that is not what was meant."""
    try:
        moved = callee(*_with_gpu(operands))
    except (NotFollowed, TypeError, AttributeError):
        return None
    domain.observed.unknowns[f"{domain.here(span)}: the device is not known, taken as the GPU"] = None
    return moved


def _with_gpu(values: Any) -> Any:
    match values:
        case Symbol():
            return CUDA
        case list() | tuple():
            return type(values)(_with_gpu(value) for value in values) if type(values) in {list, tuple} else values
    return values


def _blame(domain: TapeDomain, unknown: Symbol | None, callee: Value, span: Span) -> str | None:
    """The sentence for a library's name that an unknown operand comes of, the same one for all that comes of it."""
    source = library_behind(domain, unknown)
    if source is None:
        return None
    place, dotted = source
    return domain.blamed.setdefault(source, f"{place}: {dotted} is not modelled, and {_name_of(callee)} ({domain.here(span)}) is computed from it")


def _reason(callee: Value, error: Exception, unknown: Symbol | None) -> str:
    if unknown is not None:
        return f"{in_words(unknown)} is not known, and {_name_of(callee)} is computed from it{hint(unknown)}"
    if isinstance(error, NotFollowed):
        return f"{without_marks(error.name)} is not followed"
    if isinstance(error, KeyError) and error.args:
        return f"there is no {error.args[0]!r:.60} here, as far as it was followed"
    return f"what {_name_of(callee)} gives cannot be worked out without running it"


def _of_tensors(callee: Value, operands: Sequence[Value]) -> bool:
    """Whether a failure may change what is on the device: plain Python that cannot be worked out does not."""
    if any(isinstance(value, Tensor) for value in operands):
        return True
    function = callee.run if isinstance(callee, HostFunction) else callee
    module = str(getattr(function, "__module__", ""))
    return module.startswith(("estimator.tape", "estimator.library")) and not module.startswith(_ON_THE_HOST)


def hint(value: Value) -> str:
    """What a person can do about an unknown value: an argument that the script demands can be set."""
    root = next(reversed(list(chain(value))), None)
    name = root.why.removeprefix(ARGUMENT) if root is not None and root.why.startswith(ARGUMENT) else ""
    return f"; set it with --set {name}=VALUE" if name.isidentifier() else ""


def _unknown_operand(domain: TapeDomain, error: Exception, operands: Sequence[Value]) -> Symbol | None:
    found = list(_symbols_in(operands))
    culprit = getattr(error, "obj", None)
    if isinstance(culprit, Symbol):
        found.append(culprit)
    return next((symbol for symbol in found if is_lost(domain, symbol)), found[0] if found else None)


def comes_of_unknown(error: Exception, operands: Sequence[Value]) -> bool:
    """Whether something unknown is what an operation failed on: it is not the program's own error."""
    return isinstance(getattr(error, "obj", None), Symbol) or any(isinstance(value, Symbol) for value in operands)


def _symbols_in(values: Sequence[Value], depth: int = 2) -> Iterator[Symbol]:
    for value in values:
        if isinstance(value, Symbol):
            yield value
        elif isinstance(value, External):
            name = Symbol(value.dotted, None)
            name.source = value
            yield name
        elif depth and isinstance(value, (list, tuple)):
            yield from _symbols_in(value, depth - 1)
        elif isinstance(value, slice):
            yield from _symbols_in((value.start, value.stop, value.step), depth - 1)


def _name_of(callee: Value) -> str:
    """An operation as PyTorch's users call it."""
    if isinstance(callee, str):
        return callee
    if isinstance(callee, External):
        return callee.dotted
    name = getattr(callee, "name", None) or getattr(callee, "__name__", "")
    return name if isinstance(name, str) and name.replace(".", "").isidentifier() else "a value"


def unknown_call(domain: TapeDomain, callee: Value, given: tuple[Value, ...], span: Span) -> Value:
    """The result of a call that cannot be followed; a tensor on the device among what it was ``given`` is lost."""
    backward_of(domain, callee, span)
    likens = isinstance(callee, Symbol) and bool(callee.test) and callee.test[0] in _LIKE_ANOTHER
    if not domain.observed.holder and not likens and any(holds_parameters(value) for value in given):
        domain.observed.holder = f"{domain.here(span)}: what {in_words(callee)} keeps of the parameters it is given is not known"
    if any(holds_device_tensor(value) for value in given):
        return swallowed(domain, callee, span)
    if any((isinstance(value, Instance) and "_parameters" in value.fields) or hands_out_parameters(value) for value in given):
        handed_over(domain, callee, span)
    return call_of(domain, callee, span)
