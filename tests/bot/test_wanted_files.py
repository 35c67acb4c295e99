"""Which files of a commit are read."""

import pytest

from bot.wanted_files import is_wanted


@pytest.mark.parametrize("path", ["train.py", "a/b.ipynb", "conf/a.yaml", "..train.py", ".github/run.sh", "requirements-dev.txt"])
def test_code_and_what_configures_it_is_wanted(path: str) -> None:
    assert is_wanted(path, 100)


@pytest.mark.parametrize("path", ["../evil.py", "/abs.py", "a/../b.py", "./a.py", "a//b.py", ".git/hooks/a.py", "notes.txt", "a.png"])
def test_names_that_no_checkout_makes_are_not(path: str) -> None:
    assert not is_wanted(path, 100)
