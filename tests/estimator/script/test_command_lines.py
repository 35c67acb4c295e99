"""Scripts that are configured from a command line: every option's default reaches the model, with the line where it is written."""

from __future__ import annotations

import pytest

from analysis.certainty import Known
from tests.estimator.script.running import estimated, line_of

TRAINING = """
import torch
from torch import nn

{above}

def train(width: int = 64, batch_size: int = 8{annotated}):
    model = nn.Linear(width, width).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        x = torch.randn(batch_size, width, device="cuda")
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

{below}
"""
CLICK = """
import click

@click.command()
@click.option("--width", default=256, help="width")
@click.option("--batch-size", "-b", type=int, default=32)
@click.option("--fast/--slow", default=True)
def main(width, batch_size, fast):
    train(width, batch_size if fast else 1)

main()
"""
GROUP = """
import click

@click.group()
def cli():
    pass

@cli.command()
@click.option("--width", default=256)
@click.option("--rows", "batch_size", default=32)
def fit(width, batch_size):
    train(width, batch_size)

@cli.command()
def show():
    pass

cli()
"""
TYPER = """
import typer
app = typer.Typer()

@app.command()
def main(width: int = typer.Option(256, "--width"), batch_size: int = typer.Argument(32)):
    train(width, batch_size)

app()
"""
FIRE = "import fire\n\ndef main(width=256, batch_size=32):\n    train(width, batch_size)\n\nfire.Fire(main)"
TYRO = """
from dataclasses import dataclass
import tyro

@dataclass
class Args:
    width: int = 256
    batch_size: int = 32

args = tyro.cli(Args)
train(args.width, args.batch_size)
"""
ABSL = """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("width", 256, "width")
flags.DEFINE_integer("batch_size", 32, "rows")

def main(_):
    train(FLAGS.width, FLAGS.batch_size)

app.run(main)
"""


def script(below: str) -> str:
    return TRAINING.replace("{above}", "").replace("{annotated}", "").replace("{below}", below)


@pytest.mark.parametrize("below", [CLICK, GROUP, TYPER, FIRE, TYRO, ABSL], ids=["click", "group", "typer", "fire", "tyro", "absl"])
def test_defaults_of_options_reach_the_model(below):
    found = estimated(script(below))
    assert found.memory.parameters == 256 * 256 + 256
    assert found.config.batch_size.value == 32
    assert found.unknowns == ()


@pytest.mark.parametrize("below", [CLICK, FIRE, TYRO, ABSL], ids=["click", "fire", "tyro", "absl"])
def test_the_callers_settings_go_before_defaults(below):
    found = estimated(script(below), settings={"width": "128"})
    assert found.memory.parameters == 128 * 128 + 128


def test_the_batch_size_is_where_its_option_is():
    loop = 'x = torch.randn(batch_size, width, device="cuda")'
    loaded = "x = next(iter(torch.utils.data.DataLoader(torch.randn(1000, width), batch_size=batch_size))).cuda()"
    text = script(CLICK.replace("batch_size if fast else 1", "batch_size")).replace(loop, loaded)
    found = estimated(text)
    assert isinstance(found.config.batch_size, Known)
    assert found.config.batch_size.because.line == line_of(text, '"--batch-size"')


def test_an_argument_that_must_be_given_is_not_guessed():
    below = "import click\n\n@click.command()\n@click.argument('width', type=int)\ndef main(width):\n    train(width)\n\nmain()"
    found = estimated(script(below))
    assert found.memory is None
    assert any("the argument width" in sentence for sentence in found.unknowns)


@pytest.mark.parametrize(
    "check",
    [
        "if args.table is None and args.folder is None:\n    raise ValueError('no data')",
        "if args.table is None:\n    raise ValueError('no data')\nelse:\n    assert args.folder is None",
        "if not args.table:\n    parser.error('no data')",
        "assert args.table is not None",
        "if args.table is None or args.batch is None:\n    raise SystemExit(2)",
    ],
)
def test_an_argument_that_the_script_demands_is_taken_as_given(check):
    above = ("import argparse", "parser = argparse.ArgumentParser()", *(f"parser.add_argument('--{name}')" for name in ("table", "folder", "batch")))
    rest = ("args = parser.parse_args()", check, "if args.table is not None:\n    train(batch_size=4 if args.folder is None else 2)")
    found = estimated(TRAINING.replace("{above}", "").replace("{annotated}", "").replace("{below}", "\n".join((*above, *rest))))
    assert found.config.batch_size.value == 4


def test_what_stands_for_a_demanded_argument_is_enough():
    above = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--table')\nparser.add_argument('--folder', default='data')\n"
    above += "args = parser.parse_args()\nif args.folder == 'tables':\n    assert args.table is not None"
    checks = "if args.table is None and args.folder is None:\n    raise ValueError('no data')\nif args.table is not None:\n    raise ValueError('both')"
    found = estimated(TRAINING.replace("{above}", "").replace("{annotated}", "").replace("{below}", f"{above}\n{checks}\ntrain(batch_size=4)"))
    assert found.config.batch_size.value == 4
