"""Which outputs of a model something is computed from, and whether they are trained. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.library.tensor import Made, Parameter, Tensor
from analysis.rules._sources import CARRIED

_MOST = 200
#: What a model gives: a graph of its own begins behind it.
_OUTPUTS = frozenset({"forward", "call"})


def has_output_of_its_own(given: Tensor, operations: frozenset[Made]) -> bool:
    """Whether the way back from ``given`` comes to an output of a model before it comes to anything that is trained."""
    todo, found = [given], False
    for _ in range(_MOST):
        if not todo:
            return found
        tensor = todo.pop()
        made = tensor.made
        if not tensor.attached or made is None or isinstance(tensor, Parameter):
            continue
        if made in operations:
            return False
        if _is_output(made) or _is_part(made):
            found = True
            if _is_part(made) and _is_taken(made, operations):
                return False
        elif made.op in CARRIED:
            todo.extend(made.tensors)
        else:
            return False
    return False


def _is_output(made: Made) -> bool:
    """Whether a module gave it."""
    return "module" in made.options or made.op in _OUTPUTS


def _is_part(made: Made) -> bool:
    """Whether it is one of several outputs of a module whose structure is not known."""
    whole = next(iter(made.tensors), None)
    return made.op == "getitem" and isinstance(made.options.get("key"), (int, str)) and whole is not None and whole.made is not None and _is_output(whole.made)


def _is_taken(part: Made, operations: frozenset[Made]) -> bool:
    """Whether a backward goes through the same part of the same output, taken out once more."""
    key = part.options.get("key")
    return any(made.op == "getitem" and made.options.get("key") == key and made.inputs[0] is part.inputs[0] for made in operations)
