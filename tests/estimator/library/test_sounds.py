"""Sounds: as long as they are cut, or as speech usually is and said so; masks of them are made with NumPy on the host."""

from __future__ import annotations

import pytest

from tests.estimator.library.test_model_classes import CONFIG, LISTS
from tests.estimator.script.running import estimated

MODEL = """
import numpy as np
import torch
from torch import nn
from ...integrations.deepspeed import is_deepspeed_zero3_enabled
from ...modeling_utils import PreTrainedModel

class Wav2Vec2ForCTC(PreTrainedModel):
    main_input_name = "input_values"

    def __init__(self, config):
        super().__init__(config)
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(1, 8, 4, groups=1), name="weight", dim=2)
        self.tell = nn.Linear(8, 4)

    def forward(self, input_values=None, labels=None):
        states = self.conv(input_values[:, None]).transpose(1, 2)
        length = int(torch.div(input_values.shape[1] - 4, 1, rounding_mode="floor") + 1)
        hidden = np.zeros((len(input_values), length), dtype=bool)
        count = int(0.1 * length + np.random.rand(1).item())
        starts = np.array([np.random.choice(np.arange(length - 2), count, replace=False) for _ in input_values])
        spans = np.broadcast_to(starts[:, :, None], (len(input_values), count, 3)).reshape(len(input_values), 3 * count)
        np.put_along_axis(hidden, spans, 1, -1)
        states[torch.tensor(hidden, dtype=torch.bool, device=states.device)] = 0.0
        return {"loss": self.tell(states).mean()}
"""
LIBRARY = {
    "src/transformers/__init__.py": "",
    "src/transformers/models/auto/modeling_auto.py": LISTS,
    "src/transformers/models/wav2vec2/configuration_wav2vec2.py": CONFIG.format(name="Wav2Vec2", kind="wav2vec2"),
    "src/transformers/models/wav2vec2/modeling_wav2vec2.py": MODEL,
}
SCRIPT = """
import random
from datasets import load_dataset
from transformers import AutoFeatureExtractor, AutoModelForCTC, Trainer, TrainingArguments

extractor = AutoFeatureExtractor.from_pretrained("facebook/wav2vec2-base")

def rows(batch):
    sounds = [sample["array"] for sample in batch["audio"]]
    {cut}
    return {{extractor.model_input_names[0]: extractor(sounds, {given}).get("input_values"), "labels": [0 for _ in sounds]}}

data = load_dataset("somebody/sounds", split="train")
data.set_transform(rows)
model = AutoModelForCTC.from_pretrained("facebook/wav2vec2-base")
Trainer(model, TrainingArguments("out", per_device_train_batch_size=4), train_dataset=data, processing_class=extractor).train()
"""


@pytest.mark.parametrize(
    ("cut", "given", "length", "said"),
    [
        ("", "max_length=8000, truncation=True", 8000, "sounds may be shorter than 8000 samples"),
        ("sounds = [each[(start := random.randint(0, len(each) - 8001)) : start + 8000] for each in sounds]", "", 8000, ""),
        ("", "", 256_000, "how long the sounds are is not known"),
    ],
)
def test_sounds_are_as_long_as_they_are_cut(cut, given, length, said):
    found = estimated({**LIBRARY, "examples/train.py": SCRIPT.format(cut=cut, given=given)}, entry="examples/train.py")
    assert found.memory.parameters == 8 * 4 + 4 + 8 + 8 * 4 + 4
    assert found.config.batch_size.value == 4
    assert found.config.sequence_length.value == length
    assert getattr(found.config.sequence_length, "why", "").startswith(said)


LETTERS = """
import json
from transformers import AutoFeatureExtractor, AutoProcessor, AutoTokenizer
from transformers.trainer_utils import is_main_process

letters = AutoTokenizer.from_pretrained("out", tokenizer_type="wav2vec2", unk_token="?")
extractor = AutoFeatureExtractor.from_pretrained("facebook/wav2vec2-base")
if is_main_process(0):
    letters.save_pretrained("out")
    extractor.save_pretrained("out")
processor = AutoProcessor.from_pretrained("out")

import torch
class Tells(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(1, len(processor.tokenizer))

    def forward(self, input_values):
        return self.inner(input_values[..., None])

model = Tells().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch = processor.pad([{"input_values": processor.feature_extractor(torch.zeros(300)).input_values[0]} for _ in range(4)])
model(input_values=batch["input_values"].cuda()).sum().backward()
optimizer.step()
"""


def test_what_was_saved_in_a_folder_is_loaded_from_there_and_a_vocabulary_of_the_data_is_taken_in_the_open():
    found = estimated({**LIBRARY, "examples/train.py": LETTERS}, entry="examples/train.py")
    assert found.memory.parameters == 2 * 30522
    assert "how many words the vocabulary has" in found.config.model.why
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (4, 300)
