# says: what is kept between steps carries no graph
# promise: before["graphs"] == 6 and after["graphs"] == 0 and after["last"] == before["last"]
import torch

torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
adam = torch.optim.Adam(net.parameters(), lr=1e-2)
curve = []
for _ in range(6):
    rows = torch.randn(12, 6)
    error = (net(rows) - rows.sum(1, keepdim=True)).square().mean()
    adam.zero_grad()
    error.backward()
    adam.step()
    curve.append(error)
measured = {"graphs": sum(each.grad_fn is not None for each in curve), "last": round(float(curve[-1]), 6)}
