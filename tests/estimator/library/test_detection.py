"""Objects in pictures: boxes and classes from a data set through the image processor to a library's own loss, which matches on the host."""

from __future__ import annotations

from analysis.certainty import Assumed
from tests.estimator.library.test_model_classes import CONFIG, LISTS
from tests.estimator.script.running import estimated

LOSS = """
import torch
from torch import nn
from ..utils import is_scipy_available, is_torch_tensor
if is_scipy_available():
    from scipy.optimize import linear_sum_assignment

def ForObjectDetectionLoss(logits, labels, boxes, **kwargs):
    flat = torch.cat([each["boxes"] for each in labels])
    if not (flat[:, 2:] >= flat[:, :2]).all():
        raise ValueError("corners are the wrong way round")
    costs = torch.cdist(boxes.flatten(0, 1).float(), flat, p=1).view(len(labels), boxes.shape[1], -1).cpu()
    sizes = [len(each["boxes"]) for each in labels]
    pairs = [linear_sum_assignment(cost[index]) for index, cost in enumerate(costs.split(sizes, -1))]
    rows = torch.cat([torch.as_tensor(row, dtype=torch.int64) for row, _ in pairs])
    images = torch.cat([torch.full((len(row),), index) for index, (row, _) in enumerate(pairs)])
    found = boxes[images, rows]
    assert is_torch_tensor(found)
    return nn.functional.l1_loss(found, flat)
"""
MODEL = """
import torch
from timm import create_model
from torch import nn
from ...modeling_utils import PreTrainedModel

class DetrForObjectDetection(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.body = create_model("resnet18", features_only=True, out_indices=(1, 2))
        self.tell = nn.Linear(sum(self.body.feature_info.channels()), config.num_labels)
        self.place = nn.Linear(sum(self.body.feature_info.channels()), 4)

    def forward(self, pixel_values, pixel_mask=None, labels=None):
        states = torch.cat([each.mean((2, 3)) for each in self.body(pixel_values)], 1)[:, None].expand(-1, 20, -1)
        scores, boxes = self.tell(states), self.place(states)
        return {"loss": self.loss_function(scores, labels, boxes) + scores.sum(), "logits": scores}
"""
LIBRARY = {
    "src/transformers/__init__.py": "",
    "src/transformers/loss/loss_for_object_detection.py": LOSS,
    "src/transformers/models/auto/modeling_auto.py": LISTS.replace("CTC", "OBJECT_DETECTION")
    .replace("Wav2Vec2ForOBJECT_DETECTION", "DetrForObjectDetection")
    .replace("wav2vec2", "detr"),
    "src/transformers/models/detr/configuration_detr.py": CONFIG.format(name="Detr", kind="detr"),
    "src/transformers/models/detr/modeling_detr.py": MODEL,
}
SCRIPT = """
import numpy as np
import torch
from datasets import load_dataset
from transformers import AutoImageProcessor, AutoModelForObjectDetection, Trainer, TrainingArguments

data = load_dataset("{data}")
names = dict(enumerate(data["train"].features["objects"].feature["category"].names))
model = AutoModelForObjectDetection.from_pretrained("facebook/detr-resnet-50", id2label=names)
processor = AutoImageProcessor.from_pretrained("facebook/detr-resnet-50", size={{"max_height": 96, "max_width": 64}})

def rows(samples):
    pictures, notes = [], []
    for picture, objects in zip(samples["image"], samples["objects"]):
        pictures.append(np.array(picture.convert("RGB")))
        notes.append({{"image_id": 0, "annotations": [{{"bbox": box}} for box in objects["bbox"]]}})
    return processor(images=pictures, annotations=notes, return_tensors="pt")

def joined(samples):
    return {{"pixel_values": torch.stack([each["pixel_values"] for each in samples]), "labels": [each["labels"] for each in samples]}}

arguments = TrainingArguments("out", per_device_train_batch_size=6, remove_unused_columns=False)
Trainer(model, arguments, data_collator=joined, train_dataset=data["train"].with_transform(rows)).train()
"""


def test_a_detector_with_a_backbone_of_another_library_is_trained_on_boxes():
    known, taken = (estimated({**LIBRARY, "examples/train.py": SCRIPT.format(data=name)}, entry="examples/train.py") for name in ("cppe-5", "some/where"))
    assert known.unknowns == ()
    assert (known.config.batch_size.value, known.config.image_size.value) == (6, 64)
    assert isinstance(known.config.model, Assumed)
    assert known.config.model.why.startswith("how many objects")
    assert taken.memory.parameters - known.memory.parameters == 5 * (64 + 128 + 1)
