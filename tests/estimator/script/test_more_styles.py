"""Styles of scripts: a configuration that names the script's own class, arrays as indices, running products, optimizers that are toggled."""

from __future__ import annotations

from tests.estimator.script.running import estimated

HYDRA = {
    "forecast.py": """
        import hydra
        import torch
        from hydra.utils import instantiate
        from torch import nn

        class Series(torch.utils.data.Dataset):
            def __init__(self, width):
                self.width = width

            def __len__(self):
                return 100

            def __getitem__(self, index):
                return torch.zeros(self.width)

        @hydra.main(config_path="conf", config_name="train")
        def main(cfg):
            data = instantiate(cfg.data)
            model = nn.Linear(data.width, 4).cuda()
            optimizer = instantiate(cfg.optimizer, params=model.parameters())
            for batch in torch.utils.data.DataLoader(data, batch_size=6):
                model(batch.cuda()).sum().backward()
                optimizer.step()
                optimizer.zero_grad()

        if __name__ == "__main__":
            main()
    """,
    "conf/train.yaml": """
        data:
          _target_: forecast.Series
          width: 24
        optimizer:
          _target_: torch.optim.RAdam
          lr: 0.1
    """,
}


def test_a_configuration_names_a_class_of_the_script_itself():
    found = estimated(HYDRA, entry="forecast.py")
    assert found.memory.parameters == 24 * 4 + 4
    assert found.config.batch_size.value == 6


HOOKED = {
    "train.py": """
        import json
        from types import SimpleNamespace
        import numpy as np
        import torch
        from torch import nn

        cfg = json.load(open("cfg.json"), object_hook=lambda table: SimpleNamespace(**table))
        model = nn.Linear(cfg.model.width, 4).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        rows = torch.zeros(64, cfg.model.width).cuda()
        order = np.arange(64)
        for begin in range(0, 64, cfg.batch):
            np.random.shuffle(order)
            out = model(rows[order[begin : begin + cfg.batch]])
            (torch.cumprod(out.sigmoid(), -1) * torch.cummax(out, -1)[0]).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    """,
    "cfg.json": '{"batch": 16, "model": {"width": 8}}',
}


def test_tables_become_objects_and_arrays_indices():
    found = estimated(HOOKED)
    assert found.memory.parameters == 8 * 4 + 4
    assert found.config.batch_size.value == 16


TOGGLED = """
import lightning as L
import torch
from torch import nn

class Pair(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.small, self.large = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 512), nn.Linear(512, 8))

    def training_step(self, batch, index):
        (rows,) = batch
        small, large = self.optimizers()
        {toggle}
        self.manual_backward(self.large(self.small(rows)).sum())
        small.step()
        small.zero_grad()
        if self.large[0].weight.grad is not None:
            raise ValueError("the large one took gradients")
        {untoggle}
        self.manual_backward(self.large(rows).sum())
        large.step()
        large.zero_grad()

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=0.1) for part in (self.small, self.large)], []

L.Trainer(accelerator="gpu", devices=1).fit(Pair(), torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(64, 8)), batch_size=4))
"""


def test_only_the_toggled_optimizers_parameters_take_gradients():
    toggled = estimated(TOGGLED.format(toggle="self.toggle_optimizer(small)", untoggle="self.untoggle_optimizer(small)"))
    assert toggled.memory.parameters == toggled.memory.trainable_parameters == 8 * 512 + 512 + 512 * 8 + 8 + 8 * 8 + 8
    assert estimated(TOGGLED.format(toggle="", untoggle="")).memory is None


ROLLOUT = """
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.actor, self.critic = nn.Linear(32, 64), nn.Linear(64, 4), nn.Linear(64, 1)

    def act(self, seen):
        hidden = self.body(seen)
        return self.actor(hidden), self.critic(hidden)

agent = Agent().cuda()
optimizer = torch.optim.Adam(agent.parameters())
kept = torch.zeros(40, 8, 32).cuda()
values = torch.zeros(40, 8).cuda()
for _ in range(3):
    for step in range(40):
        with torch.no_grad():
            action, value = agent.act(kept[step])
            values[step] = value.flatten()
    for begin in range(0, 320, 80):
        action, value = agent.act(kept.reshape(-1, 32)[begin : begin + 80])
        loss = action.mean() + value.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_an_agent_of_several_parts_is_trained_as_one():
    found = estimated(ROLLOUT)
    assert found.memory.parameters == found.memory.trainable_parameters == 32 * 64 + 64 + 64 * 4 + 4 + 64 + 1
    assert found.config.batch_size.value == 80
