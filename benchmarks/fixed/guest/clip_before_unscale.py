# says: the clipped gradient is not vanishingly small
# promise: before["smallest"] < 1e-4 and after["smallest"] > 0.01
import torch

torch.manual_seed(26)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
used = []
sgd.register_step_pre_hook(lambda *_: used.append(float(net.weight.grad.norm())))
for rows in torch.randn(3, 8, 4):
    sgd.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cost = net(rows).square().mean()
    scaler.scale(cost).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(sgd)
    scaler.update()
measured = {"smallest": min(used)}
