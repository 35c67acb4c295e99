"""Bare vocabularies: how long a text of a data set is, is assumed; what it is cut to bounds it; a file's windows are full."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed, Known
from tests.estimator.script.running import estimated

SCRIPT = """
import numpy as np
import torch
from datasets import load_dataset
from torch import nn
{made}

texts = load_dataset("imdb", split="train")

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        tokens = [1]
        tokens.extend({encode})
        tokens = tokens + [2]
        tokens = {cut}
        mask = [True] * len(tokens)
        return {{"tokens": tokens, "labels": list(np.where(mask, -100, tokens))}}

def collate(batch):
    return {{name: nn.utils.rnn.pad_sequence([torch.tensor(row[name]) for row in batch], batch_first=True) for name in ("tokens", "labels")}}

model = nn.Sequential(nn.Embedding(1000, 32), nn.Linear(32, 1000)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Rows(), batch_size=4, collate_fn=collate):
    logits = model(batch["tokens"].cuda())
    nn.functional.cross_entropy(logits.view(-1, 1000), batch["labels"].cuda().view(-1)).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
VOCABULARIES = {
    "tiktoken": ("import tiktoken\nencoding = tiktoken.get_encoding('gpt2')", "encoding.encode(texts[index]['text'])"),
    "sentencepiece": ("import sentencepiece\nspm = sentencepiece.SentencePieceProcessor(model_file='a.model')", "spm.encode(texts[index]['text'])"),
    "tokenizers": ("from tokenizers import Tokenizer\ntokenizer = Tokenizer.from_file('a.json')", "tokenizer.encode(texts[index]['text']).ids"),
}


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize(("cut", "length", "bounded"), [("tokens", 512, False), ("tokens[:100]", 100, True)])
def test_the_length_of_a_text_is_assumed(name, cut, length, bounded):
    made, encode = VOCABULARIES[name]
    found = estimated(SCRIPT.format(made=made, encode=encode, cut=cut))
    sequence = found.config.sequence_length
    assert isinstance(sequence, Assumed)
    assert (sequence.value, sequence.at_most) == (length, bounded)
    assert found.config.batch_size.value == 4


WINDOWS = """
import tiktoken
import torch
from torch import nn

tokens = tiktoken.get_encoding("gpt2").encode(open("input.txt").read())
model = nn.Embedding(50257, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    x = torch.tensor(tokens[step * 256 : step * 256 + 256]).view(4, 64).cuda()
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_window_of_a_file_is_full():
    found = estimated(WINDOWS)
    assert isinstance(found.config.sequence_length, Known)
    assert (found.config.batch_size.value, found.config.sequence_length.value, found.memory.parameters) == (4, 64, 50257 * 8)
