"""``peft``: LoRA. Mirrors peft 0.21.2: where adapters are put, what is trained and in which type."""

from contextlib import contextmanager

import torch
from peft.tuners.lora.layer import LoraConvolution, LoraLayer, PackedLoraLayer, is_adapted, is_convolution, switched
from preflight_host import lora_targets, matches_name, not_modelled
from torch import nn


class TaskType:
    SEQ_CLS = "SEQ_CLS"
    SEQ_2_SEQ_LM = "SEQ_2_SEQ_LM"
    CAUSAL_LM = "CAUSAL_LM"
    TOKEN_CLS = "TOKEN_CLS"
    QUESTION_ANS = "QUESTION_ANS"
    FEATURE_EXTRACTION = "FEATURE_EXTRACTION"


class LoraConfig:
    def __init__(
        self, task_type=None, r=8, target_modules=None, lora_alpha=8, lora_dropout=0.0, bias="none", modules_to_save=None, use_rslora=False, use_dora=False,
        fan_in_fan_out=False, inference_mode=False, **others,
    ):  # fmt: skip
        self.task_type = task_type
        self.r = r
        self.target_modules = target_modules
        self.lora_alpha = lora_alpha
        self.lora_dropout = lora_dropout
        self.bias = bias
        self.modules_to_save = modules_to_save
        self.use_rslora = use_rslora
        self.use_dora = use_dora
        for name, value in others.items():
            setattr(self, name, value)


class SavedModule(nn.Module):
    """A layer that is trained as a whole: the original beside its trained copy."""

    def __init__(self, original, copy):
        super().__init__()
        self.original_module = original
        self.modules_to_save = nn.ModuleDict({"default": copy})

    def forward(self, *args, **kwargs):
        return self.modules_to_save["default"](*args, **kwargs)


def wanted(name, layer, targets):
    if not is_adapted(layer) or (targets == "all-linear" and is_convolution(layer)):
        return False
    if targets == "all-linear":
        return not name.endswith(("lm_head", "score", "classifier"))
    if isinstance(targets, str):
        return matches_name(targets, name)
    return any(name == target or name.endswith("." + target) for target in targets)


class LoraModel(nn.Module):
    """The model with its adapters in place."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)


class PeftModel(nn.Module):
    """The adapted model; whatever it does not know itself is the model's."""

    def __init__(self, model, config):
        super().__init__()
        self.base_model = LoraModel(model)
        self.peft_config = {"default": config}
        self.active_adapter = "default"

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules", {})
        for group in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(group, {}):
                return self.__dict__[group][name]
        return getattr(modules["base_model"].model, name)

    def forward(self, *args, **kwargs):
        return self.base_model(*args, **kwargs)

    def get_base_model(self):
        return self.base_model.model

    def print_trainable_parameters(self):
        pass

    def get_nb_trainable_parameters(self):
        trained = sum(p.numel() for p in self.parameters() if p.requires_grad)
        return trained, sum(p.numel() for p in self.parameters())

    @contextmanager
    def disable_adapter(self):
        switched(self, True)
        yield
        switched(self, False)

    def disable_adapter_layers(self):
        switched(self, True)

    def enable_adapter_layers(self):
        switched(self, False)

    def merge_and_unload(self):
        return self.base_model.model

    def save_pretrained(self, *args, **options):
        pass

    @staticmethod
    def from_pretrained(model, name, is_trainable=False, **options):
        not_modelled("an adapter that is loaded from a file")
        return model


PeftModelForCausalLM = PeftModelForSequenceClassification = PeftModelForSeq2SeqLM = PeftModel


def replace(model, path, made):
    parent, _, name = path.rpartition(".")
    owner = model.get_submodule(parent)
    if isinstance(owner, (nn.ModuleList, nn.Sequential)):
        owner[int(name)] = made
    else:
        setattr(owner, name, made)


def get_peft_model(model, peft_config, adapter_name="default", mixed=False, autocast_adapter_dtype=True, **options):
    injected(model, peft_config, autocast_adapter_dtype)
    return PeftModel(model, peft_config)


def inject_adapter_in_model(peft_config, model, adapter_name="default", **options):
    injected(model, peft_config, False)
    return model


def injected(model, peft_config, autocast_adapter_dtype):
    """Adapters in their places; nothing else is trained."""
    if not isinstance(peft_config, LoraConfig):
        not_modelled("adapters other than LoRA")
    targets = peft_config.target_modules
    if targets is None:
        targets = lora_targets(model.config)
    for p in model.parameters():
        p.requires_grad_(False)
    found = [(name, layer) for name, layer in model.named_modules() if wanted(name, layer, targets)]
    if not found:
        raise ValueError("Target modules not found in the base model. Please check the target modules and try again.")
    for name, layer in found:
        low = layer.weight.dtype in (torch.float16, torch.bfloat16)
        is_packed = not layer.weight.is_floating_point()
        made = PackedLoraLayer if is_packed else LoraConvolution if is_convolution(layer) else LoraLayer
        dtype = torch.float32 if is_packed or (low and autocast_adapter_dtype) else layer.weight.dtype
        replace(model, name, made(layer, peft_config, dtype))
    if peft_config.bias == "all":
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.requires_grad_(True)
    save_whole(model, peft_config)


def save_whole(model, config):
    """The layers that are trained as they are: those named, and a classifier's head."""
    names = list(config.modules_to_save) if config.modules_to_save is not None else []
    if config.task_type in ("SEQ_CLS", "TOKEN_CLS"):
        names += ["classifier", "score"]
    for path, layer in [(path, layer) for path, layer in model.named_modules() if path.rpartition(".")[2] in names]:
        copy = copied(layer)
        for p in copy.parameters():
            p.requires_grad_(True)
        replace(model, path, SavedModule(layer, copy))


def get_peft_model_state_dict(model, **options):
    return {name: parameter for name, parameter in model.named_parameters() if "lora_" in name}


def set_peft_model_state_dict(model, state, **options):
    pass


def copied(layer):
    import copy

    return copy.deepcopy(layer)


def prepare_model_for_kbit_training(model, use_gradient_checkpointing=True, gradient_checkpointing_kwargs=None, **options):
    """Everything frozen, what is not packed in float32, and checkpointing switched on where weights are packed."""
    for p in model.parameters():
        p.requires_grad = False
    for p in model.parameters():
        if p.dtype in (torch.float16, torch.bfloat16):
            p.data = p.data.to(torch.float32)
    if getattr(model, "is_quantized", False) and use_gradient_checkpointing:
        given = {} if gradient_checkpointing_kwargs is None else gradient_checkpointing_kwargs
        if given.get("use_reentrant", True):
            model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=given if given else None)
    return model


prepare_model_for_int8_training = prepare_model_for_kbit_training
