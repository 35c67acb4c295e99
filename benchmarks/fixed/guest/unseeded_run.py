# says: two runs give the same
# promise: before["weight"] != again_before["weight"] and after["weight"] == again_after["weight"]
import torch

net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    sgd.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    sgd.step()
measured = {"weight": float(net.weight.detach().sum())}
