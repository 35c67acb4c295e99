"""Which parameters a module owns: the leaves of its tree of submodules, with those that were frozen left out.

Found by walking the objects' attributes, and kept until something is written that could change the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import Alternatives, Instance, Symbol, Value
from analysis.library.tensor import Owner, Parameter, Tensor

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

MODULE = "torch.nn.Module"
#: No identifier, so that no guest attribute can have its name.
FROZEN = "parameters: frozen"
#: Where they were frozen parameter by parameter: perhaps only some of them, picked by name.
ONE_BY_ONE = "parameters: one by one"
#: Says of a module that it was asked for parameters and that none of those it must have were seen being made.
UNSEEN = "parameters: unseen"
#: Where container modules (``Sequential``, ``ModuleList``, ``ModuleDict``) keep what they hold.
CHILDREN = "modules: children"
#: Where a module keeps the names of its buffers.
BUFFERS = "modules: buffers"
#: Layers of ``torch.nn`` that have buffers of their own.
_BUFFERED = ("BatchNorm", "LazyBatchNorm", "SyncBatchNorm")
#: The attribute of wrappers (``DistributedDataParallel`` and the like) that holds what they wrap.
WRAPPED = "module"


def is_module(value: Value) -> bool:
    """Whether it is an ``nn.Module``."""
    return isinstance(value, Instance) and value.cls.has_base(MODULE)


def expect_module(value: Value) -> None:
    """``value`` is used where only a module can stand: a symbol remembers that."""
    for each in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(each, Symbol):
            each.uses.add(f"→{MODULE}")


def owner_of(module: Instance) -> Instance:
    """The module inside all wrappers, so that one model is one object."""
    while module.cls.find("wraps") is True and isinstance(module.fields.get(WRAPPED), Instance):
        module = module.fields[WRAPPED]
    return module


class Ownership:
    """The parameters of one run. ``changed`` is to be called when a module or parameter was written anywhere."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[tuple[int, bool], frozenset[Owner]] = {}
        self._alive: list[Owner] = []  # keeps identities unique while they are keys
        #: Of single parameters, whether they are frozen; what is made of those carries no graph.
        self.frozen: dict[Tensor, Value] = {}

    def changed(self) -> None:
        """Forget what was found."""
        self._known.clear()
        self._alive.clear()

    def atoms(self, owner: Owner, *, trainable: bool = True) -> frozenset[Owner]:
        """The smallest things with parameters inside ``owner``: layers, single parameters, models of unknown structure."""
        key = (id(owner), trainable)
        if key not in self._known:
            self._known[key] = frozenset(_walk(owner, set(), trainable=trainable))
            self._alive.append(owner)
        return self._known[key]

    def shared(self, left: frozenset[Owner], right: frozenset[Owner]) -> bool:
        """Whether the two sets of owners have trainable parameters in common."""
        if left & right:
            return True
        return not self.all_atoms(left).isdisjoint(self.all_atoms(right))

    def all_atoms(self, owners: frozenset[Owner]) -> frozenset[Owner]:
        """The atoms of all of them."""
        found: frozenset[Owner] = frozenset()
        for owner in owners:
            found |= self.atoms(owner)
        return found

    def expect_parameters(self, module: Instance) -> None:
        """``module`` is asked for its parameters: whoever does that knows of some."""
        if module.cls.span is not None and not self.atoms(module, trainable=False):
            self._machine.heap.write(module.fields, UNSEEN, True)  # noqa: FBT003  the field's value
            self.changed()

    def freeze(self, owner: Owner, flag: Value) -> None:
        """``requires_grad`` of everything in ``owner`` becomes ``not flag``: a bool, or something undecided."""
        if isinstance(owner, Instance):
            for module in modules_in(owner):
                module.fields.setdefault(FROZEN, False)  # what stays so on the other side of an undecided branch
                self._machine.heap.write(module.fields, FROZEN, flag)
                for parameter in module.fields.values():
                    self._freeze_one(parameter, flag)
                for whole in _taken_apart(module):
                    whole.fields.setdefault(FROZEN, False)
                    self._machine.heap.write(whole.fields, FROZEN, flag)
        else:
            self._freeze_one(owner, flag)
        self.changed()

    def _freeze_one(self, parameter: Value, flag: Value) -> None:
        if isinstance(parameter, Parameter):
            self.frozen.setdefault(parameter, False)
            self._machine.heap.write(self.frozen, parameter, flag)


def _taken_apart(module: Instance) -> Iterator[Instance]:
    """Models of unknown structure of which ``module`` holds a part: what else they have runs nowhere."""
    held = module.fields.get(CHILDREN, ())
    values = (*module.fields.values(), *(held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()))
    yield from {id(whole): whole for each in values if isinstance(each, Symbol) and isinstance(whole := getattr(each, "owner", None), Instance)}.values()


def leaves_in(owner: Owner) -> frozenset[Owner]:
    """The smallest things with parameters inside ``owner`` now, frozen ones included."""
    return frozenset(_walk(owner, set(), trainable=False))


def modules_in(module: Instance) -> Iterator[Instance]:
    """``module`` and all modules below it."""
    seen: set[int] = set()
    stack: list[Instance] = [module]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        stack.extend(child for _, child in children_of(current))


def children_of(module: Instance) -> Iterator[tuple[str, Instance]]:
    """The named submodules that PyTorch would have registered, in order of assignment."""
    for name, value in list(module.fields.items()):
        if name == CHILDREN:
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            yield from ((str(key), each) for key, each in pairs if is_module(each))
        elif isinstance(value, Alternatives):
            yield from ((name, each) for each in value.values if is_module(each))
        elif is_module(value):
            yield name, value


def _walk(owner: Owner, seen: set[int], *, trainable: bool) -> Iterator[Owner]:
    if id(owner) in seen:
        return
    seen.add(id(owner))
    if isinstance(owner, Tensor):
        yield owner
        return
    frozen = trainable and owner.fields.get(FROZEN) is True
    if not frozen:
        yield from (value for value in owner.fields.values() if isinstance(value, Parameter))
        if owner.cls.find("is_layer") is True or owner.fields.get(UNSEEN) is True:
            yield owner
    for _, child in children_of(owner):
        yield from _walk(child, seen, trainable=trainable)


def has_buffers(model: Instance) -> bool:
    """Whether something inside ``model`` is known to hold a buffer: what DistributedDataParallel sends before a forward."""
    return any(BUFFERS in module.fields or any(cls.name.startswith(_BUFFERED) for cls in module.cls.mro) for module in modules_in(model))
