# says: the divergence of two distributions that are the same is zero
# promise: abs(before["divergence"]) > 0.1 and abs(after["divergence"]) < 1e-4
import torch
from torch.nn import functional as F

torch.manual_seed(11)
student, teacher = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
student.load_state_dict(teacher.state_dict())
sgd = torch.optim.SGD(student.parameters(), lr=0.0)
for rows in torch.randn(2, 16, 4):
    with torch.no_grad():
        wanted = F.softmax(teacher(rows), dim=1)
    cost = F.kl_div(F.softmax(student(rows), dim=1), wanted, reduction="batchmean")
    sgd.zero_grad()
    cost.backward()
    sgd.step()
measured = {"divergence": float(cost.detach())}
