"""How a named model is built and fed in the script that an estimate writes for it: which class, which inputs, which loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from estimator.catalog import Model
from estimator.zoo import family

#: Lengths taken where none is given, by family: what its positions or its tokenizer allow.
_LENGTH, _LENGTHS = 1024, {"bert": 512, "roberta": 512, "electra": 512, "distilbert": 512, "deberta_v2": 512, "t5": 512, "clip": 77}
_EDGE, _EDGES = 224, {"video_resnet": 112}
_LABELS_OF_IMAGES = "target = torch.zeros({batch}, dtype=torch.int64, device='cuda')"
_OWN_LOSS = ("outputs = model(**batch)", "loss = outputs.loss")
_CROSS_ENTROPY = ("outputs = model(**batch)", "loss = torch.nn.functional.cross_entropy(outputs, target)")
_NOISE = ("outputs = model(**batch).sample", "loss = torch.nn.functional.mse_loss(outputs.float(), target.float())")
_TOKENS = "torch.zeros({batch}, {length}, dtype=torch.int64, device='cuda')"


@dataclass(frozen=True, slots=True)
class Usage:
    """Lines of a script: ``builds`` makes the model, ``inputs`` what goes into it by name; ``loss`` trains it, with ``labels`` among its inputs.

    ``before`` stands before the inputs. In the lines are ``{name}``, ``{dtype}``, ``{batch}``, ``{length}``, ``{edge}`` and what else a family names.
    """

    builds: tuple[str, ...]
    inputs: Mapping[str, str]
    labels: str | None = None
    loss: tuple[str, ...] = _OWN_LOSS
    before: tuple[str, ...] = ()

    @property
    def takes_tokens(self) -> bool:
        """Whether a sequence length is one of its sizes."""
        return any("{length}" in line for line in self.inputs.values())

    @property
    def takes_images(self) -> bool:
        """Whether an image size is one of its sizes."""
        return any("{edge}" in line for line in self.inputs.values())


def _auto(task: str) -> tuple[str, ...]:
    return (f"from transformers import {task}", f"model = {task}.from_pretrained({{name!r}}, dtype={{dtype}}).cuda()")


_IMAGES = "torch.randn({batch}, 3, {edge}, {edge}, dtype={dtype}, device='cuda')"
_TEXT = {"input_ids": _TOKENS}
_CAUSAL = Usage(_auto("AutoModelForCausalLM"), _TEXT, "batch['input_ids']")
_MASKED = Usage(_auto("AutoModelForMaskedLM"), _TEXT, "batch['input_ids']")
_SEQUENCES = Usage(_auto("AutoModelForSeq2SeqLM"), _TEXT, "batch['input_ids']")
_TORCHVISION = Usage(
    ("import torchvision", "model = torchvision.models.get_model({name!r}).to({dtype}).cuda()"),
    {"x": _IMAGES},
    loss=_CROSS_ENTROPY,
    before=(_LABELS_OF_IMAGES,),
)
#: Sixteen pictures one after another, as the published weights were trained on.
_CLIPS = replace(_TORCHVISION, inputs={"x": "torch.randn({batch}, 3, 16, {edge}, {edge}, dtype={dtype}, device='cuda')"})
_TIMM = Usage(("import timm", "model = timm.create_model({name!r}).to({dtype}).cuda()"), {"x": _IMAGES}, loss=_CROSS_ENTROPY, before=(_LABELS_OF_IMAGES,))
_DENOISER = Usage(
    ("from diffusers import UNet2DConditionModel", "model = UNet2DConditionModel.from_pretrained({name!r}, subfolder='unet', torch_dtype={dtype}).cuda()"),
    {
        "sample": "torch.randn({batch}, 4, {latent}, {latent}, dtype={dtype}, device='cuda')",
        "timestep": "torch.zeros({batch}, dtype=torch.int64, device='cuda')",
        "encoder_hidden_states": "torch.randn({batch}, 77, {cross}, dtype={dtype}, device='cuda')",
        "added_cond_kwargs": "{added}",
    },
    loss=_NOISE,
    before=("target = torch.randn({batch}, 4, {latent}, {latent}, dtype={dtype}, device='cuda')",),
)
_ADDED = (
    "{{'text_embeds': torch.randn({batch}, 1280, dtype={dtype}, device='cuda'), "
    "'time_ids': torch.zeros({batch}, 6, dtype={dtype}, device='cuda')}}"
)  # fmt: skip
_AUTOENCODER = Usage(
    ("from diffusers import AutoencoderKL", "model = AutoencoderKL.from_pretrained({name!r}, torch_dtype={dtype}).cuda()"),
    {"sample": _IMAGES},
    loss=("outputs = model(**batch).sample", "loss = torch.nn.functional.mse_loss(outputs.float(), batch['sample'].float())"),
)
#: Places of the latents of Flux, and of its text.
_FLUX = Usage(
    ("from diffusers import FluxTransformer2DModel", "model = FluxTransformer2DModel.from_pretrained({name!r}, torch_dtype={dtype}).cuda()"),
    {
        "hidden_states": "torch.randn({batch}, 4096, 64, dtype={dtype}, device='cuda')",
        "encoder_hidden_states": "torch.randn({batch}, 512, 4096, dtype={dtype}, device='cuda')",
        "pooled_projections": "torch.randn({batch}, 768, dtype={dtype}, device='cuda')",
        "timestep": "torch.rand({batch}, dtype={dtype}, device='cuda')",
        "img_ids": "torch.zeros(4096, 3, dtype={dtype}, device='cuda')",
        "txt_ids": "torch.zeros(512, 3, dtype={dtype}, device='cuda')",
        "guidance": "{guidance}",
    },
    loss=_NOISE,
    before=("target = torch.randn({batch}, 4096, 64, dtype={dtype}, device='cuda')",),
)
_LABELLED = "torch.zeros({batch}, dtype=torch.int64, device='cuda')"
#: By what a family of transformers builds; the first that it has decides.
_BY_TASK: Mapping[str, Usage] = {
    "causal-lm": _CAUSAL,
    "masked-lm": _MASKED,
    "seq2seq-lm": _SEQUENCES,
    "image-classification": Usage(_auto("AutoModelForImageClassification"), {"pixel_values": _IMAGES}, _LABELLED),
    "sequence-classification": Usage(_auto("AutoModelForSequenceClassification"), _TEXT, _LABELLED),
    "speech-seq2seq": Usage(
        _auto("AutoModelForSpeechSeq2Seq"),
        {"input_features": "torch.randn({batch}, {bins}, 3000, dtype={dtype}, device='cuda')"},
        "torch.zeros({batch}, 448, dtype=torch.int64, device='cuda')",
    ),
    "vision": Usage(_auto("AutoModel"), {"input_ids": _TOKENS, "pixel_values": _IMAGES, "return_loss": "True"}),
    "denoising": _DENOISER,
    "flow": _FLUX,
    "autoencoding": _AUTOENCODER,
}
_BY_LIBRARY: Mapping[str, Usage] = {"torchvision": _TORCHVISION, "timm": _TIMM}


def usage_of(model: Model) -> Usage:
    """How ``model`` is used: by the library that its family mirrors, else by what the family builds."""
    written = model.config.get("architectures")
    if written:
        return _encoder(str(written[0]))
    one = family(model.family)
    if "video-classification" in one.builds:
        return _CLIPS
    named = _BY_LIBRARY.get(one.mirrors.partition(" ")[0])
    return named if named is not None else next(usage for task, usage in _BY_TASK.items() if task in one.builds)


def _encoder(architecture: str) -> Usage:
    """The text encoder of a pipeline, trained by itself."""
    builds = (f"from transformers import {architecture}", f"model = {architecture}.from_pretrained({{name!r}}, dtype={{dtype}}).cuda()")
    return Usage(builds, _TEXT, loss=("outputs = model(**batch)", "loss = outputs.last_hidden_state.float().mean()"))


def usual_length(model: Model) -> int:
    """The sequence length taken where none is given."""
    return _LENGTHS.get(model.family, _LENGTH)


def usual_edge(model: Model) -> int:
    """The image size taken where none is given: what the model is made for, else 224."""
    vision: Any = model.config.get("vision_config", model.config)
    found = vision.get("image_size", vision.get("img_size"))
    written = [int(part) for part in model.name.split("_") if part.isdigit() and int(part) >= _EDGE]
    return found if isinstance(found, int) else written[-1] if written else _EDGES.get(model.family, _EDGE)


def own_numbers(model: Model, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a family's lines name beside the sizes that are settings."""
    config = model.config
    latent = config.get("sample_size", 64)
    added = _ADDED.format(**values) if config.get("addition_embed_type") == "text_time" else "None"
    guidance = "torch.ones({batch}, dtype={dtype}, device='cuda')".format(**values) if config.get("guidance_embeds") else "None"
    return {
        "bins": config.get("num_mel_bins", 80),
        "latent": latent,
        "cross": config.get("cross_attention_dim", 768),
        "added": added,
        "guidance": guidance,
    }
