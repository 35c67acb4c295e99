"""Random numbers on the host: generators that a program makes, the global ones, and what draws from them."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit
from analysis.library.tensors import function
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import random
import numpy as np
import torch

rng = np.random.default_rng(1)
rng.uniform(0, 1)
random.shuffle([1, 2])
np.random.permutation(4)
torch.randn(4)
torch.randperm(4, generator=torch.Generator())
""",
            ("draw Generator", "draw", "draw", "draw", "draw Generator"),
        ),
    ),
)

#: The data set whose item is being made: what runs then runs in a worker process, if there are any.
LOADING = "loading"
#: Of a generator: the data set whose item was being made when it was built.
BUILT_WHILE_LOADING = "generator: built while loading"

#: Of a generator: what it was seeded with last.
SEEDED = "generator: seed"

GENERATOR = "numpy.random.Generator"
_GENERATOR = SUBJECT.cls(GENERATOR)
SUBJECT.cls("numpy.random.RandomState", GENERATOR)
SUBJECT.cls("numpy.random.mtrand.RandomState", GENERATOR)
SUBJECT.cls("random.Random", GENERATOR)
_SETTING = frozenset({"seed", "setstate", "getstate", "set_state", "get_state", "bit_generator", "spawn", "jumped"})


#: The role of a seed that the operating system gives: another one in each process.
FRESH = "fresh"


def fresh_seed(call: Call) -> Symbol:
    """What a generator is seeded with that nobody gave a seed."""
    seed = Symbol("a seed of the operating system", call.span, call.machine.stamp, rank_varying=True)
    seed.role = FRESH
    return seed


@dataclass(frozen=True, slots=True)
class Drawn:
    """The detail of a ``DRAW``: the function by its dotted name (of a method of NumPy's or Python's generators the last part).

    ``loading``: the data set whose item is being made (None: none is).
    """

    function: str
    loading: Instance | None


@_GENERATOR.method("__init__")
def _init(call: Call) -> Value:
    seed = call.get(1, "seed")
    call.args[0].fields.update({BUILT_WHILE_LOADING: call.machine.state.get(LOADING), SEEDED: fresh_seed(call) if seed is None else seed})


@SUBJECT.function("numpy.random.default_rng")
def _default_rng(call: Call) -> Value:
    return call.machine.construct(domain_of(call).library.cls(GENERATOR), call.args, call.kwargs, call.span)


@_GENERATOR.method("__getattr__")
def _method(call: Call) -> Value:
    generator, name = call.args

    def run(inner: Call) -> Value:
        if name not in _SETTING:
            _drawn(inner, generator, name)
        elif name == "seed":
            inner.machine.heap.write(generator.fields, SEEDED, inner.get(0, "seed"))
        return domain_of(inner).casting.result(inner, "a random number")

    return HostFunction(name, run)


def _drawn(call: Call, generator: Instance | None, name: str) -> None:
    emit(call.machine, Kind.DRAW, subject=generator, detail=Drawn(name, call.machine.state.get(LOADING)))


#: Of the machine's state: the packages whose global generators differ between ranks, because each was seeded by its rank.
_BY_RANK = "seeded by rank"
_PACKAGES = ("random", "numpy", "torch")


def seeded(call: Call, dotted: str, seed: Value) -> None:
    """The function ``dotted`` seeds the global generator of its package, or those of all."""
    package = dotted.partition(".")[0]
    known: frozenset[str] = call.machine.state.get(_BY_RANK, frozenset())
    named = {package} if package in _PACKAGES else set(_PACKAGES)
    call.machine.state[_BY_RANK] = known | named if getattr(seed, "rank_varying", False) is True else known - named


def _function(dotted: str) -> HostFunction:
    """A function that draws from the global generator."""
    package = dotted.partition(".")[0]

    def run(call: Call) -> Value:
        _drawn(call, None, dotted)
        made = domain_of(call).casting.result(call, "a random number")
        if isinstance(made, Symbol) and package in call.machine.state.get(_BY_RANK, ()):
            made.rank_varying = True
        return made

    return HostFunction(dotted, run)


_OF_NUMPY = """
rand randn randint random uniform normal choice permutation shuffle random_sample beta binomial poisson exponential standard_normal
"""
_OF_PYTHON = """
random uniform randint choice choices sample shuffle gauss randrange getrandbits betavariate normalvariate
"""
_OF_TORCH = "rand randn randint randperm normal multinomial bernoulli poisson"


def _of_torch(name: str) -> HostFunction:
    """A function of torch that draws from the generator it is given, or from the global one."""
    inner = function(name)

    def run(call: Call) -> Value:
        generator = call.kwargs.get("generator")
        emit(call.machine, Kind.DRAW, subject=generator, detail=Drawn(f"torch.{name}", call.machine.state.get(LOADING)))
        return inner.run(call)

    return HostFunction(f"torch.{name}", run)


for _name in _OF_TORCH.split():
    SUBJECT.values[f"torch.{_name}"] = _of_torch(_name)
for _package, _names in (("numpy.random", _OF_NUMPY), ("random", _OF_PYTHON)):
    for _name in _names.split():
        SUBJECT.values[f"{_package}.{_name}"] = _function(f"{_package}.{_name}")
