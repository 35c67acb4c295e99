"""What a loss was divided by on its way to the backward, and what it was reduced by. Shared by rules, and no rule itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from analysis.interpreter.values import Instance, Symbol, Value
from analysis.library.losses import LOSSES
from analysis.library.tensor import Made, Tensor

_FUNCTIONS = frozenset(LOSSES.values())
#: Operations that leave the factor of a loss as it is.
_THROUGH = frozenset({"scale", "neg", "pos", "to", "float", "double", "squeeze", "view", "reshape", "contiguous", "identity", "cuda", "clone"})
_DEEPEST = 60


class Reduction(Enum):
    """How a loss combines the samples of a batch."""

    MEAN = auto()
    SUM = auto()
    UNKNOWN = auto()  # inside a model or a function that was not followed


@dataclass(frozen=True, slots=True)
class Divided:
    """A division of the whole loss: by ``divisor`` (None: a multiplication, or something else that may scale it)."""

    divisor: Value
    made: Made


@dataclass(slots=True)
class Scaling:
    """What was found on the way from a backward to the losses it sums: each division, and the reduction of each term."""

    divided: list[Divided]
    reductions: list[Reduction]
    terms: list[Made]
    #: Only some of the terms were scaled.
    uneven: bool = False


def scaling_of(loss: Tensor) -> Scaling:
    """Walk from what is back-propagated down to its terms."""
    return _walk(loss, _DEEPEST)


def _walk(tensor: Tensor, depth: int) -> Scaling:
    made = tensor.made
    if made is None or depth == 0:
        return Scaling([], [Reduction.UNKNOWN], [])
    inner = [each for each in made.tensors if each.attached]
    match made.op:
        case "truediv" if len(inner) == 1 and inner[0] is made.inputs[0]:
            return _scaled(_walk(inner[0], depth - 1), Divided(made.inputs[1], made))
        case "div" | "div_" | "divide" if inner and inner[0] is made.inputs[0] and len(made.inputs) > 1:
            return _scaled(_walk(inner[0], depth - 1), Divided(made.inputs[1], made))
        case "mul" if len(inner) == 1:
            factor = next(each for each in made.inputs if each is not inner[0]) if len(made.inputs) > 1 else None
            below = _walk(inner[0], depth - 1)
            return below if isinstance(factor, int) and factor == 1 else _scaled(below, Divided(None, made))
        case "add" | "sub" | "join" | "add_" | "sum" | "stack" | "cat" if made.op != "sum" or _over_terms(made):
            return _together([_walk(each, depth - 1) for each in inner])
        case op if op in _THROUGH and inner:
            return _walk(inner[0], depth - 1)
        case op:
            return Scaling([], [_reduction(op, made)], [made])


def _over_terms(made: Made) -> bool:
    """``sum(losses)`` over a list or over a stack of terms."""
    first = made.inputs[0] if made.inputs else None
    return not isinstance(first, Tensor) or (first.made is not None and first.made.op in {"stack", "cat"})


def _scaled(below: Scaling, by: Divided) -> Scaling:
    return Scaling([by, *below.divided], below.reductions, below.terms, below.uneven)


def _together(parts: list[Scaling]) -> Scaling:
    if not parts:
        return Scaling([], [Reduction.UNKNOWN], [])
    scaled = [part for part in parts if part.divided or part.uneven]
    # Where some terms are only multiplied, and others not at all, the factors are weights.
    divided = [part for part in scaled if part.uneven or any(each.divisor is not None for each in part.divided)]
    return Scaling(
        parts[0].divided if len(scaled) == len(parts) else [],
        [each for part in parts for each in part.reductions],
        [each for part in parts for each in part.terms],
        uneven=bool(divided) and (len(scaled) < len(parts) or any(part.uneven for part in parts)),
    )


def _reduction(op: str, made: Made) -> Reduction:
    if op == "mean":
        return Reduction.MEAN
    if op in _FUNCTIONS:
        asked = made.options.get("reduction", "mean")
        return Reduction.MEAN if asked == "mean" and "size_average" not in made.options and "reduce" not in made.options else Reduction.SUM
    return Reduction.SUM if op in {"sum", "norm", "nansum", "logsumexp", "dot", "matmul", "mul"} else Reduction.UNKNOWN


def same_number(left: Value, right: Value) -> bool:
    """Whether two divisors are one number: equal integers above one, or the same value that the source does not tell."""
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return left is right
    return isinstance(left, (int, float)) and isinstance(right, (int, float)) and left == right and left > 1


def framework_window(by: Value) -> Value:
    """The window by which whoever runs the backward divides the loss itself; 1 if it does not divide."""
    if not isinstance(by, Instance):
        return 1
    if by.cls.name == "DeepSpeedEngine":
        config = by.fields.get("engine: config")
        if isinstance(config, Symbol):  # read from a file: the program may ask it for the same number
            return config.parts.get("['gradient_accumulation_steps']")
        return config.get("gradient_accumulation_steps", 1) if isinstance(config, dict) else None
    return by.fields.get("gradient_accumulation_steps", 1)
