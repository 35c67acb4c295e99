"""``peft``: LoRA. Mirrors peft 0.21.2 (``tuners/lora/layer.py``): what is trained, in which type, and what each adapter adds to a forward."""

import torch
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


class LoraLayer(nn.Module):
    """A linear layer with a product of two thin matrices beside it."""

    def __init__(self, base, inputs, outputs, config, dtype):
        super().__init__()
        self.base_layer = base
        self.scaling = config.lora_alpha / (config.r**0.5 if config.use_rslora else config.r)
        self.lora_dropout = nn.ModuleDict({"default": nn.Dropout(config.lora_dropout) if config.lora_dropout > 0 else nn.Identity()})
        device = base.weight.device
        self.lora_A = nn.ModuleDict({"default": nn.Linear(inputs, config.r, bias=False, device=device, dtype=dtype)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(config.r, outputs, bias=False, device=device, dtype=dtype)})
        if config.use_dora:
            not_modelled("DoRA")

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def forward(self, x, *args, **kwargs):
        result = self.base_layer(x, *args, **kwargs)
        stored = result.dtype
        first = self.lora_A["default"]
        second = self.lora_B["default"]
        dropout = self.lora_dropout["default"]
        if x.dtype != first.weight.dtype:
            x = x.to(first.weight.dtype)
        result = result + second(first(dropout(x))) * self.scaling
        return result.to(stored)


class PackedLoraLayer(LoraLayer):
    """Beside a layer with packed weights: what comes out of 4 bits is copied first, and the adapter's part is cast before it is added."""

    def forward(self, x, *args, **kwargs):
        result = self.base_layer(x, *args, **kwargs)
        if type(self.base_layer).__name__ != "Linear8bitLt":
            result = result.clone()
        first = self.lora_A["default"]
        second = self.lora_B["default"]
        dropout = self.lora_dropout["default"]
        casts = not torch.is_autocast_enabled()
        if casts and x.dtype != first.weight.dtype:
            x = x.to(first.weight.dtype)
        output = second(first(dropout(x))) * self.scaling
        if casts:
            output = output.to(result.dtype)
        return result + output


class SavedModule(nn.Module):
    """A layer that is trained as a whole: the original beside its trained copy."""

    def __init__(self, original, copy):
        super().__init__()
        self.original_module = original
        self.modules_to_save = nn.ModuleDict({"default": copy})

    def forward(self, *args, **kwargs):
        return self.modules_to_save["default"](*args, **kwargs)


def sizes_of(layer):
    """Inputs and outputs of a layer that LoRA adapts; None where it does not."""
    if isinstance(layer, nn.Linear):
        return layer.in_features, layer.out_features
    if type(layer).__name__ == "Conv1D":
        return layer.weight.shape[0], layer.weight.shape[1]
    return None


def wanted(name, layer, targets):
    if sizes_of(layer) is None:
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
        inputs, outputs = sizes_of(layer)
        low = layer.weight.dtype in (torch.float16, torch.bfloat16)
        is_packed = not layer.weight.is_floating_point()
        made = PackedLoraLayer if is_packed else LoraLayer
        dtype = torch.float32 if is_packed or (low and autocast_adapter_dtype) else layer.weight.dtype
        replace(model, name, made(layer, inputs, outputs, peft_config, dtype))
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
