"""What a library's own source builds where the zoo lacks the class or the family, in that library's own repository."""

from __future__ import annotations

from analysis.certainty import Assumed
from tests.estimator.script.running import estimated

LISTS = """
from collections import OrderedDict

MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES = OrderedDict(
    [
        ("distilbert", "DistilBertForMultipleChoice"),
    ]
)
MODEL_FOR_CTC_MAPPING_NAMES = OrderedDict(
    [
        ("wav2vec2", "Wav2Vec2ForCTC"),
    ]
)
"""
CONFIG = """
from ...configuration_utils import PreTrainedConfig

class {name}Config(PreTrainedConfig):
    model_type = "{kind}"

    def __init__(self, vocab_size=30522, hidden_size=768, **others):
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
"""
CHOOSES = """
from torch import nn
from ...modeling_outputs import MultipleChoiceModelOutput
from ...modeling_utils import PreTrainedModel

class DistilBertForMultipleChoice(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.classifier = nn.Linear(config.hidden_size, 1)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None):
        states = self.words(input_ids.view(-1, input_ids.size(-1)))
        scores = self.classifier(states[:, 0]).view(-1, input_ids.shape[1])
        return MultipleChoiceModelOutput(loss=nn.functional.cross_entropy(scores, labels), logits=scores)
"""
HEARS = """
from torch import nn
from ...modeling_utils import PreTrainedModel

class Wav2Vec2ForCTC(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.inner = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        return self.inner(x)
"""
LIBRARY = {
    "src/transformers/__init__.py": "",
    "src/transformers/models/auto/modeling_auto.py": LISTS,
    "src/transformers/models/distilbert/configuration_distilbert.py": CONFIG.format(name="DistilBert", kind="distilbert"),
    "src/transformers/models/distilbert/modeling_distilbert.py": CHOOSES,
    "src/transformers/models/wav2vec2/configuration_wav2vec2.py": CONFIG.format(name="Wav2Vec2", kind="wav2vec2"),
    "src/transformers/models/wav2vec2/modeling_wav2vec2.py": HEARS,
}
CHOICES = """
from datasets import load_dataset
from transformers import AutoModelForMultipleChoice, AutoTokenizer, DataCollatorForMultipleChoice, Trainer, TrainingArguments

name = "distilbert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(name)

def rows(samples):
    flat = [text for context in samples["sent1"] for text in [context] * 4]
    encoded = tokenizer(flat, truncation=True, max_length=64)
    return {key: [values[i : i + 4] for i in range(0, len(values), 4)] for key, values in encoded.items()}

data = load_dataset("swag", "regular")["train"].map(rows, batched=True)
arguments = TrainingArguments("out", per_device_train_batch_size=6)
model = AutoModelForMultipleChoice.from_pretrained(name)
Trainer(model, arguments, train_dataset=data, data_collator=DataCollatorForMultipleChoice(tokenizer)).train()
"""
SOUNDS = """
import torch
from transformers import AutoModelForCTC
model = AutoModelForCTC.from_pretrained("facebook/wav2vec2-base").cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.zeros(2, 8, model.config.hidden_size, device="cuda")).sum().backward()
    optimizer.step()
"""


def test_a_class_that_the_zoos_family_lacks_is_built_by_the_library_with_its_own_configuration():
    found = estimated({**LIBRARY, "examples/train.py": CHOICES}, entry="examples/train.py")
    assert found.unknowns == ()
    assert found.memory.parameters == 30522 * 768 + 768 + 1
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (6, 64)


def test_a_published_model_of_a_family_that_the_zoo_lacks():
    found = estimated({**LIBRARY, "examples/train.py": SOUNDS}, entry="examples/train.py")
    assert found.config.model.value == "facebook/wav2vec2-base"
    assert found.memory.parameters == 768 * 768 + 768


def test_without_the_librarys_source_it_is_said_what_is_missing():
    [sentence] = estimated(SOUNDS).unknowns
    assert "`preflight sources add transformers==VERSION`" in sentence


LABELS = """
import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification
classes = load_dataset("{data}")["train"].features["label"].names
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=len(classes)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.zeros(2, 8, dtype=torch.int64, device="cuda")).logits.sum().backward()
optimizer.step()
"""


def test_how_many_classes_a_data_set_has_is_known_or_taken_in_the_open():
    known, taken = (estimated(LABELS.format(data=name)) for name in ("xnli", "somebody/something"))
    assert known.memory.parameters == taken.memory.parameters - 7 * 769
    assert isinstance(taken.config.model, Assumed)
    assert "how many classes" in taken.config.model.why


