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


MASKED = """
import torch
from torch import nn
from ...file_utils import is_scipy_available
from ...modeling_utils import PreTrainedModel
from ...utils.backbone_utils import load_backbone
if is_scipy_available():
    from scipy.optimize import linear_sum_assignment

class Mask2FormerForUniversalSegmentation(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.body = load_backbone(config)
        self.queries = nn.Embedding(8, 4)
        self.tell = nn.Linear(4, config.num_labels)

    def forward(self, pixel_values, mask_labels, class_labels):
        features = self.body(pixel_values)
        sizes = torch.as_tensor([tuple(each.shape[-2:]) for each in mask_labels], device=pixel_values.device)
        starts = torch.cat((sizes.new_zeros((1,)), sizes.prod(1).cumsum(0)[:-1]))
        assert starts.shape == (len(mask_labels),)
        found = torch.einsum("bchw,qc->bqhw", features, self.queries.weight)
        loss = self.tell(self.queries.weight).sum()
        for picture, masks in zip(found, mask_labels):
            cost = torch.cdist(picture.flatten(1), masks.flatten(1)).detach().cpu()
            rows, columns = (torch.as_tensor(each) for each in linear_sum_assignment(cost))
            loss = loss + nn.functional.binary_cross_entropy_with_logits(picture[rows], masks[columns])
        return {"loss": loss}
"""
BACKBONE = """
from torch import nn
from ...modeling_utils import PreTrainedModel

class SwinBackbone(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.conv = nn.Conv2d(3, len(config.out_features), 3, padding=1)

    def forward(self, x):
        return self.conv(x)
"""
FROM_DICT = """
from ...configuration_utils import PreTrainedConfig
from ..auto import CONFIG_MAPPING

class Mask2FormerConfig(PreTrainedConfig):
    model_type = "mask2former"

    def __init__(self, backbone_config=None, **others):
        self.backbone_config = CONFIG_MAPPING[backbone_config.pop("model_type")].from_dict(backbone_config)
        super().__init__(**others)
"""
OF_BACKBONES = """
def load_backbone(config):
    from transformers import AutoBackbone
    return AutoBackbone.from_config(config=config.backbone_config)
"""
SEGMENTS = """
import numpy as np
import torch
from datasets import load_dataset
from transformers import AutoImageProcessor, AutoModelForUniversalSegmentation, Trainer, TrainingArguments

name = "facebook/mask2former-swin-tiny-coco-instance"
data = load_dataset("some/where")
model = AutoModelForUniversalSegmentation.from_pretrained(name, id2label=data["train"][0]["classes"])
processor = AutoImageProcessor.from_pretrained(name, size={"height": 64, "width": 32})

def rows(samples):
    made = {"pixel_values": [], "mask_labels": [], "class_labels": []}
    for picture, note in zip(samples["image"], samples["annotation"]):
        which = {int(one): int(other) for one, other in np.unique(np.array(note)[..., :2], axis=0)}
        for key, value in processor(images=[picture], segmentation_maps=[note], instance_id_to_semantic_id=which, return_tensors="pt").items():
            if key in made:
                made[key].append(value[0])
    return made

def joined(samples):
    lists = {key: [each[key] for each in samples] for key in ("mask_labels", "class_labels")}
    return {"pixel_values": torch.stack([each["pixel_values"] for each in samples]), **lists}

arguments = TrainingArguments("out", per_device_train_batch_size=6, remove_unused_columns=False)
Trainer(model, arguments, data_collator=joined, train_dataset=data["train"].with_transform(rows)).train()
"""


def test_a_segmenter_with_a_backbone_of_its_own_library_is_trained_on_masks():
    models = "src/transformers/models"
    lists = LISTS.replace("wav2vec2", "mask2former").replace("Wav2Vec2ForCTC", "Mask2FormerForUniversalSegmentation").replace("CTC", "UNIVERSAL_SEGMENTATION")
    library = {
        "src/transformers/__init__.py": "",
        "src/transformers/utils/backbone_utils.py": OF_BACKBONES,
        f"{models}/auto/modeling_auto.py": lists.replace("MULTIPLE_CHOICE", "BACKBONE")
        .replace("DistilBertForMultipleChoice", "SwinBackbone")
        .replace("distilbert", "swin"),
        f"{models}/mask2former/configuration_mask2former.py": FROM_DICT,
        f"{models}/mask2former/modeling_mask2former.py": MASKED,
        f"{models}/swin/configuration_swin.py": CONFIG.format(name="Swin", kind="swin"),
        f"{models}/swin/modeling_swin.py": BACKBONE,
    }
    for _ in range(2):  # what the program does to a configuration stays in its run
        found = estimated({**library, "examples/train.py": SEGMENTS}, entry="examples/train.py")
        assert found.unknowns == ()
        assert found.memory.parameters == 4 * (27 + 1) + 8 * 4 + 10 * (4 + 1)
        assert (found.config.batch_size.value, found.config.image_size.value) == (6, 32)
        assert "how many objects" in found.config.model.why
