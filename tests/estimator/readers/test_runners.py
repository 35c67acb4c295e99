"""Commands that start a script under a name of their own, and folders that lines are run in."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from estimator.readers.launches import documented_starts_of, launches_of


def snapshot(**files):
    return Snapshot.of({path: text.encode() for path, text in files.items()})


RECIPES = {"recipes/full.py": "", "recipes/configs/small.yaml": "# Start:\n#   tune run --nproc_per_node 2 full --config small lr=1e-5\nlr: 1\n"}


def test_a_librarys_runner_names_recipes_and_configurations():
    [found] = documented_starts_of(snapshot(**RECIPES), "recipes/full.py")
    assert (str(found), found.devices) == ("recipes/configs/small.yaml:2", 2)
    assert found.arguments == ("--config", "recipes/configs/small.yaml", "lr=1e-5")


def test_a_configuration_that_is_not_there_is_the_one_that_names_it():
    files = {**RECIPES, "recipes/configs/small.yaml": "# tune run full --config renamed\n"}
    [found] = documented_starts_of(snapshot(**files), "recipes/full.py")
    assert found.arguments == ("--config", "recipes/configs/small.yaml")


def test_an_installed_command_starts_the_file_of_its_function():
    files = {"pyproject.toml": '[project]\nname = "kit"\nscripts.kit = "kit.__main__:main"\n', "kit/__main__.py": "", "README.md": "kit train tiny --lr 1\n"}
    [found] = documented_starts_of(snapshot(**files), "kit/__main__.py")
    assert found.arguments == ("train", "tiny", "--lr", "1")


def test_lines_are_run_where_cd_and_the_functions_name_say():
    files = {"a/main.py": "", "b/main.py": "", "run.sh": "function a() {\n  uv run main.py --x 1\n}\ncd b\npython main.py --x 2\n"}
    assert [found.arguments for found in launches_of(snapshot(**files), "a/main.py")] == [("--x", "1")]
    assert [found.arguments for found in launches_of(snapshot(**files), "b/main.py")] == [("--x", "2")]


def test_a_module_is_started_by_its_dotted_name():
    [found] = launches_of(snapshot(**{"kit/train.py": "", "run.sh": "torchrun --nproc_per_node=4 -m kit.train --config tiny\n"}), "kit/train.py")
    assert (found.devices, found.arguments) == (4, ("--config", "tiny"))