PICTURES = """
import json
import torch
import numpy as np
from huggingface_hub import hf_hub_download
from transformers import AutoConfig, AutoImageProcessor, AutoModelForSemanticSegmentation
names = json.load(open(hf_hub_download("somebody/pictures", "id2label.json")))
config = AutoConfig.from_pretrained("nvidia/mit-b0", id2label={int(key): name for key, name in names.items()})
size = AutoImageProcessor.from_pretrained("nvidia/mit-b0").size
model = AutoModelForSemanticSegmentation.from_pretrained("nvidia/mit-b0", config=config).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
cells = np.zeros(size["height"] // 16, dtype=int).repeat(2, axis=0).flatten()
model(torch.zeros(2, 3, size["height"], len(cells), device="cuda")).sum().backward()
optimizer.step()
"""
SEES = HEARS.replace("Wav2Vec2ForCTC", "SegformerForSemanticSegmentation").replace(
    "nn.Linear(config.hidden_size, config.hidden_size)", "nn.Conv2d(3, config.num_labels, 1)"
)
PICTURE_LIBRARY = {
    "src/transformers/__init__.py": "",
    "src/transformers/models/auto/modeling_auto.py": LISTS.replace("CTC", "SEMANTIC_SEGMENTATION")
    .replace("wav2vec2", "segformer")
    .replace("Wav2Vec2ForSEMANTIC_SEGMENTATION", "SegformerForSemanticSegmentation"),
    "src/transformers/models/segformer/configuration_segformer.py": CONFIG.format(name="Segformer", kind="segformer"),
    "src/transformers/models/segformer/modeling_segformer.py": SEES,
    "src/transformers/models/segformer/image_processing_segformer.py": 'class Sizes:\n    size = {"height": 64, "width": 64}\n',
}


def test_the_librarys_processor_says_how_large_pictures_are_and_a_table_of_labels_how_many_there_are():
    found = estimated({**PICTURE_LIBRARY, "examples/train.py": PICTURES}, entry="examples/train.py")
    assert found.memory.parameters == 10 * 3 + 10
    assert found.config.batch_size.value == 2
    assert found.config.image_size.value == 8
    assert "how many classes" in found.config.model.why


ORDERS = """
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, DataCollatorForPermutationLanguageModeling, Trainer, TrainingArguments, XLNetTokenizerFast

tokenizer = XLNetTokenizerFast.from_pretrained("xlnet/xlnet-base-cased")
length = min(48, tokenizer.model_max_length)
data = load_dataset("wikitext")["train"].map(lambda rows: tokenizer(rows["text"], truncation=True, max_length=length), batched=True)

import torch
class Orders(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(len(tokenizer), 8)

    def forward(self, input_ids, perm_mask, target_mapping, labels):
        seen = target_mapping @ self.words(input_ids) + perm_mask.sum()
        return {"loss": seen.mean()}

arguments = TrainingArguments("out", per_device_train_batch_size=6)
Trainer(Orders(), arguments, train_dataset=data, data_collator=DataCollatorForPermutationLanguageModeling(tokenizer)).train()
"""


def test_a_tokenizer_of_a_family_that_the_zoo_lacks_has_the_familys_vocabulary_and_no_limit():
    library = {
        "src/transformers/__init__.py": "",
        "src/transformers/models/xlnet/configuration_xlnet.py": CONFIG.format(name="XLNet", kind="xlnet").replace("30522", "32000"),
    }
    found = estimated({**library, "examples/train.py": ORDERS}, entry="examples/train.py")
    assert found.memory.parameters == 32000 * 8
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (6, 48)


LAYERS = """
import torch
from torch import nn
from ...modeling_outputs import BaseModelOutput
from ...modeling_utils import PreTrainedModel
from ...utils.output_capturing import OutputRecorder, capture_outputs

class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        return (self.conv(x),)

class SegformerModel(PreTrainedModel):
    _can_record_outputs = {"hidden_states": OutputRecorder(Stage, capture_initial_hidden_state=False)}

    def __init__(self, config):
        super().__init__(config)
        self.stages = nn.ModuleList([Stage() for _ in range(4)])

    @capture_outputs(tie_last_hidden_states=False)
    def forward(self, x, **kwargs):
        for stage in self.stages:
            x = stage(x)[0]
        return BaseModelOutput(last_hidden_state=x)

class SegformerForSemanticSegmentation(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.body = SegformerModel(config)
        self.head = nn.Conv2d(12, config.num_labels, 1)

    def forward(self, x):
        assert self.body(x).hidden_states is None
        states = self.body(x, output_hidden_states=True).hidden_states
        assert len(states) == 4
        return self.head(torch.cat(states, 1))
"""


def test_hidden_states_that_are_asked_for_are_kept():
    library = {**PICTURE_LIBRARY, "src/transformers/models/segformer/modeling_segformer.py": LAYERS}
    found = estimated({**library, "examples/train.py": PICTURES}, entry="examples/train.py")
    assert found.memory.parameters == 4 * (9 + 3) + 12 * 10 + 10
