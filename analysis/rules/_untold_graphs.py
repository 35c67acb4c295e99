"""Whether a value surely carries the graph of an output whose structure is not told. Shared by rules, and no rule itself.

What a model of unknown structure gives is taken for one tensor. Where it turns out to be a record, because a backward goes through a part
of it (`result.loss.backward()`), its other methods may give anything: numbers, or a copy without a graph. So may the single parts of what a method of
such a model returns (`error, predicted = model.evaluate(x)`), and what a function from elsewhere makes of outputs (a score, say).
"""

from __future__ import annotations

from collections.abc import Collection

from analysis.finding import Confidence
from analysis.interpreter.values import Instance, Value
from analysis.library.opaque import UNFOLLOWED
from analysis.library.tensor import Made, Tensor
from analysis.rules._carriers import ancestors
from analysis.rules._objects import confidence_in
from analysis.trace import Trace
from analysis.trace.events import Kind

#: Attributes that make a tensor of a tensor.
_OF_TENSORS = frozenset({"T", "mT", "H", "mH", "real", "imag", "data", "grad"})
#: What runs a whole model, or hands on what a record holds.
_WHOLE = frozenset({"forward", "call", "__call__"})
_HANDING_ON = frozenset({"attribute", "getitem", "items", "values", "get", "pop", "to_tuple", "copy"})
_DEEPEST = 40


def confidence_in_graph(trace: Trace, value: Value, model: Value) -> Confidence:
    """How sure it is that ``value`` has the graph of what ``model`` gave: low where it may be without one."""
    if not isinstance(value, Tensor):
        return confidence_in(model)
    learned = [event.value for event in trace.events(Kind.BACKWARD) if isinstance(event.value, Tensor)]
    used = [each for loss in learned for each in ancestors(loss)]
    records = {id(whole) for whole in map(_record_of, used) if whole is not None}
    return confidence_in(model) if _is_told(value, records, {id(each) for each in used}, _DEEPEST) else Confidence.LOW


def is_part_of_unknown(value: Value) -> bool:
    """Whether it is one of several things that a model of unknown structure gave: not each of them need have a graph."""
    made = value.made if isinstance(value, Tensor) else None
    whole = made.inputs[0] if made is not None and made.op in {"getitem", "attribute"} else None
    return isinstance(whole, Tensor) and whole.made is not None and isinstance(whole.made.options.get("module"), Instance)


def _is_told(value: Tensor, records: Collection[int], used: Collection[int], depth: int) -> bool:
    made = value.made
    if made is None or not depth or id(value) in used:
        return True
    if not value.attached or UNFOLLOWED in made.options or _is_method_of(made, records) or _is_part_of_answer(made, used):
        return False
    before = [each for each in made.tensors if each.attached]
    return not before or any(_is_told(each, records, used, depth - 1) for each in before)


def _record_of(tensor: Tensor) -> Tensor | None:
    """What ``tensor`` is a named part of."""
    made = tensor.made
    whole = made.inputs[0] if made is not None and made.inputs else None
    if made is None or not isinstance(whole, Tensor):
        return None
    named = made.options.get("name") if made.op == "attribute" else made.options.get("key") if made.op == "getitem" else None
    return whole if isinstance(named, str) and named not in _OF_TENSORS else None


def _is_method_of(made: Made, records: Collection[int]) -> bool:
    """Whether a record's own method gave it."""
    return bool(made.inputs) and id(made.inputs[0]) in records and made.op not in _HANDING_ON and not any(isinstance(each, Tensor) for each in made.inputs[1:])


def _is_part_of_answer(made: Made, used: Collection[int]) -> bool:
    """Whether it is one of several things that a method of an unknown model gave, none of which is back-propagated."""
    whole = made.inputs[0] if made.op == "getitem" and isinstance(made.options.get("key"), int) else None
    if not isinstance(whole, Tensor) or whole.made is None or id(whole) in used:
        return False
    return isinstance(whole.made.options.get("module"), Instance) and whole.made.op not in _WHOLE
