"""What is wrong with the configuration, as an annotation on the line that is wrong: whoever wrote it should not have to search."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analysis.rule import discover
from analysis.selection import require_known_in
from analysis.settings_file import FILES, SettingsError, UnknownRuleError, settings_of
from bot.review import limits
from bot.review.annotation import Annotation
from bot.review.text import visible

_TITLE = "Configuration"
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_NAMED = re.compile(r"unknown (?:key|rule) (?:[^;]*\.)?([\w-]+)|: ([\w-]+) (?:must|of)\b")


def configuration_annotations(configuration: Mapping[str, bytes]) -> list[Annotation]:
    """An annotation for what keeps ``configuration`` (bytes by path) from being used as it stands; [] where nothing does."""
    try:
        require_known_in(settings_of(configuration), discover())
    except SettingsError as error:
        return _annotations(str(error), configuration, f"{error}. The defaults apply until the base branch is corrected.")
    except UnknownRuleError as error:
        return _annotations(str(error), configuration, f"{error}. The other names apply.")
    return []


def _annotations(problem: str, configuration: Mapping[str, bytes], says: str) -> list[Annotation]:
    path = next((path for path in FILES if problem.startswith(path)), next(path for path in FILES if path in configuration))
    line = _line(problem, configuration[path].decode("utf-8", "replace"))
    message = limits.cut_bytes(visible(says), limits.ANNOTATION_BYTES)
    return [Annotation(path, line, line, "warning", _TITLE, message, "")]


def _line(problem: str, text: str) -> int:
    """The line that the problem names, or that holds the name it is about; else the first."""
    if told := _LINE.search(problem):
        return int(told[1])
    named = sorted(_NAMED.finditer(problem), key=lambda match: match[1] is None)  # a name that is unknown tells more than a key
    lines = text.splitlines()
    for match in named:
        name = match[1] or match[2]
        word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        for number, line in enumerate(lines, start=1):
            if word.search(line.partition("#")[0]):
                return number
    return 1
