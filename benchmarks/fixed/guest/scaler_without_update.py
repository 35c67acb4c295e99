# says: the scale follows the steps
# promise: before["scale"] == 1024.0 and after["scale"] > 1024.0
import torch

torch.manual_seed(12)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1)
try:
    for rows in torch.randn(3, 4, 4):
        sgd.zero_grad()
        cost = net(rows).square().mean()
        scaler.scale(cost).backward()
        scaler.step(sgd)
except RuntimeError as error:
    print(error)
measured = {"scale": float(scaler.get_scale())}
