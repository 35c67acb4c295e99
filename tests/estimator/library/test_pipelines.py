"""Parts of published pipelines, the options that name them, and pictures whose size only the run can tell."""

from __future__ import annotations

from tests.estimator.script.running import estimated

PARTS = """
import argparse
from huggingface_hub import model_info
from diffusers import AutoencoderKL
from transformers import CLIPTextModel, CLIPTokenizer
import torch

name = "stable-diffusion-v1-5/stable-diffusion-v1-5"
tokenizer = CLIPTokenizer.from_pretrained(name, subfolder="tokenizer")
encoder = CLIPTextModel.from_pretrained(name, subfolder="text_encoder").cuda()
if any(file.rfilename == "vae/" + AutoencoderKL.config_name for file in model_info(name).siblings):
    vae = AutoencoderKL.from_pretrained(name, subfolder="vae").cuda()
    vae.requires_grad_(False)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for _ in range(10):
    ids = tokenizer(["a"] * 2, padding="max_length", truncation=True, return_tensors="pt").input_ids.cuda()
    encoder(ids).last_hidden_state.mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_pipelines_parts_are_found_by_their_folders():
    found = estimated(PARTS)
    assert found.unknowns == ()
    assert found.memory is not None
    assert found.memory.trainable_parameters == 123_060_480
    assert found.memory.components.parameters >= 4 * (123_060_480 + 83_653_863)
    assert found.config.sequence_length.value == 77


MANY = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--widths", type=int, nargs="+", default=[8])
args = parser.parse_args()
layers = [torch.nn.Linear(a, b) for a, b in zip(args.widths, args.widths[1:])]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    model(torch.randn(4, args.widths[0], device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_an_option_of_many_values_takes_all_of_them():
    found = estimated(MANY, arguments=("--widths", "64", "32", "16"), named={"widths": "64"})
    assert found.memory is not None
    assert found.memory.parameters == 65 * 32 + 33 * 16


PICTURES = """
import torch
from datasets import load_dataset
from torchvision import transforms

crop = transforms.RandomCrop(64)
data = load_dataset("someone/pictures", split="train")
if "image" not in data.column_names:
    raise ValueError("no pictures")

def prepared(rows):
    sizes = []
    for picture in rows["image"]:
        top, left, height, width = crop.get_params(picture, (64, 64))
        sizes.append((picture.height, picture.width, top, left))
    rows["sizes"] = sizes
    return rows

data = data.with_transform(prepared)
model = torch.nn.Linear(6, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for row in data:
    numbers = torch.tensor([list(row["sizes"] + (64, 64))], dtype=torch.float32)
    model(numbers.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_numbers_that_only_a_picture_tells_fill_a_tensor_of_known_shape():
    found = estimated(PICTURES)
    assert found.memory is not None, found.unknowns
    assert found.memory.parameters == 7 * 1024
