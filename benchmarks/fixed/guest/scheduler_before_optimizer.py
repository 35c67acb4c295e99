# says: the first step uses the first learning rate of the schedule
# promise: before["first"] == 0.05 and after["first"] == 0.1
import torch

torch.manual_seed(27)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(sgd, step_size=1, gamma=0.5)
rates = []
for epoch in range(3):
    schedule.step()
    for rows in torch.randn(2, 8, 4):
        sgd.zero_grad()
        net(rows).square().mean().backward()
        rates.append(sgd.param_groups[0]["lr"])
        sgd.step()
measured = {"first": rates[0]}
