"""What surrounds a run: guards that raise, the environment, pinned versions, data of which only a shape is said."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed, Known
from tests.estimator.script.running import estimated, small

NET = small("return self.outer(self.inner(x))", above="{more}")


def with_lines(*lines: str):
    return NET.replace("{more}", "\n".join(("import os", "from elsewhere import settings", *lines)))


@pytest.mark.parametrize(
    "guard",
    [
        "if settings.broken:\n    raise RuntimeError('no data')",
        "if not settings.ready:\n    raise RuntimeError('no data')",
        "if settings.mode != 'train':\n    raise ValueError('mode')",
        "files = [name for name in os.listdir('data') if name.endswith('.txt')]\nif not files:\n    raise FileNotFoundError('data')",
        "if os.path.isfile(settings.checkpoint):\n    settings.load()\nelse:\n    raise SystemExit(1)",
    ],
)
def test_a_way_that_ends_in_an_error_is_not_taken(guard):
    assert estimated(with_lines(guard)).memory is not None


def test_variables_of_a_launcher_are_there_when_they_must_be():
    alone = with_lines("rank = int(os.environ.get('RANK', -1))\ndistributed = rank != -1", "wide = 10 if distributed else 7")
    script = alone.replace("nn.Linear(64, 10)", "nn.Linear(64, wide)")
    assert estimated(script).memory.parameters == 64 * 64 + 64 + 64 * 7 + 7
    assert estimated(script, overrides={"devices": 2}).memory.parameters == 64 * 64 + 64 + 64 * 10 + 10
    assert estimated(with_lines("rank = int(os.environ['LOCAL_RANK'])", "assert rank == 0")).memory is not None


GATHERED = """
folders, found = {}, []
for top, _, names in os.walk(settings.root):
    for name in names:
        if name.startswith('.'):
            continue
        if os.path.splitext(name)[1] in settings.endings:
            found.append(os.path.join(top, name))
if len(found) == 0:
    raise RuntimeError('no files')
"""


def test_what_may_be_gathered_from_a_folder_that_nobody_knows_is():
    assert estimated(with_lines(GATHERED)).memory is not None


BERT = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B").cuda().train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    ids = torch.zeros((1, 16), dtype=torch.long, device="cuda")
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("pin", "precision", "kind"), [(None, "fp32", Assumed), ("transformers>=5.0", "bf16", Known), ("transformers==4.51.0", "fp32", Known)])
def test_the_pinned_version_decides_what_weights_are_loaded_in(pin, precision, kind):
    files = {"train.py": BERT} | ({} if pin is None else {"requirements.txt": f"torch\n{pin}\n"})
    found = estimated(files).config.precision
    assert isinstance(found, kind)
    assert found.value == precision


def test_a_view_says_the_shape_of_what_is_loaded():
    script = NET.replace("{more}", "").replace("torch.randn(512, 64)", "torch.load('rows.pt').view(512, 64)")
    found = estimated(script)
    assert found.memory is not None
    assert found.config.batch_size.value == 32


@pytest.mark.parametrize(
    "made",
    [
        "torch.tensor(np.random.normal(0, 1, (512, 64)), dtype=torch.float32)",
        "torch.from_numpy(np.zeros((512, 64), dtype=np.float32))",
        "torch.FloatTensor([[settings.x] * 64] * 512)",
        "torch.tensor([[settings.x for _ in range(64)] for _ in range(512)], dtype=torch.float32)",
    ],
)
def test_the_shape_of_numbers_is_known_whatever_they_are(made):
    script = with_lines("import numpy as np").replace("torch.randn(512, 64)", made)
    found = estimated(script)
    assert found.memory is not None, found.unknowns
    assert found.config.batch_size.value == 32
