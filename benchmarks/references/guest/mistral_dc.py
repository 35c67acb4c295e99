import torch
from dataclasses import dataclass
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


@dataclass
class Config:
    model_name: str = "mistralai/Mistral-7B-v0.1"
    batch_size: int = 1
    seq_len: int = 2048
    lr: float = 1e-5
    grad_ckpt: bool = True


class TokenDataset(torch.utils.data.Dataset):
    def __init__(self, seq_len):
        self.tokens, self.seq_len = torch.load("tokens.pt"), seq_len

    def __len__(self):
        return len(self.tokens) // self.seq_len

    def __getitem__(self, i):
        return self.tokens[i * self.seq_len : (i + 1) * self.seq_len]


def main(cfg: Config):
    model = AutoModelForCausalLM.from_pretrained(cfg.model_name, torch_dtype=torch.bfloat16).cuda()
    if cfg.grad_ckpt:
        model.gradient_checkpointing_enable()
    loader = DataLoader(TokenDataset(cfg.seq_len), batch_size=cfg.batch_size)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for b in loader:
        loss = model(input_ids=b.cuda(), labels=b.cuda()).loss
        loss.backward()
        opt.step()
        opt.zero_grad()


main(Config())
