"""Lines that start a script: by which launcher, on how many devices, with which arguments.

A line is read as a shell reads it, variables that the same file sets put in; what only the shell could know (``$SLURM_NNODES``, ``$(nproc)``) stays unknown,
and an argument made of it is left out.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType

from analysis.snapshot import Snapshot
from estimator.readers.runners import as_python, words_naming

_SHELL = (".sh", ".bash", ".slurm", ".sbatch", ".job", ".zsh")
_NAMES = frozenset({"makefile", "justfile"})
#: Longer files hold no launch line that a person wrote.
_MAX_CHARACTERS = 200_000
_MAX_FILES = 400
_ASSIGNED = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|#]*)\s*(?:#.*)?$")
_VARIABLE = re.compile(r"\$\{?(\w+)(?::?-([^}]*))?\}?")
_MOVED = re.compile(r"^(?:cd|pushd)\s+([\w./-]+)\s*(?:$|[;&|#])")
_QUOTED = re.compile(r"(?:^|\s)`((?:python3?|torchrun|accelerate|deepspeed)\s[^`]*)`[.,;]?$")
_ESCAPED = re.compile(r"\\([;|&])")
_FUNCTION = re.compile(r"^(?:function\s+)?([\w-]+)\s*\(\)\s*\{?\s*$")
_NOTHING: Mapping[str, str] = MappingProxyType({})
#: Options of launchers that name processes on one machine, and machines.
_PROCESSES = frozenset({"nproc_per_node", "nproc-per-node", "num_processes", "num_gpus", "num-gpus", "num-processes"})
_MACHINES = frozenset({"nnodes", "num_nodes", "num_machines", "num-machines"})
#: Options of launchers that are switches: what follows is not their value.
_SWITCHES = frozenset({"standalone", "multi_gpu", "multi-gpu", "use_fsdp", "use_deepspeed", "no_python", "module", "no_local_rank", "cpu", "debug", "mixed"})


#: Options of ``accelerate launch`` that change what a process holds.
_KEPT = frozenset({"config_file", "mixed_precision"})


@dataclass(frozen=True, slots=True)
class Launch:
    """One way in which a file of the repository starts a script.

    ``devices`` is None where no launcher says how many. ``settings`` are the arguments with a name, as text; ``arguments`` all words after the script.
    """

    path: str
    line: int
    devices: int | None
    settings: Mapping[str, str]
    arguments: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def launches_of(snapshot: Snapshot, entry: str) -> tuple[Launch, ...]:
    """The different ways in which files of the repository start ``entry``, in the order of their paths and lines."""
    return _launches(snapshot, entry, _may_launch)


#: What a reader is to put in, in a line of documentation.
_GAP = re.compile(r"<[^<>]+>|^<|>$")


def documented_starts_of(snapshot: Snapshot, entry: str) -> tuple[Launch, ...]:
    """The ways in which the repository's documentation, and the comments of its configurations, say to start ``entry``.

    Those with the fewest gaps come first, and last those that only show an option or two.
    """
    found = _launches(snapshot, entry, _is_readme) + _launches(snapshot, entry, _is_prose)
    whole = max((len(launch.arguments) for launch in found), default=0) / 2

    def order(launch: Launch) -> tuple[bool, int]:
        return len(launch.arguments) < whole, sum(_GAP.search(word) is not None for word in launch.arguments)

    return tuple(sorted(found, key=order))


def _is_readme(path: str) -> bool:
    return posixpath.basename(path).lower().startswith("readme")


def _is_prose(path: str) -> bool:
    return path.endswith((".yaml", ".yml", ".md", ".mdx")) and not _is_readme(path) and not path.startswith(".")


def _launches(snapshot: Snapshot, entry: str, wanted: Callable[[str], bool]) -> tuple[Launch, ...]:
    found: dict[tuple[object, ...], Launch] = {}
    names, naming = _names_of(snapshot, entry), (posixpath.basename(entry).removesuffix(".py"), *words_naming(snapshot, entry))
    files = [path for path in sorted(snapshot.contents) if wanted(path)]
    for path in files[:_MAX_FILES]:
        text = snapshot.contents[path][: _MAX_CHARACTERS + 1].decode("utf-8", "replace")
        if len(text) <= _MAX_CHARACTERS and any(word in text for word in naming):
            for launch in _in_text(snapshot, text, path, entry, {*names, posixpath.relpath(entry, posixpath.dirname(path) or ".")}):
                found.setdefault((launch.devices, launch.arguments, tuple(launch.options.items())), launch)
    return tuple(found.values())


def _names_of(snapshot: Snapshot, entry: str) -> set[str]:
    """What the entry may be called anywhere: its path, and every end of it that no other file has."""
    parts = entry.split("/")
    ends = {"/".join(parts[i:]) for i in range(len(parts))}
    return {end for end in ends if sum(path == end or path.endswith(f"/{end}") for path in snapshot.contents) == 1} | {entry}


def _may_launch(path: str) -> bool:
    name = posixpath.basename(path).lower()
    workflow = path.startswith(".github/workflows/") and name.endswith((".yml", ".yaml"))
    return workflow or name.endswith(_SHELL) or name in _NAMES or name.startswith("dockerfile")


def _in_text(snapshot: Snapshot, text: str, path: str, entry: str, names: AbstractSet[str]) -> Iterator[Launch]:
    variables: dict[str, str] = {}
    folder = ""
    for number, line in _logical_lines(_uncommented(text) if path.endswith((".yaml", ".yml")) and not _may_launch(path) else text):
        assigned = _ASSIGNED.match(line)
        if assigned is not None:
            variables[assigned[1]] = _expanded(assigned[2].strip("\"'"), variables)
            continue
        folder = _folder(line, folder)
        inside = {posixpath.relpath(entry, each) for each in (folder, folder.replace("_", "/")) if each and entry.startswith(f"{each}/")}
        launch = _launch(as_python(snapshot, _words(_expanded(line, variables)), path), path, number, names | inside)
        if launch is not None:
            yield launch


def _folder(line: str, before: str) -> str:
    """Where the lines after ``line`` are run: ``cd`` says it, and the name of a function that is called as the folder whose scripts it starts."""
    moved, function = _MOVED.match(line), _FUNCTION.match(line)
    if moved is not None:
        return posixpath.normpath(posixpath.join(before, moved[1]))
    return function[1] if function is not None else "" if line.startswith("}") else before


def _uncommented(text: str) -> str:
    """The comments of a configuration, as lines of their own."""
    return "\n".join(line.strip()[1:].strip() if line.strip().startswith("#") else "" for line in text.splitlines())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that a backslash continues joined, and the number of the first."""
    joined, first = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _shown(raw.strip()).removeprefix("- ").removeprefix("run: ").removeprefix("RUN ").removeprefix("CMD ").removeprefix("$ ").lstrip("@!")
        if line.startswith("#"):
            continue
        first = first or number
        if line.endswith("\\"):
            joined += line[:-1] + " "
            continue
        yield first, joined + line
        joined, first = "", 0


