"""Models whose class is a library's: one object of unknown structure with parameters."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, HostFunction, Instance, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, LibraryClass, Subject
from analysis.library.ownership import MODULE, WRAPPED, owner_of
from analysis.library.parts import ModelPart
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
import torchvision

model = torchvision.models.resnet18()
model.fc = torch.nn.Linear(512, 10)
model(torch.zeros(1, 3, 8, 8)).sum().backward()
""",
            ("model_built", "forward Model", "backward"),
        ),
        Example(
            """
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
model.train()
out = model(input_ids=None)
out.loss.backward()
""",
            ("model_built", "eval Model", "train Model", "forward Model", "backward"),
        ),
        Example(
            """
import torch
from timm.models import register_model

@register_model
def small(width=4):
    return torch.nn.Linear(width, 1)

model = small(width=8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.zeros(1, 8)).sum().backward()
""",
            ("optimizer_built SGD", "forward Linear", "backward"),
        ),
    ),
)

#: Of a model: its layers do the same in both modes.
MODELESS = "model: modeless"
#: What torchvision's detectors, and what they are made of, begin with.
DETECTORS = "torchvision.models.detection."

_SUBPACKAGES = frozenset({"detection", "segmentation", "video", "quantization", "optical_flow", "resnet", "vgg", "vision_transformer", "feature_extraction"})

_UNKNOWN = SUBJECT.cls("unknown.Model", MODULE)
_UNKNOWN.namespace.update({"is_layer": True, "is_unknown": True})
#: What transformers' models say of themselves once they were loaded with quantized weights, by the argument that asks for it.
_QUANTIZED = {"load_in_8bit": "is_loaded_in_8bit", "load_in_4bit": "is_loaded_in_4bit"}
_UNKNOWN.namespace.update(dict.fromkeys((*_QUANTIZED.values(), "is_quantized"), False))


@_UNKNOWN.method("__init__")
def _init(call: Call) -> Value:
    model = call.args[0]
    model.fields.update({"training": True, "model: arguments": (tuple(call.args[1:]), dict(call.kwargs))})
    emit(call.machine, Kind.MODEL_BUILT, subject=model, detail=model.cls.dotted)


@_UNKNOWN.method("__getattr__")
def _part(call: Call) -> Value:
    model, name = call.args
    if name == WRAPPED and model.assumed:
        return model  # what was passed is a wrapper: it and what is inside are one model
    parts = model.fields.setdefault("model: parts", {})
    if name not in parts:
        parts[name] = ModelPart(model, name, call.span)
    return parts[name]


@_UNKNOWN.method("__getitem__")
def _item(call: Call) -> Value:
    return ModelPart(call.args[0], "item", call.span)


@_UNKNOWN.static("from_pretrained")
def _from_pretrained(call: Call) -> Value:
    """The model starts in evaluation mode."""
    model = unknown_model(call, "from_pretrained")
    model.fields["training"] = False
    model.fields.update({name: True for asked, name in _QUANTIZED.items() if call.kwargs.get(asked) is True})
    emit(call.machine, Kind.EVAL_MODE, subject=model, detail="from_pretrained")
    return model


@_UNKNOWN.method("save_pretrained")
def _saved(call: Call) -> Value:
    """The weights as files; who is told whether it is the main process writes on that one alone."""
    told = "is_main_process" in call.kwargs
    emit(call.machine, Kind.SAVE, value=call.args[0], detail="main process" if told else call.get(1, "save_directory"))


@_UNKNOWN.method("resize_token_embeddings")
def _resized(call: Call) -> Value:
    """New embeddings take the place of the old ones."""
    if call.get(1, "new_num_tokens") is None:
        return domain_of(call).casting.symbol("the embeddings", call.span, ())
    made = call.machine.construct(domain_of(call).library.cls("torch.nn.Embedding"), [call.get(1, "new_num_tokens"), 1], {}, call.span)
    call.machine.heap.write(call.args[0].fields, "model: embeddings", made)
    domain_of(call).ownership.changed()
    return made


@_UNKNOWN.static("from_config", "_from_config", "from_name")
def _from_config(call: Call) -> Value:
    return unknown_model(call, "from_config")


