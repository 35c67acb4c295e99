"""What a loader's samples tell: known bounds, tables of rows that nobody has counted, places for what comes later."""

from __future__ import annotations

from tests.estimator.script.running import estimated

DETECTION = """
import random
import cv2
import numpy as np
import torch
from torch import nn

class Boxes(torch.utils.data.Dataset):
    def __init__(self, size):
        self.lines = open("boxes.txt").read().splitlines()
        self.cached = [None] * len(self.lines)
        self.size = size

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        picture = self.cached[index]
        if picture is None:
            picture = cv2.imread(self.lines[index])
        base = np.full((self.size * 2, self.size * 2, picture.shape[2]), 114, dtype=np.uint8)
        base = cv2.warpAffine(base, np.eye(3)[:2], dsize=(self.size, self.size))
        found = open(self.lines[index]).read().split()
        boxes = torch.zeros((len(found), 6))
        return torch.from_numpy(base.transpose(2, 0, 1)), boxes

def collate(batch):
    pictures, boxes = zip(*batch)
    return torch.stack(pictures, 0), torch.cat(boxes, 0)

size = int(torch.tensor([8, 32, 16]).max()) * 2
data = Boxes(size)
batch_size = min(24, len(data))
model = nn.Conv2d(3, 4, 3).cuda()
check = model(torch.zeros(1, 3, 8, 8).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
window = max(1, len(data) // 100)
last = -1
for number, (pictures, boxes) in enumerate(torch.utils.data.DataLoader(data, batch_size=batch_size, collate_fn=collate)):
    out = model(pictures.cuda().float() / 255).mean() + boxes.cuda().sum()
    out.backward()
    if number - last >= window:
        optimizer.step()
        optimizer.zero_grad()
        last = number
"""


def test_a_detector_s_loader_is_followed():
    found = estimated(DETECTION)
    assert found.memory.parameters == 3 * 4 * 9 + 4
    assert found.config.batch_size.value == 24
    assert found.config.image_size.value == 64
    assert found.memory.components.optimizer_state >= 0
    assert any("24 at most is used of it" in sentence for sentence in found.unknowns)
    assert any("rows a table of a sample has" in sentence for sentence in found.unknowns)


def test_numbers_that_were_written_over_are_not_known():
    written = DETECTION.replace("int(torch.tensor([8, 32, 16]).max()) * 2", "count()").replace("data = Boxes", "\ndata = Boxes")
    start = (
        "def count():\n    sizes = torch.tensor([8, 32, 16])\n    sizes[1] = torch.randint(3, (1,)).item()\n    return int(sizes.max()) * 2\n\nsize = count()"
    )
    found = estimated(written.replace("size = count()", start))
    assert found.memory is None


VOCABULARY = """
import torch
from torch import nn

numbers = {}
for line in open("corpus.txt"):
    for word in line.split():
        if word not in numbers:
            numbers[word] = len(numbers)

model = nn.Sequential(nn.Embedding(len(numbers), 32), nn.Linear(32, 8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.zeros(4, 16, dtype=torch.long).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_the_words_of_a_file_that_is_not_there_are_not_counted():
    found = estimated(VOCABULARY)
    assert found.memory is None
    assert any("how many different items there are" in sentence for sentence in found.unknowns)


def test_the_words_of_a_file_that_is_there_are():
    found = estimated({"train.py": VOCABULARY, "corpus.txt": "to be or not to be"})
    assert found.memory.parameters == 4 * 32 + 32 * 8 + 8
