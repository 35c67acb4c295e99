"""Model families in our own words: PyTorch source that the interpreter reads where the library's own is not at hand.

The files under ``guest/`` are read as data and never imported here; among themselves they are the package ``preflight_zoo``. Each
mirrors one version of one library: the same parameter names, the same operations in the same order, the same things kept alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: The name under which the zoo's files import each other.
PACKAGE = "preflight_zoo"


@dataclass(frozen=True, slots=True)
class Family:
    """One family: ``config`` is the class that takes the library's arguments, ``builds`` the classes by what they do."""

    name: str
    config: str
    builds: Mapping[str, str]  # "causal-lm" -> "GPT2LMHeadModel"; the first is what the file's ``build(config)`` gives
    mirrors: str


_TRANSFORMERS = "transformers 5.24.0"

_FAMILIES = (
    Family("gpt2", "GPT2Config", {"causal-lm": "GPT2LMHeadModel", "base": "GPT2Model"}, _TRANSFORMERS),
    Family(
        "llama",
        "LlamaConfig",
        {"causal-lm": "LlamaForCausalLM", "sequence-classification": "LlamaForSequenceClassification", "base": "LlamaModel"},
        _TRANSFORMERS,
    ),
    Family(
        "mistral",
        "MistralConfig",
        {"causal-lm": "MistralForCausalLM", "sequence-classification": "MistralForSequenceClassification", "base": "MistralModel"},
        _TRANSFORMERS,
    ),
    Family(
        "qwen2",
        "Qwen2Config",
        {"causal-lm": "Qwen2ForCausalLM", "sequence-classification": "Qwen2ForSequenceClassification", "base": "Qwen2Model"},
        _TRANSFORMERS,
    ),
    Family(
        "bert",
        "BertConfig",
        {
            "sequence-classification": "BertForSequenceClassification",
            "masked-lm": "BertForMaskedLM",
            "base": "BertModel",
            "token-classification": "BertForTokenClassification",
            "question-answering": "BertForQuestionAnswering",
            "multiple-choice": "BertForMultipleChoice",
        },
        _TRANSFORMERS,
    ),
    Family(
        "roberta",
        "RobertaConfig",
        {
            "sequence-classification": "RobertaForSequenceClassification",
            "masked-lm": "RobertaForMaskedLM",
            "base": "RobertaModel",
            "token-classification": "RobertaForTokenClassification",
            "question-answering": "RobertaForQuestionAnswering",
            "multiple-choice": "RobertaForMultipleChoice",
        },
        _TRANSFORMERS,
    ),
    Family(
        "electra",
        "ElectraConfig",
        {"sequence-classification": "ElectraForSequenceClassification", "masked-lm": "ElectraForMaskedLM", "base": "ElectraModel"},
        _TRANSFORMERS,
    ),
    Family(
        "distilbert",
        "DistilBertConfig",
        {"sequence-classification": "DistilBertForSequenceClassification", "masked-lm": "DistilBertForMaskedLM", "base": "DistilBertModel"},
        _TRANSFORMERS,
    ),
    Family(
        "phi3",
        "Phi3Config",
        {"causal-lm": "Phi3ForCausalLM", "sequence-classification": "Phi3ForSequenceClassification", "base": "Phi3Model"},
        _TRANSFORMERS,
    ),
    Family(
        "phi",
        "PhiConfig",
        {"causal-lm": "PhiForCausalLM", "sequence-classification": "PhiForSequenceClassification", "base": "PhiModel"},
        _TRANSFORMERS,
    ),
    Family(
        "qwen3",
        "Qwen3Config",
        {"causal-lm": "Qwen3ForCausalLM", "sequence-classification": "Qwen3ForSequenceClassification", "base": "Qwen3Model"},
        _TRANSFORMERS,
    ),
    Family("glm", "GlmConfig", {"causal-lm": "GlmForCausalLM", "base": "GlmModel"}, _TRANSFORMERS),
    Family("qwen2_5_vl", "Qwen2_5_VLConfig", {"image-text-to-text": "Qwen2_5_VLForConditionalGeneration", "base": "Qwen2_5_VLModel"}, _TRANSFORMERS),
    Family("qwen3_vl", "Qwen3VLConfig", {"image-text-to-text": "Qwen3VLForConditionalGeneration", "base": "Qwen3VLModel"}, _TRANSFORMERS),
    Family(
        "gemma",
        "GemmaConfig",
        {"causal-lm": "GemmaForCausalLM", "sequence-classification": "GemmaForSequenceClassification", "base": "GemmaModel"},
        _TRANSFORMERS,
    ),
    Family(
        "gemma2",
        "Gemma2Config",
        {"causal-lm": "Gemma2ForCausalLM", "sequence-classification": "Gemma2ForSequenceClassification", "base": "Gemma2Model"},
        _TRANSFORMERS,
    ),
    Family(
        "opt",
        "OPTConfig",
        {"causal-lm": "OPTForCausalLM", "sequence-classification": "OPTForSequenceClassification", "base": "OPTModel"},
        _TRANSFORMERS,
    ),
    Family(
        "gpt_neox",
        "GPTNeoXConfig",
        {"causal-lm": "GPTNeoXForCausalLM", "sequence-classification": "GPTNeoXForSequenceClassification", "base": "GPTNeoXModel"},
        _TRANSFORMERS,
    ),
    Family(
        "mixtral",
        "MixtralConfig",
        {"causal-lm": "MixtralForCausalLM", "sequence-classification": "MixtralForSequenceClassification", "base": "MixtralModel"},
        _TRANSFORMERS,
    ),
    Family(
        "qwen3_moe",
        "Qwen3MoeConfig",
        {"causal-lm": "Qwen3MoeForCausalLM", "sequence-classification": "Qwen3MoeForSequenceClassification", "base": "Qwen3MoeModel"},
        _TRANSFORMERS,
    ),
    Family(
        "qwen2_moe",
        "Qwen2MoeConfig",
        {"causal-lm": "Qwen2MoeForCausalLM", "sequence-classification": "Qwen2MoeForSequenceClassification", "base": "Qwen2MoeModel"},
        _TRANSFORMERS,
    ),
    Family("deberta_v2", "DebertaV2Config", {"sequence-classification": "DebertaV2ForSequenceClassification", "base": "DebertaV2Model"}, _TRANSFORMERS),
    Family("vit", "ViTConfig", {"image-classification": "ViTForImageClassification", "base": "ViTModel"}, _TRANSFORMERS),
    Family("transformers_swin", "SwinConfig", {"image-classification": "SwinForImageClassification", "base": "SwinModel"}, _TRANSFORMERS),
    Family("transformers_convnext", "ConvNextConfig", {"image-classification": "ConvNextForImageClassification", "base": "ConvNextModel"}, _TRANSFORMERS),
    Family("whisper", "WhisperConfig", {"speech-seq2seq": "WhisperForConditionalGeneration", "base": "WhisperModel"}, _TRANSFORMERS),
    Family("t5", "T5Config", {"seq2seq-lm": "T5ForConditionalGeneration", "base": "T5Model", "encoder": "T5EncoderModel"}, _TRANSFORMERS),
    Family("bart", "BartConfig", {"seq2seq-lm": "BartForConditionalGeneration", "base": "BartModel"}, _TRANSFORMERS),
    Family(
        "clip",
        "CLIPConfig",
        {
            "base": "CLIPModel",
            "text": "CLIPTextModel",
            "vision": "CLIPVisionModel",
            "text-projection": "CLIPTextModelWithProjection",
            "vision-projection": "CLIPVisionModelWithProjection",
        },
        _TRANSFORMERS,
    ),
    Family("unet_2d_condition", "UNet2DConditionConfig", {"denoising": "UNet2DConditionModel"}, "diffusers 0.42.1"),
    Family("autoencoder_kl", "AutoencoderKLConfig", {"autoencoding": "AutoencoderKL"}, "diffusers 0.42.1"),
    Family("controlnet", "ControlNetConfig", {"control": "ControlNetModel"}, "diffusers 0.42.1"),
    Family("flux", "FluxConfig", {"flow": "FluxTransformer2DModel"}, "diffusers 0.42.1"),
    Family("unet_2d", "UNet2DConfig", {"denoising": "UNet2DModel"}, "diffusers 0.42.1"),
    Family("timm_vit", "TimmVitConfig", {"image-classification": "VisionTransformer"}, "timm 1.0.31"),
    Family("timm_convnext", "TimmConvNeXtConfig", {"image-classification": "TimmConvNeXt"}, "timm 1.0.31"),
    Family("timm_swin", "TimmSwinConfig", {"image-classification": "SwinTransformer"}, "timm 1.0.31"),
    Family("timm_efficientnet", "TimmEfficientNetConfig", {"image-classification": "EfficientNet"}, "timm 1.0.31"),
    Family("timm_resnet", "TimmResNetConfig", {"image-classification": "ResNet"}, "timm 1.0.31"),
    Family("efficientnet", "EfficientNetConfig", {"image-classification": "EfficientNet"}, "torchvision 0.29.1"),
    Family("mobilenet_v2", "MobileNetV2Config", {"image-classification": "MobileNetV2"}, "torchvision 0.29.1"),
    Family("mobilenet_v3", "MobileNetV3Config", {"image-classification": "MobileNetV3"}, "torchvision 0.29.1"),
    Family("swin_transformer", "SwinTransformerConfig", {"image-classification": "SwinTransformer"}, "torchvision 0.29.1"),
    Family("vgg", "VGGConfig", {"image-classification": "VGG"}, "torchvision 0.29.1"),
    Family("resnet", "ResNetConfig", {"image-classification": "ResNet"}, "torchvision 0.29.1"),
    Family("video_resnet", "VideoResNetConfig", {"video-classification": "VideoResNet"}, "torchvision 0.29.1"),
    Family("segmentation", "SegmentationConfig", {"segmentation": "SegmentationModel"}, "torchvision 0.29.1"),
    Family("densenet", "DenseNetConfig", {"image-classification": "DenseNet"}, "torchvision 0.29.1"),
    Family("vision_transformer", "VisionTransformerConfig", {"image-classification": "TorchvisionViT"}, "torchvision 0.29.1"),
    Family("convnext", "ConvNeXtConfig", {"image-classification": "ConvNeXt"}, "torchvision 0.29.1"),
)


def families() -> tuple[str, ...]:
    """The families' names, which the catalog's models refer to."""
    return tuple(family.name for family in _FAMILIES)


def family(name: str) -> Family:
    """The family called ``name``. Raises ``KeyError`` naming the families there are."""
    for one in _FAMILIES:
        if one.name == name:
            return one
    raise KeyError(f"The zoo has no family {name!r}; it has {', '.join(families())}.")


def mirrored() -> Mapping[str, str]:
    """The libraries that families mirror, each with its version."""
    return {library: version for library, _, version in (family.mirrors.partition(" ") for family in _FAMILIES)}


def source_of(name: str) -> str:
    """The source of one family's file, which imports others of ``sources()`` as ``preflight_zoo.<file>``."""
    return sources()[f"{PACKAGE}/{family(name).name}.py"]


@cache
def sources() -> Mapping[str, str]:
    """Every file of the guest package by its path, ``preflight_zoo/gpt2.py``: what a snapshot takes in for the interpreter to import."""
    files = sorted((Path(__file__).parent / "guest").glob("*.py"))
    return {f"{PACKAGE}/{path.name}": path.read_text(encoding="utf-8") for path in files} | {f"{PACKAGE}/__init__.py": ""}
