"""Names that are other spellings of what guest source defines: the libraries' short names, and the zoo's classes under theirs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from estimator.tape import facade
from estimator.zoo import families, family

#: Dotted prefix to the module that defines the names after it.
_DEFINED_IN: Mapping[str, Mapping[str, str]] = {
    "transformers": {
        "transformers.auto": "AutoConfig AutoModel AutoModelForCausalLM AutoModelForMaskedLM AutoModelForSequenceClassification"
        " AutoModelForSeq2SeqLM AutoModelForTokenClassification AutoModelForQuestionAnswering AutoModelForImageClassification AutoModelForSpeechSeq2Seq"
        " AutoModelForMultipleChoice AutoModelForPreTraining AutoModelForMaskedImageModeling AutoModelForSemanticSegmentation"
        " AutoModelForInstanceSegmentation AutoModelForUniversalSegmentation AutoModelForObjectDetection AutoModelForDepthEstimation"
        " AutoModelForVideoClassification AutoModelForImageTextToText AutoModelForAudioClassification AutoModelForAudioFrameClassification"
        " AutoModelForCTC AutoBackbone CONFIG_MAPPING",
        "transformers.tokenizer": "AutoTokenizer PreTrainedTokenizer PreTrainedTokenizerFast PreTrainedTokenizerBase BatchEncoding",
        "transformers.processors": "AutoImageProcessor AutoFeatureExtractor AutoProcessor",
        "transformers.collators": "DataCollatorForLanguageModeling DataCollatorWithPadding DataCollatorForTokenClassification DataCollatorForSeq2Seq"
        " DataCollatorForMultipleChoice DataCollatorForPermutationLanguageModeling"
        " DefaultDataCollator default_data_collator",
        "transformers.schedules": "get_scheduler get_linear_schedule_with_warmup get_cosine_schedule_with_warmup get_constant_schedule"
        " get_constant_schedule_with_warmup get_polynomial_decay_schedule_with_warmup get_cosine_with_hard_restarts_schedule_with_warmup",
        "transformers.optimization": "Adafactor",
        "transformers.quantization": "BitsAndBytesConfig",
        "transformers.training_args": "TrainingArguments Seq2SeqTrainingArguments",
        "transformers.trainer": "Trainer Seq2SeqTrainer TrainerCallback EarlyStoppingCallback set_seed",
        "transformers.hf_argparser": "HfArgumentParser",
        "transformers.pipelines": "pipeline TextGenerationPipeline",
        "preflight_zoo.pretrained": "PreTrainedModel PretrainedConfig PreTrainedConfig GenerationConfig",
        "preflight_zoo.cache": "DynamicCache",
        "preflight_zoo.gpt2": "Conv1D",
        "preflight_zoo.clip": "CLIPTextConfig CLIPVisionConfig",
    },
    "transformers.trainer_utils": {"transformers.trainer": "is_main_process get_last_checkpoint set_seed"},
    "lightning.pytorch.cli": {"lightning.cli": "LightningCLI LightningArgumentParser"},
    "pytorch_lightning.cli": {"lightning.cli": "LightningCLI LightningArgumentParser"},
    "torch.nn": {"torch.nn.parallel": "DataParallel"},
    "torch.distributed": {"torch.distributed.device_mesh": "DeviceMesh init_device_mesh"},
    "torch.distributed.fsdp.wrap": {"torch.distributed.fsdp": "FullyShardedDataParallel"},
    "torch.nn.parallel.data_parallel": {"torch.nn.parallel": "DataParallel"},
    "torch.utils.data.dataloader": {"torch.utils.data": "DataLoader default_collate"},
    "torch.utils.data.dataset": {"torch.utils.data": "Dataset IterableDataset TensorDataset Subset ConcatDataset random_split"},
    "torch.utils.data.distributed": {"torch.utils.data": "DistributedSampler"},
    "torch.utils.data.sampler": {"torch.utils.data": "Sampler SequentialSampler RandomSampler SubsetRandomSampler WeightedRandomSampler BatchSampler"},
    "accelerate.utils": {
        "accelerate": "set_seed ProjectConfiguration DistributedDataParallelKwargs GradientAccumulationPlugin InitProcessGroupKwargs DataLoaderConfiguration"
        " find_executable_batch_size release_memory",
        "accelerate.sharding": "DeepSpeedPlugin FullyShardedDataParallelPlugin",
        "accelerate.unwrapping": "extract_model_from_parallel convert_outputs_to_fp32 gather_object FP8RecipeKwargs TERecipeKwargs AORecipeKwargs"
        " MSAMPRecipeKwargs",
    },
    "accelerate.utils.operations": {"accelerate.unwrapping": "convert_outputs_to_fp32 gather_object"},
    "accelerate.utils.other": {"accelerate.unwrapping": "extract_model_from_parallel"},
    "accelerate.utils.memory": {"accelerate": "find_executable_batch_size release_memory"},
    "accelerate": {"accelerate.sharding": "DeepSpeedPlugin FullyShardedDataParallelPlugin", "accelerate.state": "PartialState"},
}  # fmt: skip
#: Modules under another name.
_MODULES: Mapping[str, str] = {
    "transformers.file_utils": "transformers.utils",
    "transformers.models.auto": "transformers.auto",
    "transformers.models.auto.configuration_auto": "transformers.auto",
    "transformers.models.auto.modeling_auto": "transformers.auto",
    "transformers.integrations.deepspeed": "transformers.integrations",
    "transformers.integrations.fsdp": "transformers.integrations",
    "transformers.utils.quantization_config": "transformers.quantization",
    "bitsandbytes.nn.modules": "bitsandbytes.nn",
    "torch.distributed._composable.fsdp": "torch.distributed.fsdp",
    "torch.distributed.fsdp.fully_sharded_data_parallel": "torch.distributed.fsdp",
    "torch.distributed.fsdp.api": "torch.distributed.fsdp",
    "torchvision.transforms.v2": "torchvision.transforms",
    "torchvision.models.segmentation": "torchvision.segmentation",
    "torchvision.models.video": "torchvision.video",
    "torchvision.models.resnet": "torchvision.resnet",
    "torchvision.transforms.transforms": "torchvision.transforms",
    "torchvision.transforms.v2.functional": "torchvision.transforms.functional",
    "datasets.load": "datasets",
    "lightning_fabric": "lightning.fabric",
    "lightning.fabric.utilities.throughput": "lightning.fabric.utilities",
    "lightning.fabric.utilities.rank_zero": "lightning.fabric.utilities",
    "litdata.streaming": "litdata",
    "torchmetrics.classification": "torchmetrics",
    "torchmetrics.regression": "torchmetrics",
    "torchmetrics.aggregation": "torchmetrics",
    "torchmetrics.text": "torchmetrics",
    "torchmetrics.functional.classification": "torchmetrics.functional",
    "torchmetrics.image": "torchmetrics",
    "ignite.contrib.handlers": "ignite.handlers",
    "ignite.contrib.metrics": "ignite.metrics",
    "gym": "gymnasium",
    "torch.distributions.categorical": "torch.distributions",
    "torch.distributions.normal": "torch.distributions",
    "tqdm.auto": "tqdm",
    "tqdm.notebook": "tqdm",
    "tqdm.rich": "tqdm",
    "tqdm.std": "tqdm",
}


@cache
def second_names() -> Mapping[str, str]:
    """Dotted name to the dotted name that it is another spelling of."""
    found = dict(facade.REEXPORTS)
    for name in families():
        one = family(name)
        if one.mirrors.startswith("transformers"):
            found |= {f"transformers.{cls}": f"preflight_zoo.{name}.{cls}" for cls in (one.config, *one.builds.values())}
    for library, modules in _DEFINED_IN.items():
        found |= {f"{library}.{name}": f"{_renamed(module, name)}" for module, names in modules.items() for name in names.split()}
    return MappingProxyType(found)


def _renamed(module: str, name: str) -> str:
    return f"{module}.{_ZOO_SPELLINGS.get(name, name)}"


#: Classes that the zoo calls otherwise.
_ZOO_SPELLINGS = {
    "AutoImageProcessor": "ImageProcessor",
    "AutoFeatureExtractor": "FeatureExtractor",
    "AutoProcessor": "Processor",
    "PreTrainedModel": "PretrainedModel",
    "PretrainedConfig": "Configuration",
    "PreTrainedConfig": "Configuration",
}


#: What classes of transformers are by the ends of their names, whichever family they belong to.
_BY_ENDING: Mapping[str, str] = {
    "Tokenizer": "transformers.tokenizer.AutoTokenizer",
    "TokenizerFast": "transformers.tokenizer.AutoTokenizer",
    "ViTFeatureExtractor": "transformers.processors.NamedImageProcessor",
    "ImageProcessor": "transformers.processors.NamedImageProcessor",
    "ImageProcessorFast": "transformers.processors.NamedImageProcessor",
    "Wav2Vec2FeatureExtractor": "transformers.processors.Waveforms",
    "FeatureExtractor": "transformers.processors.FeatureExtractor",
    "Processor": "transformers.processors.Processor",
}


def second_name(dotted: str) -> str | None:
    """The name that ``dotted`` is another spelling of; None where it is none."""
    found = second_names().get(dotted)
    owner, _, name = dotted.rpartition(".")
    if found is not None or owner != "transformers":
        return found
    return next((target for ending, target in _BY_ENDING.items() if name.endswith(ending)), None)


def module_name(dotted: str) -> str:
    """The module that ``dotted`` is another name of, or itself."""
    return _MODULES.get(dotted, dotted)
