"""Numbers on the host: ``math``, ``random``, NumPy, and what seeds them."""

from __future__ import annotations

import math

from analysis.interpreter.values import MISSING, Call, HostFunction, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.host_work import host_work
from analysis.library.knowledge import Example, Subject
from analysis.library.randomness import SEEDED, fresh_seed, seeded
from analysis.library.recording import emit
from analysis.library.tensor import tensors_in
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import random
import numpy as np
import torch

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
np.mean([torch.zeros(1).item()])
""",
            ("seed", "seed", "seed", "item"),
        ),
    ),
)

_MATH = "ceil floor sqrt log log2 log10 exp cos sin tan pow fabs prod gcd isnan isinf isfinite trunc hypot atan2 tanh comb isclose"


def _of_math(name: str) -> HostFunction:
    function = getattr(math, name)
    return HostFunction(f"math.{name}", lambda call: _computed(call, function))


SUBJECT.values.update({f"math.{_name}": _of_math(_name) for _name in _MATH.split()})
SUBJECT.values.update({"math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan, "math.tau": math.tau, "sys.maxsize": 2**63 - 1})
SUBJECT.values.update({"numpy.pi": math.pi, "numpy.inf": math.inf, "numpy.nan": math.nan, "torch.inf": math.inf, "torch.pi": math.pi, "torch.nan": math.nan})


def _computed(call: Call, function: Value) -> Value:
    """Python's own function on numbers; anything else gives a number that is not known."""
    if all(isinstance(value, (int, float, bool)) for value in call.args):
        try:
            return function(*call.args)
        except (ValueError, OverflowError, ZeroDivisionError):
            return domain_of(call).casting.symbol("a number", call.span, call.machine.stamp)
    return _number(call)


def _number(call: Call) -> Value:
    values = (*call.args, *call.kwargs.values())
    tensor = next(tensors_in(values), None)
    if tensor is not None:
        return domain_of(call).autograd.plain("host", *call.args)
    made = domain_of(call).casting.result(call, "a number")
    listed = [each for value in values for each in (value if isinstance(value, (list, tuple)) else (value,)) if isinstance(each, Symbol)]
    if listed and isinstance(made, Symbol):  # a mean of numbers is made of them, and differs between ranks where they do
        made.test = ("number", *listed)
        made.rank_varying = made.rank_varying or any(each.rank_varying for each in listed)
    return made


_HOST_LIBRARIES = """
math cmath random numpy scipy sklearn pandas cv2 PIL skimage imageio librosa soundfile einops.layers numba jax.numpy networkx nltk h5py datasets evaluate
tiktoken sentencepiece
"""


@SUBJECT.below(*_HOST_LIBRARIES.split())
def _host_library(dotted: str) -> Value:
    """Functions that compute on the host: they give numbers and arrays and change nothing of the training."""
    name = dotted.rpartition(".")[2]
    if name[:1].isupper() and not dotted.startswith(("sklearn", "PIL.Image.", "pandas")):
        return MISSING
    return HostFunction(dotted, _number if dotted.split(".", maxsplit=1)[0] in _CHEAP else lambda call: host_work(call, dotted, _number))


#: Packages whose functions take no time that a loader would notice.
_CHEAP = frozenset({"math", "cmath", "random", "numpy", "einops"})

_SEEDERS = """
torch.manual_seed torch.seed torch.random.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.mps.manual_seed torch.xpu.manual_seed
numpy.random.seed random.seed accelerate.utils.set_seed transformers.set_seed transformers.trainer_utils.set_seed lightning.seed_everything
lightning.pytorch.seed_everything lightning.fabric.seed_everything pytorch_lightning.seed_everything pytorch_lightning.utilities.seed.seed_everything
fastai.torch_core.set_seed timm.utils.random_seed composer.utils.reproducibility.seed_all ignite.utils.manual_seed monai.utils.set_determinism
"""


def _seeding(dotted: str) -> HostFunction:
    def run(call: Call) -> Value:
        seed = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
        emit(call.machine, Kind.SEED, value=seed)
        seeded(call, dotted, seed)
        return domain_of(call).casting.symbol("a generator", call.span, ())

    return HostFunction(dotted, run)


for _name in _SEEDERS.split():
    SUBJECT.values[_name] = _seeding(_name)


_GENERATOR = SUBJECT.cls("torch.Generator")


@_GENERATOR.method("__init__")
def _generator(_call: Call) -> Value:
    return None


@_GENERATOR.method("manual_seed", "seed", "set_state")
def _generator_seed(call: Call) -> Value:
    generator, seed = call.args[0], call.get(1, "seed")
    seed = fresh_seed(call) if seed is None else seed
    emit(call.machine, Kind.SEED, value=seed, detail=generator)
    call.machine.heap.write(generator.fields, SEEDED, seed)
    return generator


@_GENERATOR.method("get_state", "initial_seed")
def _generator_state(call: Call) -> Value:
    return domain_of(call).casting.symbol("the state of a generator", call.span, ())


@SUBJECT.below("einops")
def _einops(dotted: str) -> Value:
    """Rearranging a tensor keeps its graph."""
    name = dotted.rpartition(".")[2]
    return HostFunction(dotted, lambda call: domain_of(call).autograd.made(name, tuple(call.args), call.kwargs)) if name.islower() else MISSING


#: Functions of libraries of transforms that read or decode a file.
_READING = "torchaudio.load torchvision.io.read_image torchvision.io.decode_image torchvision.io.decode_jpeg torchvision.io.read_video"


def _reading(dotted: str) -> HostFunction:
    return HostFunction(dotted, lambda call: host_work(call, dotted, _number))


for _name in _READING.split():
    SUBJECT.values[_name] = _reading(_name)


_TRANSFORMS = """
torchvision.transforms torchvision.transforms.functional torchvision.transforms.v2 torchvision.utils torchvision.io torchaudio.transforms torchaudio.functional
albumentations kornia
"""


@SUBJECT.below(*_TRANSFORMS.split())
def _transform(dotted: str) -> Value:
    """Building a transform, or running one on an image."""
    name = dotted.rpartition(".")[2]

    def run(call: Call) -> Value:
        if name[:1].isupper() or not any(True for _ in tensors_in((*call.args, *call.kwargs.values()))):
            return domain_of(call).casting.symbol(f"{name}()", call.span, ())
        return domain_of(call).autograd.made(name, tuple(call.args), call.kwargs)

    return HostFunction(dotted, run)
