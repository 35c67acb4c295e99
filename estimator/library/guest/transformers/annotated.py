"""What image processors make of objects that pictures show: boxes, masks and classes as tensors."""

import torch
from preflight_host import shown_objects


def boxes(annotations):
    """For every picture what COCO says of it: a row for each object."""
    made = []
    for picture in annotations:
        count = len(picture["annotations"])
        shown_objects()
        made.append(
            {
                "size": torch.zeros(2, dtype=torch.int64), "image_id": torch.zeros(1, dtype=torch.int64), "class_labels": torch.zeros(count, dtype=torch.int64),
                "boxes": torch.zeros((count, 4)), "area": torch.zeros(count), "iscrowd": torch.zeros(count, dtype=torch.int64),
                "orig_size": torch.zeros(2, dtype=torch.int64),
            }
        )  # fmt: skip
    return made


def masks(maps, height, width):
    """For every picture a mask and a class for each object."""
    count = shown_objects()
    return [torch.zeros((count, height, width)) for _ in maps], [torch.zeros(count, dtype=torch.int64) for _ in maps]
