"""Rows of tokens: their length is what the code says, as far as it does."""

from __future__ import annotations

from estimator.library.tokens import OPEN, Tokens, joined
from tests.estimator.script.running import estimated

GROUPED = """
from itertools import chain
import torch
from datasets import load_dataset
from transformers import AutoTokenizer, DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel

block = 256
tokenizer = AutoTokenizer.from_pretrained("gpt2")

def group(rows):
    whole = {name: JOINED for name in rows.keys()}
    total = len(whole[list(rows.keys())[0]]) // block * block
    return {name: [row[i : i + block] for i in range(0, total, block)] for name, row in whole.items()}

rows = load_dataset("wikitext", split="train").map(lambda row: tokenizer(row["text"]), batched=True, remove_columns=["text"]).map(group, batched=True)
model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=64, n_head=2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(rows, batch_size=4, collate_fn=DataCollatorForLanguageModeling(tokenizer, mlm=False)):
    model(**{name: tensor.cuda() for name, tensor in batch.items()}).loss.backward()
    optimizer.step()
"""


def test_a_slice_of_an_open_row_is_exact():
    row = Tokens(OPEN, "nobody knows")
    assert (row[128:384].length, row[128:384].why) == (256, "")
    assert (row[:].open, row[:].why) == (True, "nobody knows")


def test_rows_are_joined_and_keep_their_doubt():
    assert (Tokens(3) + Tokens(2)).length == 5
    assert Tokens(3).__radd__([0]).length == 4
    assert joined([Tokens(3), Tokens(4, "perhaps")]).why == "perhaps"


def test_texts_joined_and_cut_have_the_length_of_the_cut():
    for way in ("list(chain(*rows[name]))", "sum(rows[name], [])", "list(chain.from_iterable(rows[name]))"):
        found = estimated(GROUPED.replace("JOINED", way))
        assert found.memory is not None, (way, found.unknowns)
        assert found.config.sequence_length.value == 256
        assert found.config.batch_size.value == 4
