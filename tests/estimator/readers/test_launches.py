"""Lines that start a script are found with their devices and arguments; what only the shell knows is left out."""

from __future__ import annotations

import pytest

from analysis.snapshot import Snapshot
from estimator.readers.launches import documented_starts_of, launches_of


def launches(text, path="run.sh", entry="train.py"):
    return launches_of(Snapshot.of({path: text.encode(), entry: b"import torch\n"}), entry)


@pytest.mark.parametrize(
    ("line", "devices", "settings"),
    [
        ("python train.py --lr 0.1 --amp", None, {"lr": "0.1", "amp": "True"}),
        ("torchrun --standalone --nproc_per_node=8 train.py --batch_size=4", 8, {"batch_size": "4"}),
        ("torchrun --nnodes 2 --nproc-per-node 4 train.py", 8, {}),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", 2, {}),
        ("deepspeed --num_gpus=4 train.py --deepspeed_config ds.json", 4, {"deepspeed_config": "ds.json"}),
        ("CUDA_VISIBLE_DEVICES=0 python3 ./train.py --size 224  # small", None, {"size": "224"}),
        ("accelerate launch --num_processes 16 --num_machines 2 train.py", 16, {}),
        ("srun python train.py data.batch=8", None, {"data.batch": "8"}),
    ],
)
def test_a_command_is_read(line, devices, settings):
    [found] = launches(line)
    assert found.devices == devices
    assert dict(found.settings) == settings


def test_variables_and_continued_lines_are_put_together():
    [found] = launches('GPUS=${GPUS:-8}\nBATCH="16"\n\ntorchrun --nproc_per_node=$GPUS \\\n  train.py --batch $BATCH --out $SCRATCH/run --seed 1\n')
    assert (found.devices, dict(found.settings)["batch"], found.line) == (8, "16", 4)
    assert "$SCRATCH/run" not in found.arguments


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "train:\n\t@python train.py --epochs 3\n"),
        ("docker/Dockerfile.gpu", "FROM x\nCMD python train.py --epochs 3\n"),
        (".github/workflows/smoke.yml", "jobs:\n  t:\n    steps:\n      - run: python train.py --epochs 3\n"),
        ("jobs/big.slurm", "#SBATCH --gpus=8\npython train.py --epochs 3\n"),
    ],
)
def test_every_kind_of_file_is_read(path, text):
    [found] = launches(text, path)
    assert dict(found.settings) == {"epochs": "3"}


@pytest.mark.parametrize("line", ["python evaluate.py", "cp train.py old/", "# python train.py --lr 1", "echo 'unclosed train.py"])
def test_other_lines_start_nothing(line):
    assert launches(line) == ()


def test_the_same_start_is_told_once():
    assert len(launches("python train.py --lr 1\npython train.py --lr 1\npython train.py --lr 2\n")) == 2


def test_a_script_is_named_from_the_files_own_folder_too():
    [found] = launches("python train.py", "recipes/run.sh", "recipes/train.py")
    assert str(found) == "recipes/run.sh:1"


def test_a_bare_name_is_not_every_file_of_that_name():
    files = {"a/train.py": b"", "b/train.py": b"", "a/run.sh": b"python train.py --lr 1\n"}
    assert len(launches_of(Snapshot.of(files), "a/train.py")) == 1
    assert launches_of(Snapshot.of(files), "b/train.py") == ()


def test_documentation_counts_apart():
    snapshot = Snapshot.of(
        {"train.py": b"", "README.md": b"```bash\nexport MODEL=gpt2\naccelerate launch --mixed_precision=bf16 train.py \\\n  --model $MODEL\n```\n"}
    )
    assert launches_of(snapshot, "train.py") == ()
    [found] = documented_starts_of(snapshot, "train.py")
    assert (dict(found.settings), dict(found.options)) == ({"model": "gpt2"}, {"mixed_precision": "bf16"})


def test_a_documented_start_without_gaps_is_tried_first():
    text = b"```\naccelerate launch train.py --batch_size <batch size> --epochs 3\n\naccelerate launch train.py --batch_size 4 --output <where>\n```\n"
    found = documented_starts_of(Snapshot.of({"train.py": b"", "README.md": text}), "train.py")
    assert [each.line for each in found] == [4, 2]


def test_a_command_in_the_middle_of_prose_is_read():
    text = b"* Check the weights with `python train.py --batch_size 4 --evaluate`.\n* `train.py` takes more options.\n"
    [found] = documented_starts_of(Snapshot.of({"train.py": b"", "guide/changes.mdx": text}), "train.py")
    assert (found.line, dict(found.settings)) == (1, {"batch_size": "4", "evaluate": "True"})


def test_a_start_that_only_shows_an_option_is_tried_last():
    text = b"```\npython train.py --resolution 256\n\npython train.py --model small --data 'photo of a <new> cat' --resolution 512 --batch_size 2\n```\n"
    found = documented_starts_of(Snapshot.of({"train.py": b"", "README.md": text}), "train.py")
    assert [each.line for each in found] == [4, 2]
