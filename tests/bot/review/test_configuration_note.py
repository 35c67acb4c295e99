"""A configuration that does not hold is annotated on its line, with the nearest name that there is."""

from __future__ import annotations

import pytest

from bot.review.configuration_note import configuration_annotations


@pytest.mark.parametrize(
    ("path", "text", "line", "says"),
    [
        (".preflight.toml", "# drft = 1\nsarif = true\ndrft = true\n", 3, "unknown key drft; did you mean drafts?"),
        (".preflight.toml", 'gpus = ["T4"]\ndrafts = "perhaps"\n', 2, "drafts must be true or false"),
        (".preflight.toml", 'fail-on = "eror"\n', 1, "did you mean error?"),
        (".preflight.toml", "gpus = [\n", 1, "not valid TOML"),
        (".preflight.toml", 'sarif = true\nignore = ["missing-zero-gradd"]\n', 2, "did you mean missing-zero-grad?"),
        ("pyproject.toml", '[project]\nname = "x"\n[tool.preflight]\nsugestions = true\n', 4, "did you mean suggestions?"),
        ("pyproject.toml", '[tool.preflight.entry."train.py"]\ngpu = ["T4"]\n', 2, "did you mean gpus?"),
    ],
)
def test_the_line_and_the_nearest_name(path: str, text: str, line: int, says: str) -> None:
    (annotation,) = configuration_annotations({path: text.encode()})
    assert (annotation.path, annotation.start_line, annotation.level) == (path, line, "warning")
    assert says in annotation.message


@pytest.mark.parametrize("configuration", [{}, {".preflight.toml": b"drafts = true\n"}, {"pyproject.toml": b"[project]\n"}])
def test_nothing_is_said_about_one_that_holds(configuration: dict[str, bytes]) -> None:
    assert configuration_annotations(configuration) == []
