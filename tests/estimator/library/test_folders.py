"""Folders of the repository are listed as they are, and names are matched; what lies elsewhere is not known."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated, small

SIZES = {"sizes/small.json": '{"width": 8}', "sizes/old/tiny.json": '{"width": 2}', "sizes/notes.txt": ""}
NET = small("return self.outer(self.inner(x))", above="{more}").replace("nn.Linear(64, 10)", "nn.Linear(64, width)")


@pytest.mark.parametrize(
    ("lines", "width"),
    [
        ("width = [json.loads(path.read_text())['width'] for path in Path('sizes').glob('*.json')][0]", 8),
        ("width = sum(json.load(path.open())['width'] for path in Path('sizes').rglob('*.json') if path.is_file())", 10),
        ("width = len(list(Path(__file__).parent.joinpath('sizes').iterdir()))", 3),
        ("width = len([name for name in os.listdir('sizes') if not name.endswith('.txt')])", 2),
        ("width = sum(len(files) for top, folders, files in os.walk('sizes'))", 3),
        ("width = len(glob.glob('sizes/*/*.json')) + len(glob.glob('sizes/old/tiny.json'))", 2),
        ("sizes = {path.stem: path for path in Path('sizes').glob('*.json')}\nwidth = json.load(open(sizes['small']))['width']", 8),
    ],
)
def test_files_of_the_repository_are_found(lines, width):
    script = NET.replace("{more}", f"import glob, json, os\nfrom pathlib import Path\n{lines}")
    found = estimated({"train.py": script, **SIZES})
    assert found.unknowns == ()
    assert found.memory.parameters == 64 * 64 + 64 + 64 * width + width


@pytest.mark.parametrize("folder", ["/data", "data/images"])
def test_what_lies_elsewhere_and_what_is_still_to_come_is_not_known(folder):
    found = estimated({"train.py": NET.replace("{more}", f"import os\nwidth = len(os.listdir('{folder}'))"), "data/images/.keep": "", **SIZES})
    assert found.memory is None
    assert f"what lies in {folder}" in found.unknowns[0]


@pytest.mark.parametrize(
    ("lines", "width"),
    [
        (r"width = int(re.match(r'net-(\d+)', 'net-12').group(1))", 12),
        (r"width = int(re.compile('[0-9]+').findall('b8x3')[0])", 8),
        ("width = len(re.split('[-_]', 'a-b_c'))", 3),
        ("width = int(re.sub('[a-z]', '', 'wide7'))", 7),
        ("width = 5 if re.search('WIDE', 'net-wide', re.IGNORECASE) else 1", 5),
        (r"names = sorted(['b10', 'b9'], key=lambda name: int(re.search(r'\d+', name)[0]))" + "\nwidth = int(names[0][1:])", 9),
    ],
)
def test_known_texts_are_matched(lines, width):
    found = estimated(NET.replace("{more}", f"import re\n{lines}"))
    assert found.unknowns == ()
    assert found.memory.parameters == 64 * 64 + 64 + 64 * width + width


def test_a_pattern_that_might_take_for_ever_is_not_tried():
    found = estimated(NET.replace("{more}", "import re\nwidth = 3 if re.match('(a+)+$', 'a' * 40 + 'b') else 4"))
    assert found.memory.parameters == 64 * 64 + 64 + 64 * 4 + 4
    assert estimated(NET.replace("{more}", "import re\nwidth = len(re.findall('(a+)+$', 'aab'))")).memory is None


CLASSES = """
import os
import torch

class Pictures(torch.utils.data.Dataset):
    def __init__(self, names, table):
        self.names, self.table = names, table

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return {"x": torch.zeros(4), "label": self.table[self.names[index].split("_")[0]]}

names = [name for name in os.listdir("pictures") if name.endswith(".jpg")]
kinds = list(set([name.split("_")[0] for name in names]))
kinds.sort()
table = {kind: number for number, kind in enumerate(kinds)}
model = torch.nn.Linear(4, len(table)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Pictures(names, table), batch_size=16):
    torch.nn.functional.cross_entropy(model(batch["x"].cuda()), batch["label"].cuda()).backward()
    optimizer.step()
"""


def test_how_many_classes_the_names_of_files_tell_is_taken_in_the_open():
    found = estimated(CLASSES)
    assert found.memory.parameters == 8 * 4 + 8
    assert found.config.batch_size.value == 16
    assert found.config.model.why.startswith("how many different classes lie in the folder")
