"""What a data set does on the host to make an item: reading files, decoding and transforming."""

from __future__ import annotations

from analysis.interpreter.values import Call, Instance, Value
from analysis.library.knowledge import Example, Handler, Subject
from analysis.library.randomness import LOADING
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
from PIL import Image
import torch
from torch.utils.data import DataLoader, Dataset

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        return torch.as_tensor(Image.open(self.paths[index]))

for photo in DataLoader(Photos(["a.png"])):
    print(photo.mean().item())
""",
            ("iterate DataLoader", "host_work Photos", "item"),
        ),
    ),
)

#: A library's data set that reads and decodes a file for each item.
DECODES = "dataset: decodes files"


def host_work(call: Call, name: str, handler: Handler) -> Value:
    """The result of ``handler``, with an event if it runs to make an item of a data set."""
    dataset = call.machine.state.get(LOADING)
    if isinstance(dataset, Instance):
        emit(call.machine, Kind.HOST_WORK, subject=dataset, detail=name)
    return handler(call)
