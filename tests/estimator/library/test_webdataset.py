"""Samples of tar files: a picture and a text go through the script's own stages and arrive as a batch."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

SCRIPT = """
import torch
import webdataset as wds
from torch.utils.data import default_collate
from torchvision import transforms

def read(source):
    for found in source:
        yield found

def prepared(sample):
    sample["image"] = transforms.ToTensor()(transforms.CenterCrop(64)(sample["image"]))
    return sample

{stages}
model = torch.nn.Conv2d(3, 8, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in loader:
    model(images.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
PIPELINE = """
stages = [wds.ResampledShards("{000..100}.tar"), read, wds.shuffle(10), wds.decode("pil"), wds.rename(image="jpg;png", text="txt"), wds.map(prepared),
          wds.to_tuple("image", "text"), wds.batched(6, partial=False, collation_fn=default_collate)]
loader = wds.WebLoader(wds.DataPipeline(*stages).with_epoch(100), batch_size=None, num_workers=2)
"""
FLUENT = """
data = wds.WebDataset("{000..100}.tar").shuffle(10).decode("pil").rename(image="jpg").map(prepared).to_tuple("image", "cls")
loader = wds.WebLoader(data, batch_size=6)
"""


def batch_of(stages):
    [found] = estimate(Snapshot.of({"train.py": SCRIPT.format(stages=stages).encode()}), Request(entry="train.py"))
    assert found.memory is not None, found.unknowns
    return found.config.batch_size.value, found.config.image_size.value


def test_stages_of_a_pipeline_make_a_batch():
    assert batch_of(PIPELINE) == (6, 64)


def test_stages_as_methods_make_the_same():
    assert batch_of(FLUENT) == (6, 64)
