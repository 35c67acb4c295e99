"""Modules of a release as sources that the interpreter runs, and the classes of models that it defines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial

from analysis.source import SourceFile, read

#: Paths of a release's modules begin so: no line of theirs is the repository's.
PREFIX = "<library>/"
_RELATIVE = re.compile(r"^(\s*from )(\.+)([\w.]*)( import )", re.MULTILINE)
_MAPPINGS = "transformers/models/auto/modeling_auto.py"
#: Lists of ``modeling_auto.py`` by what a family builds, where they are not called as that is; older releases have fewer.
_TASKS: Mapping[str, str] = {
    "base": "MODEL_MAPPING_NAMES",
    "seq2seq-lm": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "speech-seq2seq": "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
}
_PAIR = re.compile(r"\(\s*\"([\w-]+)\",\s*\"(\w+)\"")


def module_in(files: Mapping[str, bytes], dotted: str, below: str = "") -> SourceFile | None:
    """The module ``dotted`` of a release, its relative imports written out, under a path ``below`` ours; None where the release has none of that name."""
    base = dotted.replace(".", "/")
    for path, package in ((f"{base}.py", dotted.rpartition(".")[0]), (f"{base}/__init__.py", dotted)):
        raw = files.get(path)
        if raw is not None:
            found = read(PREFIX + below + path, _RELATIVE.sub(partial(_absolute, package), raw.decode("utf-8", "replace")).encode())
            return found if isinstance(found, SourceFile) else None
    return None


def _absolute(package: str, match: re.Match[str]) -> str:
    parts = package.split(".")
    above = ".".join(parts[: len(parts) - len(match[2]) + 1])
    return f"{match[1]}{'.'.join(part for part in (above, match[3]) if part)}{match[4]}"


def class_for(files: Mapping[str, bytes], model_type: str, task: str) -> str | None:
    """The dotted name of the class of ``transformers`` that does ``task`` in a family; None where the release has none."""
    every = _listed(files, _TASKS.get(task, f"MODEL_FOR_{task.upper().replace('-', '_')}_MAPPING_NAMES"))
    listed = every.get(model_type, every.get(model_type.replace("_", "-")))
    return None if listed is None else f"{_folder(files, model_type)}.modeling_{_folder(files, model_type).rpartition('.')[2]}.{listed}"


def config_class_for(files: Mapping[str, bytes], model_type: str) -> str | None:
    """The dotted name of a family's configuration class; None where the release has none."""
    folder = _folder(files, model_type)
    module = f"{folder}.configuration_{folder.rpartition('.')[2]}"
    text = files.get(f"{module.replace('.', '/')}.py", b"").decode("utf-8", "replace")
    kind = rf"(?:{re.escape(model_type)}|{re.escape(model_type.replace('_', '-'))})"
    for block in re.split(r"^(?=class )", text, flags=re.MULTILINE):
        name = re.match(r"class (\w+)\(", block)
        if name is not None and re.search(rf"^    model_type = \"{kind}\"", block, re.MULTILINE):
            return f"{module}.{name[1]}"
    return None


#: How image processors say what size they bring pictures to, where nobody tells them.
_PICTURE_SIZE = re.compile(r"^ +size = .*?(\{\"\w+\": \d+(?:, \"\w+\": \d+)*\})", re.MULTILINE)


def picture_size_of(files: Mapping[str, bytes], model_type: str) -> dict[str, int]:
    """The size that a family's image processor brings pictures to by default, as it is written; empty where the release has none."""
    folder = _folder(files, model_type)
    path = f"{folder}.image_processing_{folder.rpartition('.')[2]}".replace(".", "/")
    texts = (files.get(f"{path}{end}.py", b"").decode("utf-8", "replace") for end in ("_fast", ""))
    found = next((match for match in map(_PICTURE_SIZE.search, texts) if match is not None), None)
    return {} if found is None else json.loads(found[1])


def takes_samples(files: Mapping[str, bytes], model_type: str) -> bool:
    """Whether a family's models take sounds as rows of samples."""
    folder = _folder(files, model_type)
    text = files.get(f"{folder}.modeling_{folder.rpartition('.')[2]}".replace(".", "/") + ".py", b"")
    return b'main_input_name = "input_values"' in text


def module_of(files: Mapping[str, bytes], name: str) -> str | None:
    """The module that defines a class of a family, by the family's name in it: ``PhiForCausalLM``, ``PhiConfig``, ``Gemma3TextConfig``."""
    kind = "configuration" if name.endswith("Config") else "modeling"
    plain = name.lower()
    folders = _by_class(files)
    for prefix in sorted((each for each in folders if plain.startswith(each)), key=len, reverse=True):
        dotted = f"transformers.models.{folders[prefix]}.{kind}_{folders[prefix]}"
        if re.search(rf"^class {re.escape(name)}\b".encode(), files.get(f"{dotted.replace('.', '/')}.py", b""), re.MULTILINE):
            return dotted
    return None


def own_files(contents: Mapping[str, bytes], library: str) -> Mapping[str, bytes]:
    """The Python files of a library in its own repository, by their path below the package's parent; none in any other repository."""
    root = next((root for root in ("", "src/") if f"{root}{library}/__init__.py" in contents), None)
    if root is None:
        return {}
    return {path.removeprefix(root): raw for path, raw in contents.items() if path.startswith(f"{root}{library}/") and path.endswith(".py")}


def defining_module(files: Mapping[str, bytes], folders: tuple[str, ...], name: str) -> str | None:
    """The module below the ``folders`` that defines the class or function ``name``; None where none does."""
    line = re.compile(rf"^(?:class|def) {re.escape(name)}\b".encode(), re.MULTILINE)
    found = (path for path in sorted(files) if path.startswith(folders) and path.endswith(".py") and line.search(files[path]))
    return next((path.removesuffix(".py").replace("/", ".") for path in found), None)


def _by_class(files: Mapping[str, bytes]) -> dict[str, str]:
    """Families' folders by the names of their classes without what they do."""
    folders = {path.split("/")[2] for path in files if path.startswith("transformers/models/") and path.count("/") > 2}  # noqa: PLR2004  the folder of a family
    return {folder.replace("_", ""): folder for folder in folders}


def _folder(files: Mapping[str, bytes], model_type: str) -> str:
    plain = model_type.replace("-", "_")
    return f"transformers.models.{_by_class(files).get(plain.replace('_', ''), plain)}"


def _listed(files: Mapping[str, bytes], name: str) -> dict[str, str]:
    """One list of the auto classes: family to class."""
    text = files.get(_MAPPINGS, b"").decode("utf-8", "replace")
    start = text.find(f"\n{name} = ")
    return {} if start < 0 else dict(_PAIR.findall(text[start : text.find("\n)", start)]))
