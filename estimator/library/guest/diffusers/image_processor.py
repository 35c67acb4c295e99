"""Pictures for autoencoders and back. Mirrors diffusers 0.42.1 (``image_processor.py``) in the shapes of what comes of them."""

import torch
from diffusers.configuration_utils import ConfigMixin, register_to_config


def many(pictures):
    return pictures if isinstance(pictures, (list, tuple)) else [pictures]


class VaeImageProcessor(ConfigMixin):
    @register_to_config
    def __init__(self, do_resize=True, vae_scale_factor=8, vae_latent_channels=4, resample="lanczos", do_normalize=True, **options):
        pass

    def sides(self, picture, height, width):
        """Height and width as they are asked for or are, down to whole places of the latents."""
        if height is None or width is None:
            own = picture.shape[-2:] if isinstance(picture, torch.Tensor) else (picture.height, picture.width)
            height, width = (own[0] if height is None else height), (own[1] if width is None else width)
        factor = self.config.vae_scale_factor
        return height - height % factor, width - width % factor

    def preprocess(self, image, height=None, width=None, **options):
        if isinstance(image, torch.Tensor) and image.ndim == 4:
            return torch.zeros(tuple(image.shape[:2]) + self.sides(image, height, width))
        pictures = many(image)
        return torch.zeros((len(pictures), 3) + self.sides(pictures[0], height, width))

    def postprocess(self, image, output_type="pil", **options):
        return list(image)


class PipelineImageInput:
    pass


PixArtImageProcessor = VaeImageProcessor
