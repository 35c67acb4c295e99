"""Videos for autoencoders. Mirrors diffusers 0.42.1 (``video_processor.py``) in the shapes of what comes of them."""

import torch
from diffusers.image_processor import VaeImageProcessor


class VideoProcessor(VaeImageProcessor):
    """A video is a list of pictures, or a tensor of them; what comes of some is batch, channels, pictures, height and width."""

    def preprocess_video(self, video, height=None, width=None, **options):
        videos = video if isinstance(video, (list, tuple)) and isinstance(video[0], (list, tuple)) else [video]
        frames = [self.preprocess(each, height, width) for each in videos]
        return torch.stack(frames, dim=0).permute(0, 2, 1, 3, 4)

    def postprocess_video(self, video, output_type="np", **options):
        return [list(each) for each in video]
