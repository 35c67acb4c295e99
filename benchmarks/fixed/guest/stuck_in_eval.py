# says: the second epoch trains in training mode
# promise: before["modes"] == [True, False, False] and after["modes"] == [True, True, True]
import torch

torch.manual_seed(4)
net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
held = torch.randn(8, 5)


def score(model):
    model.eval()
    with torch.no_grad():
        return float(model(held).mean())


modes = []
net.train()
for epoch in range(3):
    for rows in torch.randn(2, 4, 5):
        sgd.zero_grad()
        net(rows).square().mean().backward()
        sgd.step()
    modes.append(net.training)
    print(score(net))
measured = {"modes": modes}
