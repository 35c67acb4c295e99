"""Methods of tensors and the functions of ``torch`` that make and combine them.

Whatever is not registered here makes a tensor of its operands. Here stand those that cut the graph, read numbers, ask for
gradients or change their receiver.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.interpreter.items import OF_EACH_RANK
from analysis.interpreter.values import MISSING, Alternatives, Call, External, HostFunction, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Handler, Subject
from analysis.library.recording import emit, modes
from analysis.library.stores import grown
from analysis.library.tensor import Parameter, Tensor, parameter_behind_gradient
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            "import torch\nx = torch.randn(3, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\nprint(y.item())\n",
            ("backward", "item"),
        ),
        Example(
            """
import torch
from torch.autograd import Variable

def repackage(state):
    if type(state) == Variable:
        return Variable(state.data)
    return tuple(repackage(part) for part in state)

weight = torch.zeros(3, requires_grad=True)
state = repackage([(weight * 2, weight * 3)])
print(state[0][1].sum().item(), state[0][0].requires_grad or (weight * 2).sum().backward())
""",
            ("item", "backward"),
        ),
        Example("import torch\nx = torch.zeros(3).cuda()\nprint(float(x.sum()))\n", ("to_device", "item")),
    ),
)

TENSOR = SUBJECT.cls("torch.Tensor")

_TYPES = """
float16 float32 float64 bfloat16 half float double int8 uint8 int16 short int32 int int64 long bool complex64 complex128 float8_e4m3fn float8_e5m2
contiguous_format channels_last preserve_format strided
"""
_DTYPES = frozenset(_TYPES.split())
_METADATA = "size dim numel nelement element_size stride get_device data_ptr is_contiguous is_floating_point type dense_dim ndimension"


def _host_value(name: str) -> HostFunction:
    """A property of the tensor that the host knows without waiting for the device."""

    def run(call: Call) -> Value:
        if name == "type" and len(call.args) > 1:
            return domain_of(call).autograd.made("type", tuple(call.args), call.kwargs)
        return domain_of(call).casting.symbol(f"{name} of a tensor", call.span, call.machine.stamp)

    return HostFunction(name, run)


for _name in _METADATA.split():
    TENSOR.namespace[_name] = _host_value(_name)


@TENSOR.property("shape")
def _shape(call: Call) -> Value:
    return domain_of(call).casting.symbol("the shape of a tensor", call.span, call.machine.stamp)


def _metadata(name: str) -> Handler:
    return lambda call: domain_of(call).casting.symbol(f"the {name} of a tensor", call.span, call.machine.stamp)


for _name in ("ndim", "dtype", "device", "is_cuda", "itemsize", "layout", "is_sparse"):
    TENSOR.property(_name)(_metadata(_name))


@TENSOR.method("item", "tolist")
def _item(call: Call) -> Value:
    return domain_of(call).autograd.scalar(call.args[0], "a number read from a tensor")


@TENSOR.method("numpy")
def _numpy(call: Call) -> Value:
    emit(call.machine, Kind.ITEM, value=call.args[0])
    return domain_of(call).autograd.plain("numpy", call.args[0])


@TENSOR.property("data")
def _data(call: Call) -> Value:
    return domain_of(call).autograd.plain("data", call.args[0])


@TENSOR.property("grad")
def _grad(call: Call) -> Value:
    return domain_of(call).autograd.plain("grad", call.args[0])


@TENSOR.property("requires_grad")
def _requires_grad(call: Call) -> Value:
    tensor, domain = call.args[0], domain_of(call)
    if isinstance(tensor, Parameter):
        return bool(domain.ownership.all_atoms(tensor.owners))
    return domain.autograd.carries(tensor)


@TENSOR.property("grad_fn")
def _grad_fn(call: Call) -> Value:
    return domain_of(call).casting.symbol("the grad_fn of a tensor", call.span, call.machine.stamp) if call.args[0].attached else None


@TENSOR.method("requires_grad_")
def _require(call: Call) -> Value:
    domain_of(call).autograd.require(call.args[0], call.get(1, "requires_grad", default=True))
    return call.args[0]


@TENSOR.method("detach_")
def _detach_in_place(call: Call) -> Value:
    tensor = call.args[0]
    if not isinstance(tensor, Parameter):
        tensor.attached, tensor.owners, tensor.forwards, tensor.marks = False, frozenset(), frozenset(), frozenset()
        emit(call.machine, Kind.CLEAR, subject=tensor)
    return tensor


@TENSOR.method("retain_grad", "register_hook", "register_post_accumulate_grad_hook", "share_memory_", "record_stream")
def _nothing(call: Call) -> Value:
    return domain_of(call).casting.symbol("a handle", call.span, call.machine.stamp)


@TENSOR.method("full_tensor", "redistribute")
def _whole(call: Call) -> Value:
    """What ranks hold parts of, brought together."""
    emit(call.machine, Kind.COLLECTIVE, subject="full_tensor", value=call.args[0])
    return domain_of(call).autograd.made("full_tensor", (call.args[0],))


@TENSOR.method("zero_")
def _zero(call: Call) -> Value:
    tensor = call.args[0]
    parameter = parameter_behind_gradient(tensor)
    if parameter is not None:
        for owner in parameter.owners:
            emit(call.machine, Kind.ZERO_GRAD, subject=owner, value=parameter, detail="grad.zero_()")
    return tensor


def _move(name: str) -> HostFunction:
    """``to``, or a method named after a device: what it gives knows where it went."""

    def run(call: Call) -> Value:
        tensor = call.args[0]
        target = (name, *call.args[1:]) if name in {"cuda", "cpu"} else tuple(call.args[1:])
        moved = domain_of(call).autograd.made("to", (tensor, *target), call.kwargs)
        emit(call.machine, Kind.TO_DEVICE, subject=tensor, value=moved, detail=(*target, *call.kwargs.values()))
        return moved

    return HostFunction(name, run)


for _name in ("to", "cuda", "cpu", "type_as"):
    TENSOR.namespace[_name] = _move(_name)


def _in_place(name: str) -> HostFunction:
    """``x.add_(y)``: the receiver takes over the graph of its operands."""

    def run(call: Call) -> Value:
        tensor = call.args[0]
        before = tensor if isinstance(tensor, Parameter) else replace(tensor)
        made = domain_of(call).autograd.made(name, (before, *call.args[1:]), call.kwargs)
        if isinstance(tensor, Parameter) or (tensor.made is not None and tensor.made.op == "data"):
            return tensor
        tensor.attached, tensor.owners, tensor.forwards, tensor.marks = made.attached, made.owners, made.forwards, made.marks
        tensor.made, tensor.rank_varying = made.made, made.rank_varying
        if name in _ADDERS:
            grown(domain_of(call), tensor, made, call.span)
        return tensor

    return HostFunction(name, run)


_ADDERS = frozenset({"add_", "sub_", "lerp_", "addcmul_", "addcdiv_", "index_add_", "scatter_add_"})
_WRITERS = "add_ sub_ mul_ div_ copy_ clamp_ lerp_ addcmul_ addcdiv_ masked_fill_ index_copy_ scatter_ index_add_ scatter_add_ relu_"
for _name in _WRITERS.split():
    TENSOR.namespace[_name] = _in_place(_name)


def function(name: str) -> HostFunction:
    """The function ``name`` of torch: it makes a tensor of its operands."""

    def run(call: Call) -> Value:
        autograd = domain_of(call).autograd
        made = autograd.made(name, tuple(call.args), {key: value for key, value in call.kwargs.items() if key != "requires_grad"})
        if call.kwargs.get("requires_grad") is True:
            autograd.leaves.add(made)
        return made

    return HostFunction(name, run)


@SUBJECT.below("torch")
def _torch(dotted: str) -> Value:
    """Functions of ``torch`` itself; its types and memory formats stay names, as do subpackages."""
    name = dotted.removeprefix("torch.")
    if "." in name or name in _DTYPES or not name.islower() or name in _PACKAGES:
        return MISSING
    return function(name)


_SUBPACKAGES = """
nn optim utils cuda distributed autograd amp backends jit fx func functional hub linalg fft special random multiprocessing onnx profiler quantization
sparse testing version distributions mps xpu cpu export ao accelerator masked nested signal storage types overrides compiler package library futures
"""
_PACKAGES = frozenset(_SUBPACKAGES.split())


@SUBJECT.below("torch.linalg", "torch.fft", "torch.special", "torch.nn.functional", "torch.functional", "torch.nested", "torch.sparse")
def _namespace(dotted: str) -> Value:
    return function(dotted.rpartition(".")[2])


@SUBJECT.function("torch.is_tensor")
def _is_tensor(call: Call) -> Value:
    value = call.args[0]
    if isinstance(value, (Symbol, Alternatives, External)):
        return domain_of(call).casting.symbol("whether it is a tensor", call.span, ())
    return isinstance(value, Tensor)


@SUBJECT.function("torch.is_grad_enabled")
def _is_grad_enabled(call: Call) -> Value:
    return modes(call.machine).grad


@SUBJECT.function("torch.numel", "torch.is_floating_point", "torch.get_default_dtype", "torch.initial_seed", "torch.get_num_threads")
def _number(call: Call) -> Value:
    return domain_of(call).casting.symbol("a number", call.span, call.machine.stamp)


@SUBJECT.function(
    "torch.set_default_dtype", "torch.set_default_device", "torch.set_num_threads", "torch.set_float32_matmul_precision", "torch.use_deterministic_algorithms",
    "torch.set_printoptions", "torch.set_default_tensor_type", "torch.get_rng_state", "torch.set_rng_state", "torch.set_num_interop_threads",
)  # fmt: skip
def _setting(_call: Call) -> Value:
    return None


@SUBJECT.function("torch.device")
def _device(call: Call) -> Value:
    device = domain_of(call).casting.symbol("a device", call.span, (), varying=any(getattr(value, "rank_varying", False) for value in call.args))
    if isinstance(device, Symbol):
        device.uses.add(OF_EACH_RANK)
    return device


@SUBJECT.function("torch.from_numpy", "torch.as_tensor", "torch.tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor", "torch.cuda.LongTensor")
def _from_data(call: Call) -> Value:
    autograd = domain_of(call).autograd
    made = autograd.made("tensor", tuple(call.args), cut=True)
    if call.kwargs.get("requires_grad") is True:
        autograd.leaves.add(made)
    return made


@TENSOR.method("__new__")
def _constructed(call: Call) -> Value:
    return domain_of(call).autograd.plain("tensor", *call.args[1:])
