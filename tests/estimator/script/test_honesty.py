"""What is lost on purpose is said: the estimate carries an unknown, or no number at all, and never a wrong one."""

from __future__ import annotations

import pytest

from estimator.estimate import Verdict
from tests.estimator.script.running import estimated, line_of, small

WHOLE = small("return self.outer(torch.relu(self.inner(x)))")


def test_the_script_as_it_stands_is_resolved():
    found = estimated(WHOLE)
    assert found.memory is not None
    assert found.unknowns == ()


def test_a_tensor_that_a_library_swallows_takes_the_number_with_it():
    script = small("return self.outer(fancy.normalise(self.inner(x)))", above="import fancy")
    found = estimated(script, gpus=("T4",))
    assert found.memory is None
    assert [fit.verdict for fit in found.fits] == [Verdict.CANNOT_TELL]
    assert found.unknowns == (f"train.py:{line_of(script, 'fancy.normalise(')}: what fancy.normalise does with the tensors it is given is not known",)


def test_an_unknown_layer_is_named_with_the_line_that_made_it():
    script = WHOLE.replace("self.inner = nn.Linear(64, 64)", "self.inner = fancy.Layer(64)").replace("import torch\n", "import torch\nimport fancy\n", 1)
    found = estimated(script)
    assert found.memory is None
    [sentence] = found.unknowns
    assert sentence.startswith(f"train.py:{line_of(script, 'fancy.Layer')}: fancy.Layer is not modelled yet")


def test_an_unknown_comparison_in_a_forward_is_an_unknown():
    script = small("if settings.deep:\n    x = torch.relu(self.inner(x))\nreturn self.outer(x)", above="from elsewhere import settings")
    found = estimated(script)
    assert any("which way the model goes here depends on elsewhere.settings.deep" in sentence for sentence in found.unknowns)


def test_a_comparison_with_a_number_of_a_tensor_is_an_unknown():
    found = estimated(small("if self.inner(x).mean().item() > 0:\n    x = torch.relu(x)\nreturn self.outer(x)"))
    assert any("which way the model goes" in sentence for sentence in found.unknowns)


def test_an_unknown_decorator_of_a_forward_takes_the_number_with_it():
    script = WHOLE.replace("    def forward", "    @fancy.traced\n    def forward").replace("import torch\n", "import torch\nimport fancy\n", 1)
    found = estimated(script)
    assert found.memory is None
    assert any("fancy.traced" in sentence for sentence in found.unknowns)


def test_a_sequential_that_registers_by_setattr_keeps_what_its_layers_keep():
    layers = "super().__init__()\n        self.first = nn.Linear(64, 64)\n        self.second = nn.ReLU()\n        setattr(self, 'third', nn.Linear(64, 10))"
    registered = (
        WHOLE[: WHOLE.index("class Net")] + f"class Net(nn.Sequential):\n    def __init__(self):\n        {layers}\n\n" + WHOLE[WHOLE.index("model = Net") :]
    )
    plain = registered.replace("Net(nn.Sequential)", "Unused(nn.Sequential)").replace(
        "model = Net()", "model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))"
    )
    found, wanted = estimated(registered).memory, estimated(plain).memory
    assert found is not None
    assert wanted is not None
    assert found.allocated_bytes == wanted.allocated_bytes
    assert found.parameters == wanted.parameters == 64 * 64 + 64 + 64 * 10 + 10


def test_an_unknown_number_in_a_forward_is_an_unknown():
    script = small("return self.outer(self.inner(x) * factor)", above="from elsewhere import factor")
    found = estimated(script)
    assert found.memory is not None
    assert any("elsewhere.factor is not known, taken as a number" in sentence for sentence in found.unknowns)


def test_an_unknown_loss_takes_the_number_with_it():
    script = WHOLE.replace("nn.functional.cross_entropy(", "fancy.loss(").replace("import torch\n", "import torch\nimport fancy\n", 1)
    found = estimated(script)
    assert found.memory is None
    assert any("fancy.loss" in sentence for sentence in found.unknowns)


def test_an_optimizer_of_unknown_parameters_takes_the_number_with_it():
    script = WHOLE.replace("AdamW(model.parameters())", "AdamW(fancy.groups(model))").replace("import torch\n", "import torch\nimport fancy\n", 1)
    assert estimated(script).memory is None


def test_what_only_looks_at_a_tensor_is_a_doubt():
    script = WHOLE.replace("    optimizer.step()", "    fancy.log(loss)\n    optimizer.step()").replace("import torch\n", "import torch\nimport fancy\n", 1)
    assert estimated(script).memory is not None


