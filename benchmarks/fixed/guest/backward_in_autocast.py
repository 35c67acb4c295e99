# says: the backward runs outside autocast, with the same gradient
# promise: before["inside"] == [True] * 3 and after["inside"] == [False] * 3 and abs(after["norm"] - before["norm"]) < 1e-2
import torch

torch.manual_seed(13)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
inside = []
net.weight.register_hook(lambda gradient: inside.append(torch.is_autocast_enabled("cpu")))
for rows in torch.ones(3, 4, 4):
    sgd.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cost = net(rows).square().mean()
        cost.backward()
    norm = float(net.weight.grad.norm())
    sgd.step()
measured = {"inside": inside, "norm": norm}
