"""What holds the library's source together: outputs, questions about the surroundings, decorators. Mirrors diffusers 0.42.1 (``utils``)."""

from decord import FRAMES, TAKEN
from preflight_host import assumed, image
from transformers.modeling_outputs import ModelOutput
from transformers.utils import logging

USE_PEFT_BACKEND = False
CONFIG_NAME = "config.json"
WEIGHTS_NAME = "diffusion_pytorch_model.bin"
SAFETENSORS_WEIGHTS_NAME = "diffusion_pytorch_model.safetensors"
BaseOutput = ModelOutput


def apply_lora_scale(kwargs_name="joint_attention_kwargs"):
    return same


def same(function):
    return function


def deprecate(*args, **options):
    pass


scale_lora_layers = unscale_lora_layers = deprecate


def is_torch_version(operation, version):
    """The release that is mirrored is newer than all that is asked for."""
    return operation in (">", ">=", "!=")


def _no(*args, **options):
    return False


def _yes(*args, **options):
    return True


is_torchvision_available = is_torch_available = is_transformers_available = _yes
is_torch_npu_available = is_torch_xla_available = is_torch_xla_version = is_torch_mlu_available = _no
is_flash_attn_available = is_flash_attn_3_available = is_sageattention_available = is_kernels_available = is_aiter_available = _no


def load_video(video, **options):
    """The pictures of a video of which nobody knows how long it is."""
    assumed(TAKEN)
    return [image(3, None) for _ in range(FRAMES)]
