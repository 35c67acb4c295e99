"""A text whose file is not in the repository, numbered by its characters: how many different ones there are is taken in the open."""

from __future__ import annotations

from analysis.certainty import Assumed
from tests.estimator.script.running import estimated

SCRIPT = """
import torch
from torch import nn

with open("input.txt", encoding="utf-8") as file:
    text = file.read()
known = sorted(list(set({of})))
numbers = {{each: index for index, each in enumerate(known)}}
data = torch.tensor([numbers[each] for each in {of}], dtype=torch.long)
train = data[: int(0.9 * len(data))]
model = nn.Sequential(nn.Embedding(len(known), 16), nn.Linear(16, len(known))).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    starts = torch.randint(len(train) - 32, (8,))
    rows = torch.stack([train[i : i + 32] for i in starts]).to("cuda")
    model(rows).sum().backward()
    optimizer.step()
"""


def test_characters_are_counted_as_those_that_are_printed():
    found = estimated(SCRIPT.format(of="text"))
    assert found.memory.parameters == 96 * 16 + 17 * 96
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (8, 32)
    assert isinstance(found.config.model, Assumed)
    assert "how many different characters" in found.config.model.why


def test_words_are_not_taken_for_characters():
    assert estimated(SCRIPT.format(of="text.split()")).memory is None
