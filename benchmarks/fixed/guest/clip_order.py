# says: no step uses more than the clipped gradient
# promise: before["largest"] > 0.2 and after["largest"] <= 0.1001
import torch

torch.manual_seed(15)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
used = []
sgd.register_step_pre_hook(lambda *_: used.append(float(torch.cat([p.grad.flatten() for p in net.parameters()]).norm())))
for rows in torch.randn(3, 8, 4) * 10:
    sgd.zero_grad()
    net(rows).square().mean().backward()
    sgd.step()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
measured = {"largest": max(used)}
