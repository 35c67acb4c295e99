"""A decoder with a mixture of experts, top 2 of 8, each expert given its share of the tokens."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Experts(nn.Module):
    def __init__(self, vocab=32000, d=1024, ff=3584, layers=12, heads=16, kv=4, E=8, k=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList()

        def linear(i, o):
            return nn.Linear(i, o, bias=False)

        for _ in range(layers):
            self.layers.append(nn.ModuleDict(dict(
                n1=nn.RMSNorm(d), q=linear(d, d), k=linear(d, d // heads * kv), v=linear(d, d // heads * kv), o=linear(d, d), n2=nn.RMSNorm(d),
                gate=linear(d, E), w1=nn.ModuleList([linear(d, ff) for _ in range(E)]), w3=nn.ModuleList([linear(d, ff) for _ in range(E)]),
                w2=nn.ModuleList([linear(ff, d) for _ in range(E)]),
            )))
        self.norm = nn.RMSNorm(d)
        self.head = linear(d, vocab)
        self.h, self.kv, self.E, self.k = heads, kv, E, k

    def forward(self, ids):
        x = self.emb(ids)
        B, T, D = x.shape
        for L in self.layers:
            y = L["n1"](x)
            hd = D // self.h
            q = L["q"](y).view(B, T, self.h, hd).transpose(1, 2)
            k = L["k"](y).view(B, T, self.kv, hd).transpose(1, 2)
            v = L["v"](y).view(B, T, self.kv, hd).transpose(1, 2)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).reshape(B, T, D)
            x = x + L["o"](a)
            y = L["n2"](x).view(-1, D)
            w, sel = L["gate"](y).float().softmax(-1).topk(self.k, -1)
            w = (w / w.sum(-1, keepdim=True)).to(y.dtype)
            order = sel.view(-1).argsort()
            out = torch.zeros_like(y)
            n = y.shape[0] * self.k // self.E
            for e in range(self.E):
                idx = order[e * n : (e + 1) * n]
                tok = idx // self.k
                h = y[tok]
                h = L["w2"][e](F.silu(L["w1"][e](h)) * L["w3"][e](h)) * w.reshape(-1)[idx, None]
                out.index_add_(0, tok, h.to(out.dtype))
            x = x + out.view(B, T, D)
        return self.head(self.norm(x))


torch.set_default_device("cuda")
torch.set_default_dtype(torch.bfloat16)
model = Experts()
torch.set_default_dtype(torch.float32)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    x, y = torch.empty(2, 1024, dtype=torch.long), torch.empty(2, 1024, dtype=torch.long)
    o = model(x)
    loss = F.cross_entropy(o.view(-1, o.size(-1)), y.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
