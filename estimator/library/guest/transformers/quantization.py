"""Weights in 4 or 8 bits. Mirrors transformers 5.24.0 (``quantizers/quantizer_bnb_4bit.py``, ``integrations/bitsandbytes.py``).

Every linear layer but the output's is packed while it is loaded; embeddings, norms and the output stay in the type of the model.
"""

import torch
from preflight_host import noted_argument, not_modelled
from torch import nn

#: Parts that stay as they are where nothing else is said: outputs of a model, whatever its task.
NOT_CONVERTED = ("lm_head", "score", "classifier", "qa_outputs", "embed_out", "proj_out", "pre_classifier")


class BitsAndBytesConfig:
    def __init__(
        self, load_in_8bit=False, load_in_4bit=False, llm_int8_threshold=6.0, llm_int8_skip_modules=None, bnb_4bit_compute_dtype=None,
        bnb_4bit_quant_type="fp4", bnb_4bit_use_double_quant=False, bnb_4bit_quant_storage=None, **others,
    ):  # fmt: skip
        self.load_in_8bit = load_in_8bit
        self.load_in_4bit = load_in_4bit
        self.llm_int8_threshold = llm_int8_threshold
        self.llm_int8_skip_modules = llm_int8_skip_modules
        self.bnb_4bit_compute_dtype = dtype_of(bnb_4bit_compute_dtype, torch.float32)
        self.bnb_4bit_quant_type = bnb_4bit_quant_type
        self.bnb_4bit_use_double_quant = bnb_4bit_use_double_quant
        self.bnb_4bit_quant_storage = dtype_of(bnb_4bit_quant_storage, torch.uint8)


def dtype_of(given, usual):
    if given is None:
        return usual
    return getattr(torch, given) if isinstance(given, str) else given


def asked(options):
    """The quantization that the options of ``from_pretrained`` ask for; None where they ask for none."""
    config = options.get("quantization_config")
    if isinstance(config, dict):
        config = BitsAndBytesConfig(**config)
    if config is None and (options.get("load_in_8bit") or options.get("load_in_4bit")):
        names = ("load_in_8bit", "load_in_4bit", "bnb_4bit_compute_dtype", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant")
        config = BitsAndBytesConfig(**{name: options[name] for name in names if name in options})
    if config is None:
        return None
    if not isinstance(config, BitsAndBytesConfig):
        not_modelled("quantization other than by bitsandbytes")
        return None
    if config.load_in_8bit or config.load_in_4bit:
        said = "int8" if config.load_in_8bit else config.bnb_4bit_quant_type
        noted_argument("quantization", said, options, ("quantization_config", "load_in_8bit", "load_in_4bit"))
        return config
    return None


def kept_whole(name, config):
    skipped = NOT_CONVERTED if config.llm_int8_skip_modules is None else config.llm_int8_skip_modules
    return any(name == each or name.endswith("." + each) or name.startswith(each + ".") for each in skipped)


def sizes(layer):
    """Inputs and outputs of a layer that is packed; None of any other."""
    if type(layer) is nn.Linear:
        return layer.in_features, layer.out_features
    if type(layer).__name__ == "Conv1D":
        return layer.weight.shape[0], layer.weight.shape[1]
    return None


def packed(layer, config):
    from bitsandbytes.nn import Linear4bit, Linear8bitLt

    inputs, outputs = sizes(layer)
    has_bias = layer.bias is not None
    if config.load_in_8bit:
        return Linear8bitLt(inputs, outputs, has_bias, False, config.llm_int8_threshold, weight_dtype=layer.weight.dtype)
    return Linear4bit(
        inputs, outputs, has_bias, config.bnb_4bit_compute_dtype, config.bnb_4bit_use_double_quant, config.bnb_4bit_quant_type,
        config.bnb_4bit_quant_storage, weight_dtype=layer.weight.dtype,
    )  # fmt: skip


def quantized(model, config):
    """The model on the device, its linear layers packed."""
    for name, layer in [(name, layer) for name, layer in model.named_modules() if sizes(layer) is not None]:
        if not kept_whole(name, config):
            parent, _, own = name.rpartition(".")
            owner = model.get_submodule(parent)
            if isinstance(owner, (nn.ModuleList, nn.Sequential)):
                owner[int(own)] = packed(layer, config)
            else:
                setattr(owner, own, packed(layer, config))
    model.is_loaded_in_8bit = config.load_in_8bit
    model.is_loaded_in_4bit = config.load_in_4bit
    model.is_quantized = True
    return model.to("cuda")