def test_an_unknown_batch_is_said_and_not_guessed():
    script = WHOLE.replace("data = torch.utils.data.TensorDataset(torch.randn(512, 64), torch.randint(0, 10, (512,)))", "data = fancy.rows()")
    found = estimated(script.replace("import torch\n", "import torch\nimport fancy\n", 1))
    assert found.memory is None
    assert any("fancy.rows" in sentence for sentence in found.unknowns)


def test_a_list_made_of_something_unknown_has_no_length():
    script = WHOLE.replace("torch.randn(512, 64)", "torch.tensor([[float(x) for x in row] for row in open('rows.csv')])")
    found = estimated(script)
    assert found.memory is None
    assert any("rows.csv" in sentence for sentence in found.unknowns)


def test_a_lost_evaluation_does_not_take_the_training_with_it():
    evaluation = "with torch.no_grad():\n    print(fancy.score(model(fancy.rows().cuda())))\n"
    script = WHOLE.replace("for x, y in", f"{evaluation}for x, y in").replace("import torch\n", "import torch\nimport fancy\n", 1)
    found = estimated(script)
    assert found.memory is not None
    assert any("fancy.rows" in sentence for sentence in found.unknowns)


def test_a_required_argument_is_named_with_the_option_that_sets_it():
    script = small(
        "return self.outer(self.inner(x))",
        above="import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--width', type=int, required=True)\nargs = parser.parse_args()",
    )
    script = script.replace("nn.Linear(64, 10)", "nn.Linear(64, args.width)")
    missing = estimated(script)
    assert missing.memory is None
    assert any("--set width=VALUE" in sentence for sentence in missing.unknowns)
    assert estimated(script, settings={"width": "10"}).memory is not None


@pytest.mark.parametrize(
    "broken",
    [
        small("return self.outer(fancy.f(self.inner(x)))", above="import fancy"),
        small("return fancy.f(self.outer(fancy.g(self.inner(fancy.h(x)))))", above="import fancy"),
        WHOLE.replace("torch.randn(512, 64)", "fancy.load()"),
        WHOLE.replace("nn.Linear(64, 64)", "nn.Linear(sizes.first, sizes.second)"),
    ],
)
def test_sentences_are_for_people(broken):
    found = estimated(broken)
    assert found.memory is None
    assert found.unknowns
    for sentence in found.unknowns:
        assert "<library>" not in sentence
        assert "Error" not in sentence
        assert "Symbol" not in sentence
    assert len(found.unknowns) <= 3


def test_parameters_that_go_into_something_unknown_may_be_copied_there():
    script = small("return self.outer(self.inner(x))", above="import averages") + "    shadow = averages.Shadow(model.parameters())\n"
    found = estimated(script)
    assert any("averages.Shadow does to the model" in sentence for sentence in found.unknowns)


def test_what_keeps_the_parameters_and_is_not_followed_takes_the_number_with_it():
    script = WHOLE.replace("torch.optim.AdamW(", "fancy.Optimizer(").replace("import torch\n", "import torch\nimport fancy\n", 1)
    found = estimated(script)
    assert found.memory is None
    assert found.unknowns[0] == f"train.py:{line_of(script, 'fancy.Optimizer')}: what fancy.Optimizer keeps of the parameters it is given is not known"


def test_layers_that_an_unknown_list_adds_take_the_number_with_them():
    script = WHOLE.replace(
        "self.inner = nn.Linear(64, 64)", "layers = [nn.Linear(64, 64)]\n        layers.extend(fancy.layers(64))\n        self.inner = nn.Sequential(*layers)"
    )
    found = estimated(script.replace("import torch\n", "import torch\nimport fancy\n", 1))
    assert found.memory is None
    assert any("fancy.layers" in sentence for sentence in found.unknowns)


def test_names_that_an_unknown_list_adds_change_nothing():
    script = WHOLE.replace("model = Net()", "names = ['a']\nnames.extend(fancy.names())\nmodel = Net()")
    found = estimated(script.replace("import torch\n", "import torch\nimport fancy\n", 1))
    assert found.memory is not None
    assert not any("fancy.names" in sentence for sentence in found.unknowns)


LOSSLESS = """
import torch
from torch import nn
from transformers.modeling_outputs import ModelOutput

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = nn.Linear(64, 10)

    def forward(self, x, labels=None):
        made = ModelOutput(loss={loss}, logits=self.outer(x))
        return type(made)(**{{name: value for name, value in made.items() if name != "hidden_states"}})

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.zeros(32, 64, device="cuda")).loss.backward()
optimizer.step()
"""


def test_a_loss_that_is_nothing_tells_no_peak():
    assert estimated(LOSSLESS.format(loss="self.outer(x).sum()")).memory.parameters == 650
    nothing = estimated(LOSSLESS.format(loss="None"))
    assert nothing.memory is None
    assert "backward runs on what a model gave for its loss" in nothing.unknowns[0]
