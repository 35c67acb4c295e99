# says: steps use gradients that are not scaled
# promise: before["largest"] > 100 and after["largest"] < 100
import torch

torch.manual_seed(25)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=1e-9)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
used = []
sgd.register_step_pre_hook(lambda *_: used.append(float(net.weight.grad.norm())))
try:
    for rows in torch.randn(3, 8, 4):
        sgd.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            cost = net(rows).square().mean()
        scaler.scale(cost).backward()
        sgd.step()
        scaler.update()
except AssertionError as error:
    print(error)
measured = {"largest": max(used)}
