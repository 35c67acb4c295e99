"""Videos on a disk are taken to be long and large enough, in the open: what a script leaves of them decides."""

from __future__ import annotations

from tests.estimator.script.running import estimated

SCRIPT = """
import decord
import torch
from torch import nn
from torchvision.transforms.functional import crop, resize

decord.bridge.set_bridge("torch")

def clip(path, frames=9, edge=32):
    reader = decord.VideoReader(uri=path)
    step = len(reader) // frames
    pictures = reader.get_batch(list(range(0, len(reader), step))[:frames]).permute(0, 3, 1, 2) / 127.5 - 1
    pictures = resize(pictures, size=[edge, int(pictures.shape[3] * edge / pictures.shape[2])])
    return crop(pictures, top=0, left=0, height=edge, width=edge)

{before}
model = nn.Sequential(nn.Conv3d(3, 4, 1), nn.Flatten()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(clip("a.mp4").permute(1, 0, 2, 3).unsqueeze(0).cuda()).sum().backward()
    optimizer.step()
"""


def test_a_scripts_own_limits_decide_what_is_left_of_a_video():
    found = estimated(SCRIPT.replace("{before}", ""))
    assert found.unknowns == ("how long and how large the videos are is not known: 300 frames of 720 × 1280 pixels are taken",)
    assert found.memory.components.activations > 9 * 32 * 32 * (3 + 4) * 4


def test_the_model_that_trains_is_found_after_many_others():
    found = estimated(SCRIPT.replace("{before}", "small = nn.Linear(2, 2).cuda()\nfor _ in range(100):\n    small(torch.zeros(1, 2).cuda())\ndel small"))
    assert found.memory.trainable_parameters == 3 * 4 + 4
