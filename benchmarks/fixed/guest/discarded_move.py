# says: the batch has the type that the model computes in
# promise: before["types"] == ["torch.float32"] * 2 and after["types"] == ["torch.float64"] * 2
import torch

torch.manual_seed(17)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
wanted = torch.float64
types = []
for rows in torch.randn(2, 8, 4):
    rows.to(wanted)
    types.append(str(rows.dtype))
    sgd.zero_grad()
    net(rows.float()).square().mean().backward()
    sgd.step()
measured = {"types": types}