def _shown(line: str) -> str:
    """A line of prose whose end is one command in backticks is that command."""
    quoted = _QUOTED.search(line)
    return line if quoted is None else quoted[1]


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        known = variables.get(match[1], match[2])
        return match[0] if known is None else known

    return _VARIABLE.sub(value, text)


def _words(line: str) -> list[str]:
    """The words of a line; what ends a command ends none where it is escaped, and is told by its backslash."""
    try:
        return shlex.split(_ESCAPED.sub(r"\\\\\1", line), comments=True)
    except ValueError:
        return []


def _launch(words: Sequence[str], path: str, line: int, names: AbstractSet[str]) -> Launch | None:
    """The start of a script with one of ``names`` in a command; None where it starts something else."""
    at = next((i for i, word in enumerate(words) if _is_script(word, names)), None)
    if at is None:
        return None
    before = [word for word in words[:at] if "=" not in word.partition("-")[0]]
    launcher = next(
        (word for word in before if posixpath.basename(word) in {"torchrun", "accelerate", "deepspeed", "python", "python3", "srun", "mpirun", "uv"}), None
    )
    launcher = launcher or next((word for word in before if word.startswith(("python", "${PYTHON", "$PYTHON", "$(PYTHON"))), None)
    if launcher is None:
        return None
    options = _named(before)
    end = next((i for i, word in enumerate(words[at + 1 :], at + 1) if word in {"&&", ";", "||", "|", "&", ">", ">>", "2>&1"}), len(words))
    arguments = tuple(word for word in words[at + 1 : end] if "$" not in word)
    return Launch(path, line, _devices(options), _named(arguments), arguments, {name: text for name, text in options.items() if name in _KEPT})


def _is_script(word: str, names: AbstractSet[str]) -> bool:
    """Whether a word is one of the script's names, or the module that its path is."""
    return posixpath.normpath(word) in names if word.endswith(".py") else f"{word.replace('.', '/')}.py" in names and "." in word


def _named(words: Sequence[str]) -> dict[str, str]:
    """``--name value``, ``--name=value``, ``name=value`` and switches, by name; dashes are underscores."""
    found: dict[str, str] = {}
    waiting: str | None = None
    for word in words:
        name, is_assigned, value = word.partition("=")
        if word.startswith("--") or (word.startswith("-") and not word[1:2].isdigit() and len(word) > 1):
            plain = name.lstrip("-").replace("-", "_")
            found[plain] = value if is_assigned else "True"
            waiting = None if is_assigned or plain in _SWITCHES else plain
        elif waiting is not None:
            found[waiting] = word
            waiting = None
        elif is_assigned and name.replace(".", "").isidentifier():
            found[name] = value
    return found


def _devices(options: Mapping[str, str]) -> int | None:
    """Processes on one machine times machines, where they are numbers."""
    per_machine = next((options[name] for name in options if name in _PROCESSES), None)
    machines = next((options[name] for name in options if name in _MACHINES), "1").rpartition(":")[2]
    if per_machine is None or not per_machine.isdigit():
        return None
    in_all = any(name in options for name in ("num_processes",))
    return int(per_machine) * (1 if in_all or not machines.isdigit() else int(machines)) or None
