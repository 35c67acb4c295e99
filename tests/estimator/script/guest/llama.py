"""A checkpointed decoder in bfloat16, configured by a dataclass, on windows of a token file."""

from dataclasses import dataclass

import torch
from transformers import AutoModelForCausalLM


@dataclass
class Config:
    name: str = "meta-llama/Llama-3.1-8B"
    batch_size: int = 1
    seq_len: int = 2048


class Windows(torch.utils.data.Dataset):
    def __init__(self, length):
        self.tokens, self.length = torch.load("tokens.pt"), length

    def __len__(self):
        return len(self.tokens) // self.length

    def __getitem__(self, index):
        return self.tokens[index * self.length : (index + 1) * self.length]


def main(config):
    model = AutoModelForCausalLM.from_pretrained(config.name, dtype=torch.bfloat16).cuda()
    model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for ids in torch.utils.data.DataLoader(Windows(config.seq_len), batch_size=config.batch_size):
        ids = ids.cuda()
        outputs = model(input_ids=ids, labels=ids)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main(Config())
