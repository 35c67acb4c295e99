"""Texts of public data sets: the length of a row and the size of the vocabulary are assumed, both said."""

from __future__ import annotations

from analysis.certainty import Assumed, Known
from estimator.estimate import Mode
from tests.estimator.script.running import estimated

PAIRS = """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torchtext.data.utils import get_tokenizer
from torchtext.datasets import Multi30k
from torchtext.vocab import build_vocab_from_iterator

pairs = Multi30k(split="train", language_pair=("de", "en"))
split_words = get_tokenizer("spacy", "de")
vocab = build_vocab_from_iterator((split_words(pair[0]) for pair in pairs), specials=["<unk>", "<pad>"])

def row(text):
    return torch.cat((torch.tensor([2]), torch.tensor(vocab(split_words(text))), torch.tensor([3])))

def collate(batch):
    return pad_sequence([row(source.rstrip("\\n")) for source, _ in batch], padding_value=vocab["<pad>"])

device = torch.device("{device}")
model = nn.Sequential(nn.Embedding(len(vocab), 16), nn.Softmax(-1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for tokens in torch.utils.data.DataLoader(pairs, batch_size=24, collate_fn=collate):
    model(tokens.to(device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_rows_are_columns_of_a_batch():
    found = estimated(PAIRS.format(device="cuda"))
    assert found.config.batch_size == Known(24, found.config.batch_size.because)
    assert isinstance(found.config.sequence_length, Assumed)
    assert found.config.sequence_length.value == 512 + 2
    assert found.memory.parameters == 30000 * 16
    assert any("vocabulary" in sentence for sentence in found.unknowns)


def test_on_the_host_nothing_is_taken_of_the_device():
    assert estimated(PAIRS.format(device="cpu")).memory.allocated_bytes == 0


FIELDS = """
import torch
from torch import nn
from torchtext.legacy import data, datasets

device = torch.device("cuda:{}".format(0))
TEXT = data.Field(lower=True)
LABEL = data.Field(sequential=False)
train, dev, test = datasets.SNLI.splits(TEXT, LABEL)
TEXT.build_vocab(train)
LABEL.build_vocab(train)
TEXT.vocab.load_vectors("glove.6B.50d")

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(TEXT.vocab), 50)
        self.out = nn.Linear(50, len(LABEL.vocab))

    def forward(self, batch):
        return self.out((self.embed(batch.premise) * self.embed(batch.hypothesis)).sum(0))

model = Model()
model.embed.weight.data.copy_(TEXT.vocab.vectors)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loaders = data.BucketIterator.splits((train, dev, test), batch_size=64, device=device)
for batch in loaders[0]:
    nn.functional.cross_entropy(model(batch), batch.label).backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_model_is_given_a_batch_of_columns():
    found = estimated(FIELDS)
    assert found.mode is Mode.TRAINING
    assert found.memory.parameters == 30000 * 50 + 50 * 4 + 4
    assert found.config.batch_size.value == 64
    assert (found.config.sequence_length.value, type(found.config.sequence_length)) == (512, Assumed)
