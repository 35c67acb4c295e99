# says: the graph goes with its backward, and the parameters end where they did
# promise: before["kept"] is True and after["kept"] is False and after["end"] == before["end"]
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
costs = []
kept = False
for (rows,) in DataLoader(TensorDataset(torch.randn(24, 4)), batch_size=8, shuffle=True):
    cost = net(rows).square().mean()
    sgd.zero_grad()
    cost.backward(retain_graph=True)
    try:
        cost.grad_fn.next_functions[0][0]._saved_self
        kept = True
    except RuntimeError as freed:
        print(freed)
    sgd.step()
measured = {"kept": kept, "end": round(float(net[0].weight.sum()), 6)}
