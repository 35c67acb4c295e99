"""The library's ``Auto`` classes: the zoo's families by the name of a model or the class of a configuration."""

import torch
from preflight_zoo.pretrained import Configuration
from preflight_host import catalog_config, default_load_dtype, noted_argument, override, own_config_class, release_config, zoo_class
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
        dtype = default_load_dtype(getattr(config, "_stored", None), quantization is not None)
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
    cls, config = chosen(config, task)
    return cls(config)


def chosen(config, task):
    """The class that does a task, and the configuration as it takes it: the library's own classes take the library's own configurations."""
    cls = zoo_class(getattr(config, "_family", None) or config, task)
    own = own_config_class(config, cls)
    if own is None:
        return cls, config
    numbers = config.__dict__
    made = own(**{name: value for name, value in numbers.items() if not name.startswith("_")})
    for name in numbers:
        if name.startswith("_"):
            setattr(made, name, numbers[name])
    return cls, made


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
        return load(*chosen(config, cls.task), options)

    @classmethod
    def from_config(cls, config, **options):
        model, config = chosen(with_overrides(config, options.get("attn_implementation")), cls.task)
        return built(model, config, options.get("dtype", options.get("torch_dtype")) or torch.get_default_dtype())


class AutoModel(_Auto):
    pass


class ConfigMapping:
    """Classes of configurations by the type of a model."""

    def __getitem__(self, model_type):
        return zoo_class(model_type, "config")

    def __contains__(self, model_type):
        return True


CONFIG_MAPPING = ConfigMapping()
#: What models do, by the name of the class that picks one for it.
TASKS = {
    "AutoModelForCausalLM": "causal-lm", "AutoModelForMaskedLM": "masked-lm", "AutoModelForSequenceClassification": "sequence-classification",
    "AutoModelForTokenClassification": "token-classification", "AutoModelForQuestionAnswering": "question-answering",
    "AutoModelForMultipleChoice": "multiple-choice", "AutoModelForSeq2SeqLM": "seq2seq-lm", "AutoModelForPreTraining": "pretraining",
    "AutoModelForImageClassification": "image-classification", "AutoModelForMaskedImageModeling": "masked-image-modeling",
    "AutoModelForSemanticSegmentation": "semantic-segmentation", "AutoModelForInstanceSegmentation": "instance-segmentation",
    "AutoModelForUniversalSegmentation": "universal-segmentation", "AutoModelForObjectDetection": "object-detection",
    "AutoModelForDepthEstimation": "depth-estimation", "AutoModelForVideoClassification": "video-classification",
    "AutoModelForImageTextToText": "image-text-to-text", "AutoModelForSpeechSeq2Seq": "speech-seq2seq",
    "AutoModelForAudioClassification": "audio-classification", "AutoModelForAudioFrameClassification": "audio-frame-classification",
    "AutoModelForCTC": "ctc", "AutoBackbone": "backbone",
}  # fmt: skip
globals().update({name: type(name, (_Auto,), {"task": task}) for name, task in TASKS.items()})
