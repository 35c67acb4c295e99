import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab=30000, d=512, heads=8, layers=6, ff=2048, nc=4):
        super().__init__()
        self.e = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.zeros(1, 512, d))
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, heads, ff, batch_first=True), layers, enable_nested_tensor=False)
        self.c = nn.Linear(d, nc)

    def forward(self, x):
        return self.c(self.enc(self.e(x) + self.pos[:, : x.shape[1]]).mean(1))


torch.set_default_device("cuda")
model = Encoder()
optimizer = getattr(torch.optim, optimizer_name)(model.parameters())
for _ in range(2):
    x, y = torch.empty(64, 256, dtype=torch.long), torch.empty(64, dtype=torch.long)
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=amp):
        o = model(x)
        loss = F.cross_entropy(o, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
