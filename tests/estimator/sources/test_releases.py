"""A family that the zoo lacks is read from a release of its library that is at hand, in the version that the repository asks for."""

from __future__ import annotations

import json

import pytest

from analysis.snapshot import Snapshot
from bot.sources.release import LocalShelf
from estimator.request import Request
from estimator.run import estimate

CONFIG = """
from ...configuration_utils import PreTrainedConfig

class TinyConfig(PreTrainedConfig):
    model_type = "tiny"
    vocab_size: int = 100
    hidden_size: int = 16
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
"""
MODEL = """
import torch
from torch import nn

from ...cache_utils import Cache, DynamicCache
from ...generation import GenerationMixin
from ...masking_utils import create_causal_mask
from ...modeling_layers import GradientCheckpointingLayer
from ...modeling_outputs import CausalLMOutputWithPast
from ...modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel
from ...utils import auto_docstring
from .configuration_tiny import TinyConfig

class TinyLayer(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, {inner} * config.hidden_size)
        self.down = nn.Linear({inner} * config.hidden_size, config.hidden_size)

    def forward(self, hidden_states, attention_mask=None, **kwargs):
        return hidden_states + self.down(nn.functional.gelu(self.up(hidden_states)))

@auto_docstring
class TinyForCausalLM(PreTrainedModel, GenerationMixin):
    config: TinyConfig
    _tied_weights_keys = {{"lm_head.weight": "embed.weight"}}

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([TinyLayer(config) for _ in range(config.num_hidden_layers)])
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed

    @auto_docstring
    def forward(self, input_ids=None, labels=None, **kwargs):
        x = self.embed(input_ids)
        mask = create_causal_mask(config=self.config, inputs_embeds=x, attention_mask=None, cache=None)
        for layer in self.layers:
            x = layer(x, attention_mask=mask)
        logits = self.lm_head(x)
        loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size)
        return CausalLMOutputWithPast(loss=loss, logits=logits)
"""
AUTO = 'from collections import OrderedDict\n\nMODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict(\n    [\n        ("tiny", "TinyForCausalLM"),\n    ]\n)\n'
SCRIPT = """
import torch
from transformers import {imports}
model = {made}.cuda()
model.train()
{checkpointing}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    x = torch.zeros(2, 8, dtype=torch.int64, device="cuda")
    model(input_ids=x, labels=x).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
CLASSES = {"imports": "TinyConfig, TinyForCausalLM", "made": "TinyForCausalLM(TinyConfig())", "checkpointing": ""}


def parameters(inner):
    return 100 * 16 + 2 * (2 * inner * 16 * 16 + inner * 16 + 16)


@pytest.fixture
def shelf(tmp_path):
    """Two releases of a library with one family, whose layers grew."""
    for version, inner in (("5.1.0", 2), ("5.2.0", 4)):
        models = tmp_path / "transformers" / version / "transformers" / "models"
        for path, text in (("tiny/configuration_tiny.py", CONFIG), ("tiny/modeling_tiny.py", MODEL.format(inner=inner)), ("auto/modeling_auto.py", AUTO)):
            (models / path).parent.mkdir(parents=True, exist_ok=True)
            (models / path).write_text(text)
    return LocalShelf(tmp_path)


def estimated(shelf, files=None, **words):
    given = {"train.py": SCRIPT.format(**{**CLASSES, **words}).encode(), **(files or {})}
    [found] = estimate(Snapshot.of(given), Request(entry="train.py", shelf=shelf))
    return found


def test_classes_of_a_release_are_built_and_run(shelf):
    found = estimated(shelf)
    assert found.unknowns == ()
    assert found.memory.parameters == parameters(4)


def test_the_repositorys_pin_chooses_the_version(shelf):
    assert estimated(shelf, {"requirements.txt": b"transformers==5.1.0\n"}).memory.parameters == parameters(2)
    assert estimated(shelf, {"requirements.txt": b"transformers>=5.2\n"}).memory.parameters == parameters(4)


def test_a_configuration_in_the_repository_names_the_family(shelf):
    numbers = json.dumps({"model_type": "tiny", "hidden_size": 32, "num_hidden_layers": 1, "torch_dtype": "float32"}).encode()
    found = estimated(
        shelf, {"weights/config.json": numbers}, imports="AutoModelForCausalLM", made="AutoModelForCausalLM.from_pretrained('weights', dtype=torch.float32)"
    )
    assert found.unknowns == ()
    assert found.memory.parameters == 100 * 32 + 2 * 4 * 32 * 32 + 4 * 32 + 32


def test_blocks_of_a_release_are_checkpointed(shelf):
    on = estimated(shelf, checkpointing="model.gradient_checkpointing_enable()")
    assert on.config.checkpointing.value is True


def test_without_a_release_the_family_is_not_guessed():
    assert estimated(None).memory is None


DENOISER = """
import torch
from torch import nn

from ...configuration_utils import ConfigMixin, register_to_config
from ...loaders import PeftAdapterMixin
from ..modeling_utils import ModelMixin

class TinyTransformer2DModel(ModelMixin, ConfigMixin, PeftAdapterMixin):
    _supports_gradient_checkpointing = True

    @register_to_config
    def __init__(self, width: int = 16, layers: int = 2):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.gradient_checkpointing = False

    def forward(self, x):
        for block in self.blocks:
            if torch.is_grad_enabled() and self.gradient_checkpointing:
                x = self._gradient_checkpointing_func(block, x)
            else:
                x = block(x)
        return x
"""
TRAINS = b"""
import torch
from diffusers import TinyTransformer2DModel
model = TinyTransformer2DModel(layers=3)
other = TinyTransformer2DModel.from_config(model.config, width=2 * model.config.width).cuda()
other.enable_gradient_checkpointing()
optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
for _ in range(2):
    other(torch.zeros(4, 32, device="cuda")).sum().backward()
    optimizer.step()
"""


def test_in_a_librarys_own_repository_its_models_are_read_from_there():
    files = {"src/diffusers/__init__.py": b"", "src/diffusers/models/transformers/transformer_tiny.py": DENOISER.encode(), "examples/train.py": TRAINS}
    [found] = estimate(Snapshot.of(files), Request(entry="examples/train.py"))
    assert found.unknowns == ()
    assert found.memory.parameters == 3 * (32 * 32 + 32)
    assert found.config.checkpointing.value is True


SCHEDULER = b"""
import torch
from ..configuration_utils import ConfigMixin, register_to_config

class DoublingScheduler(ConfigMixin):
    @register_to_config
    def __init__(self, factor=2):
        pass

    def add_noise(self, samples):
        return torch.cat([samples] * self.config.factor)
"""
AIDS = b"""
from .models import Unused

def squared(loss):
    return loss**2
"""
DIFFUSES = b"""
import torch
from diffusers import DoublingScheduler
from diffusers.training_utils import set_seed, squared

set_seed(0)
net = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = DoublingScheduler(factor=3)
for _ in range(2):
    squared(net(scheduler.add_noise(torch.zeros(2, 4, device="cuda"))).sum()).backward()
    optimizer.step()
"""


def test_schedulers_and_training_aids_that_are_not_ours_are_the_librarys_own():
    own = {"diffusers/__init__.py": b"", "diffusers/schedulers/__init__.py": b"", "diffusers/schedulers/scheduling_doubling.py": SCHEDULER}
    files = {"train.py": DIFFUSES, "diffusers/training_utils.py": AIDS, **own}
    [found] = estimate(Snapshot.of({path if path == "train.py" else f"src/{path}": raw for path, raw in files.items()}), Request(entry="train.py"))
    assert found.unknowns == ()
    assert found.config.batch_size.value == 6
