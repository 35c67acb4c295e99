"""The library's ``Auto`` classes: the zoo's families by the name of a model or the class of a configuration."""

import torch
from preflight_zoo.pretrained import Configuration
from preflight_host import catalog_config, default_load_dtype, noted_argument, override, release_config, zoo_class
from transformers.quantization import asked, quantized

SHORT = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
NOT_OF_THE_CONFIG = (
    "torch_dtype", "dtype", "device_map", "low_cpu_mem_usage", "trust_remote_code", "cache_dir", "token", "use_auth_token", "revision", "config",
    "ignore_mismatched_sizes", "local_files_only", "from_tf", "subfolder", "use_safetensors", "quantization_config", "load_in_8bit", "load_in_4bit",
    "bnb_4bit_compute_dtype", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant",
    "state_dict", "force_download", "max_memory", "offload_folder", "return_dict", "_fast_init",
)  # fmt: skip

#: Options that the constructors of some models take.
OF_THE_MODEL = ("add_pooling_layer",)


def config_of(name, options):
    part = options.get("subfolder")
    written = release_config(name)
    family, numbers, stored = catalog_config(name + "-" + part if part else name) if written is None else written
    given = {key: value for key, value in options.items() if key not in NOT_OF_THE_CONFIG}
    config = zoo_class(family, "config")(**{**numbers, **given})
    config._stored = stored
    config._family = family
    config._name_or_path = name + "-" + part if part else name
    return config


def with_overrides(config, attention):
    chosen = override("attention")
    if chosen is not None:
        attention = chosen
    padded = override("padded_batches")
    for part in [config, *[value for value in config.__dict__.values() if isinstance(value, Configuration)]]:
        if attention is not None:
            part._attn_implementation = attention
        if padded:
            part.padded_batches = True
        if override("use_cache") is False:
            part.use_cache = False
    return config


def load(cls, config, options):
    """A model as ``from_pretrained`` gives it: in the type that was asked for, switched to evaluation."""
    quantization = asked(options)
    with_overrides(config, options.get("attn_implementation"))
    for name in ("num_labels", "problem_type", "use_cache"):
        if name in options:
            setattr(config, name, options[name])
    dtype = options.get("dtype", options.get("torch_dtype"))
    if dtype is not None and dtype != "auto":
        noted_argument("precision", SHORT.get(str(dtype).rpartition(".")[2], "fp32"), options, ("dtype", "torch_dtype"))
    if dtype is None:
        dtype = default_load_dtype(config._stored, quantization is not None)
    own = {name: options[name] for name in OF_THE_MODEL if name in options}
    model = built(cls, config, config._stored if dtype == "auto" else dtype, own)
    model.eval()
    if quantization is not None:
        model = quantized(model, quantization)
    elif options.get("device_map") is not None:
        model.to("cuda")
    return model


def built(cls, config, dtype, own=None):
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    model = cls(config, **(own if own is not None else {}))
    torch.set_default_dtype(before)
    return model


def built_for(config, task):
    """The model of a configuration that does a task."""
    return zoo_class(config, task)(config)


class AutoConfig:
    @staticmethod
    def from_pretrained(name, **options):
        return config_of(name, options)


class _Auto:
    task = "base"

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path=None, config=None, **options):
        if config is None:
            config = config_of(pretrained_model_name_or_path, options)
        return load(zoo_class(config._family, cls.task), config, options)

    @classmethod
    def from_config(cls, config, **options):
        with_overrides(config, options.get("attn_implementation"))
        return built(zoo_class(config, cls.task), config, options.get("dtype", options.get("torch_dtype")) or torch.get_default_dtype())


class AutoModel(_Auto):
    pass


class AutoModelForCausalLM(_Auto):
    task = "causal-lm"


class AutoModelForMaskedLM(_Auto):
    task = "masked-lm"


class AutoModelForSequenceClassification(_Auto):
    task = "sequence-classification"


class AutoModelForTokenClassification(_Auto):
    task = "token-classification"


class AutoModelForQuestionAnswering(_Auto):
    task = "question-answering"


class AutoModelForSeq2SeqLM(_Auto):
    task = "seq2seq-lm"


class AutoModelForImageClassification(_Auto):
    task = "image-classification"


class AutoModelForSpeechSeq2Seq(_Auto):
    task = "speech-seq2seq"
