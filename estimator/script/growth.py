"""What grows in a loop that is cut short: a sequence that gets one token longer a round is as long in the end as the loop says."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeAlias

from analysis.interpreter.frames import Frame
from analysis.interpreter.values import GuestList, Value
from estimator.tape.run import current
from estimator.tape.tensor import Tensor, new

#: Shapes of tensors and lengths of lists, by the names of variables.
Sizes: TypeAlias = Mapping[str, tuple[int, ...]]
#: Lists are not made longer than this.
_LONGEST = 1 << 14


class CutShort(GuestList):
    """A list that further rounds of a loop would fill: behind its end stands what was put in last."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, int) or key < len(self) or not self:
            return super().__getitem__(key)
        current().assume("of what a loop gathers from batch to batch, how much there is is not known: what two batches leave is counted")
        return super().__getitem__(-1)


def sizes_in(frame: Frame) -> Sizes:
    """The sizes of what a function's variables hold."""
    found: dict[str, tuple[int, ...]] = {}
    for name, value in frame.vars.items():
        if isinstance(name, str) and isinstance(value, Tensor):
            found[name] = tuple(value.shape)
        elif isinstance(name, str) and isinstance(value, GuestList):
            found[name] = (len(value),)
    return found


def grow(frame: Frame, before: Sizes, rounds: int) -> bool:
    """Let what became larger since ``before``, in one round, become as large as after ``rounds`` more; whether anything did."""
    grown = False
    for name, sizes in before.items():
        value = frame.vars.get(name)
        now = tuple(value.shape) if isinstance(value, Tensor) else (len(value),) if isinstance(value, GuestList) else ()
        if len(now) != len(sizes):
            continue
        steps = [after - earlier for after, earlier in zip(now, sizes, strict=True)]
        if sum(step != 0 for step in steps) == 1 and max(steps) > 0:
            grown = True
            _enlarge(frame, name, value, [size + step * rounds for size, step in zip(now, steps, strict=True)])
    return grown


def mark_cut_short(frame: Frame, before: Sizes) -> None:
    """What became longer since ``before`` would go on to, in rounds of which nobody knows how many there are."""
    for name, sizes in before.items():
        value = frame.vars.get(name)
        if type(value) is GuestList and len(value) > sizes[0]:
            value.__class__ = CutShort


def _enlarge(frame: Frame, name: str, value: Value, wanted: list[int]) -> None:
    if isinstance(value, Tensor):
        if value.grad_fn is None and not value.requires_grad:
            frame.vars[name] = new(tuple(wanted), value.dtype, value.device)
        return
    last = value[-1]
    value.extend(copy.deepcopy(last) if isinstance(last, Tensor) else last for _ in range(min(wanted[0], _LONGEST) - len(value)))
