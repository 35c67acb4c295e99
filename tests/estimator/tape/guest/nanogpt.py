import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d, h, drop, flash, bias):
        super().__init__()
        self.ln_1 = nn.LayerNorm(d, bias=bias)
        self.c_attn = nn.Linear(d, 3 * d, bias=bias)
        self.c_proj = nn.Linear(d, d, bias=bias)
        self.ln_2 = nn.LayerNorm(d, bias=bias)
        self.fc = nn.Linear(d, 4 * d, bias=bias)
        self.proj = nn.Linear(4 * d, d, bias=bias)
        self.h, self.drop, self.flash = h, drop, flash
        self.rd = nn.Dropout(drop)
        self.ad = nn.Dropout(drop)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.h, C // self.h).transpose(1, 2) for t in (q, k, v))
        if self.flash:
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop if self.training else 0, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
            y = self.ad(F.softmax(att, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        x = x + self.rd(self.c_proj(y))
        return x + self.rd(self.proj(F.gelu(self.fc(self.ln_2(x)))))


class NanoGPT(nn.Module):
    def __init__(self, vocab=50304, block=1024, n_layer=12, n_head=12, n_embd=768, dropout=0.0, bias=False, flash=True):
        super().__init__()
        self.wte = nn.Embedding(vocab, n_embd)
        self.wpe = nn.Embedding(block, n_embd)
        self.d = nn.Dropout(dropout)
        self.h = nn.ModuleList([Block(n_embd, n_head, dropout, flash, bias) for _ in range(n_layer)])
        if not flash:
            for b in self.h:
                b.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))
        self.ln_f = nn.LayerNorm(n_embd, bias=bias)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        x = self.d(self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device)))
        for b in self.h:
            x = b(x)
        x = self.ln_f(x)
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


torch.set_default_device("cuda")
model = NanoGPT(**model_args)
optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
for _ in range(2):
    X = torch.empty(batch, length, dtype=torch.long)
    Y = torch.empty(batch, length, dtype=torch.long)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits, loss = model(X, Y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
