# says: every step runs, and its graph is its own
# promise: before["steps"] == 1 and after["steps"] == 4
import torch

torch.manual_seed(18)
cell = torch.nn.GRU(3, 5, batch_first=True)
head = torch.nn.Linear(5, 1)
adam = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
state = torch.zeros(1, 2, 5)
steps = 0
try:
    for rows in torch.randn(4, 2, 6, 3):
        out, state = cell(rows, state)
        cost = head(out).square().mean()
        adam.zero_grad()
        cost.backward()
        adam.step()
        steps += 1
except RuntimeError as error:
    print(error)
measured = {"steps": steps}