def unknown_model(call: Call, name: str) -> Instance:
    """A new model that the library's function ``name`` builds."""
    model = call.machine.instance(domain_of(call).library.cls("unknown.Model"), call.span)
    model.fields.update({"training": True, "model: arguments": (tuple(call.args), dict(call.kwargs))})
    emit(call.machine, Kind.MODEL_BUILT, subject=model, detail=name)
    return model


#: Beginnings of names of functions that register, list, load or change models, and build none.
_ABOUT_MODELS = ("register_", "list_", "is_", "load_", "checkpoint_", "named_apply", "resolve_", "adapt_", "group_", "set_", "get_weight", "download_")


def _model_class(dotted: str) -> LibraryClass:
    return LibraryClass(dotted, ("unknown.Model",))


@SUBJECT.below("torchvision.models", "timm.models", "segmentation_models_pytorch", "efficientnet_pytorch", "monai.networks.nets", "torch_geometric.nn")
def _library_model(dotted: str) -> Value:
    name = dotted.rpartition(".")[2]
    if name.endswith(("Weights", "_Weights")) or name.isupper() or name in _SUBPACKAGES or name.startswith(_ABOUT_MODELS):
        return MISSING
    if name[:1].isupper():
        return _model_class(dotted)
    return HostFunction(dotted, lambda call: _detector(unknown_model(call, name)) if dotted.startswith(DETECTORS) else unknown_model(call, name))


def _detector(model: Instance) -> Instance:
    """Torchvision's detectors have frozen batch norms and no dropout; their mode says whether they give losses or boxes."""
    model.fields[MODELESS] = True
    return model


@SUBJECT.function("timm.create_model", "timm.models.create_model", "torch.hub.load", "clip.load", "open_clip.create_model", "timm.models.factory.create_model")
def _created(call: Call) -> Value:
    name = next((value for value in call.args if isinstance(value, str)), "model")
    return unknown_model(call, name)


#: How the classes of models end in the libraries that have too many to list.
_MODEL_ENDINGS = (
    "Model", "LMHead", "PreTraining", "ForCausalLM", "Generation", "Classification", "Answering", "MaskedLM", "MultipleChoice", "Prediction",
    "Decoder", "Encoder", "Backbone", "Segmentation", "Detection", "ForCTC", "Model2D", "AutoencoderKL", "Seq2Seq", "Seq2SeqLM", "ModelMixin",
    "SentenceTransformer", "Vision2Seq", "ImageTextToText", "AudioLM",
)  # fmt: skip


@SUBJECT.below("transformers", "diffusers", "peft", "sentence_transformers")
def _by_name(dotted: str) -> Value:
    """Classes that are models, told by how they are called; of others, ``from_pretrained`` gives something unknown."""
    name = dotted.rpartition(".")[2]
    if name[:1].isupper() and name.endswith(_MODEL_ENDINGS) and "Config" not in name and not name.startswith("DataCollator"):
        return _model_class(dotted)
    if name in {"from_pretrained", "from_config", "create"}:
        return HostFunction(dotted, lambda call: domain_of(call).casting.symbol(f"{dotted}()", call.span, ()))
    return MISSING


@SUBJECT.function("peft.prepare_model_for_kbit_training", "peft.prepare_model_for_int8_training")
def _prepared(call: Call) -> Value:
    return call.get(0, "model")


@SUBJECT.function("peft.get_peft_model")
def _adapted(call: Call) -> Value:
    return _with_adapters(call, call.get(0, "model"))


@SUBJECT.function("peft.inject_adapter_in_model")
def _injected(call: Call) -> Value:
    return _with_adapters(call, call.get(1, "model"))


def _with_adapters(call: Call, model: Value) -> Value:
    """The model itself: the adapters that are put into it train, whatever was frozen before."""
    if isinstance(model, Instance):
        domain_of(call).ownership.freeze(owner_of(model), flag=False)
        made = call.machine.construct(domain_of(call).library.cls("torch.nn.Linear"), [1, 1], {}, call.span)
        call.machine.heap.write(owner_of(model).fields, "model: adapters", made)
        domain_of(call).ownership.changed()
    return model
