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


CAPTIONS = """
import json
import torch
from diffusers.utils import load_video
from diffusers.video_processor import VideoProcessor
from torch import nn
from transformers import AutoTokenizer

class Clips(torch.utils.data.Dataset):
    def __init__(self):
        self.processor = VideoProcessor(vae_scale_factor=8, resample="bilinear")

    def __len__(self):
        return 100

    def __getitem__(self, index):
        with open("captions/" + str(index) + ".json") as file:
            caption = json.load(file)["caption"]
        return {"video": self.processor.preprocess_video(load_video("a.mp4")[:5], height=36, width=32)[0], "caption": caption}

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
embedding, model = nn.Embedding(200000, 8).cuda(), nn.Sequential(nn.Conv3d(3, 4, 1), nn.Flatten()).cuda()
optimizer = torch.optim.SGD([*embedding.parameters(), *model.parameters()], lr=0.1)
for batch in torch.utils.data.DataLoader(Clips(), batch_size=2):
    rows = []
    for place in range(len(batch["caption"])):
        rows.append(torch.LongTensor(tokenizer(batch["caption"][place], padding="max_length", truncation=True, max_length=16)["input_ids"]))
    states = embedding(torch.stack(rows, dim=0).cuda())
    assert states.shape == (2, 16, 8) and batch["video"].shape == (2, 3, 5, 32, 32)
    (model(batch["video"].cuda()).sum() + states.sum()).backward()
    optimizer.step()
"""


def test_captions_that_nobody_knows_are_as_many_as_their_videos():
    found = estimated(CAPTIONS)
    assert found.memory is not None
    assert found.config.batch_size.value == 2
