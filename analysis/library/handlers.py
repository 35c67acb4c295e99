"""Handlers of a loop's events: objects that register methods of theirs with the engine that runs it, and callbacks of a trainer.

Whoever trains attaches them, or hands them to the trainer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from analysis.library.entries import Entry

if TYPE_CHECKING:
    from analysis.facts import Definition
    from analysis.index import Index

#: The method that is given the engine, and what it calls there.
ATTACH = "attach"
_REGISTERS = "add_event_handler"
_EVENTS = """
on_fit_start on_train_start on_train_epoch_start on_train_batch_start on_before_zero_grad on_before_backward on_after_backward on_before_optimizer_step
on_train_batch_end on_train_epoch_end on_train_end on_validation_start on_validation_batch_end on_validation_epoch_end on_validation_end
on_step_begin on_step_end on_epoch_begin on_epoch_end on_evaluate on_save
before_train before_train_epoch before_train_iter after_train_iter after_train_epoch after_train after_val_epoch after_val
"""
#: Methods that trainers call on their callbacks; a module that has a step of its own is trained, and no callback.
_HOOKS = frozenset(_EVENTS.split())
_STEP = "training_step"
#: The classes that trainers take for callbacks.
CALLBACKS = frozenset({"Callback", "TrainerCallback"})
#: The class whose objects OpenMMLab's runners call.
HOOK = "Hook"


def handlers(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Classes whose objects are attached to an engine, with the method that does it; and those that have a trainer's hooks, with the first of them."""
    for path in paths:
        hooked: dict[str, Definition] = {}
        stepping: set[str] = set()
        for found in index.facts[path].definitions:
            owner, _, name = found.qualname.rpartition(".")
            if owner and name == ATTACH and _REGISTERS in found.calls:
                yield Entry(path, owner), found
            elif owner and name in _HOOKS:
                hooked.setdefault(owner, found)
            elif name == _STEP:
                stepping.add(owner)
        yield from ((Entry(path, owner), found) for owner, found in hooked.items() if owner not in stepping)
