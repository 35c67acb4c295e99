"""What a dataclass says of its fields: a script that reads its own command line goes by it."""

from __future__ import annotations

from tests.estimator.script.running import estimated

SCRIPT = """
import dataclasses
import sys
import torch

@dataclasses.dataclass(frozen=True)
class Options:
    width: int = 48
    batch: int = dataclasses.field(default=6)
    layers: list = dataclasses.field(default_factory=list)

    @classmethod
    def parse(cls, words):
        given = dict(word.lstrip("-").split("=", 1) for word in words if "=" in word)
        made = {f.name: f.default_factory() if f.default is dataclasses.MISSING else f.default for f in dataclasses.fields(cls)}
        return cls(**{**made, **given})

options = Options.parse(sys.argv[1:])
model = torch.nn.Linear(options.width, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.zeros(options.batch, options.width, device="cuda")).sum().backward()
    optimizer.step()
"""


def test_defaults_of_fields_are_known():
    found = estimated(SCRIPT)
    assert found.memory.parameters == 2 * 48 + 2
    assert found.config.batch_size.value == 6
