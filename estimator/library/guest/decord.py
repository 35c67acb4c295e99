"""``decord``: videos of which nobody knows how long and how large they are; a script's own limits decide what is left of them."""

import torch
from preflight_host import assumed

#: Ten seconds in high definition.
FRAMES, HEIGHT, WIDTH, RATE = 300, 720, 1280, 30
TAKEN = "how long and how large the videos are is not known: 300 frames of 720 × 1280 pixels are taken"


class VideoReader:
    def __init__(self, uri=None, ctx=None, width=-1, height=-1, num_threads=0, **options):
        assumed(TAKEN)
        self.shape = (height if height > 0 else HEIGHT, width if width > 0 else WIDTH, 3)

    def __len__(self):
        return FRAMES

    def get_avg_fps(self):
        return RATE

    def get_batch(self, indices):
        return torch.zeros((len(indices),) + self.shape, dtype=torch.uint8, device="cpu")

    def __getitem__(self, index):
        return torch.zeros(self.shape, dtype=torch.uint8, device="cpu")

    def seek(self, position):
        pass


def cpu(index=0):
    return index


gpu = cpu


class Bridge:
    def set_bridge(self, name):
        pass


bridge = Bridge()
