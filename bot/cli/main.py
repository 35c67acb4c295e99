"""``preflight COMMAND``: finds the command's file, runs it, and turns every error into one sentence.

A command's module is imported only when it is asked for: the base install lacks what the bot needs, and
``preflight check`` has no time to load it.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, Protocol, cast

from analysis.installed import NotLoadedError
from analysis.nearest import did_you_mean
from analysis.settings_file import SettingsError, UnknownRuleError
from bot.cli.outcome import Exit, UsageError
from bot.cli.terminal import printable
from bot.collector import collect_seldom
from bot.ending import end

COMMANDS: Mapping[str, str] = {
    "check": "findings in files and folders",
    "estimate": "peak GPU memory of a training script or a model",
    "review": "what the bot would post on a pull request, from a local git repository",
    "explain": "the page of a rule",
    "rules": "the rules there are",
    "gpus": "the GPUs and cloud instances that are known by name",
    "models": "the models that are known by name",
    "sources": "the model libraries whose source can be read, and `add` to bring more",
    "serve": "run the bot",
    "doctor": "what keeps the bot from working: key, clock, permissions, storage",
    "worker": "work on the bot's jobs beside other processes of it (PostgreSQL only)",
    "stats": "what became of the findings that the bot has shown, by rule",
    "demo": "a pull request and its review, on a GitHub simulated on this machine",
}

_OF_THE_BOT = frozenset({"serve", "worker", "doctor", "stats", "demo"})
#: What ends when somebody ends it: garbage that waits to be collected would be most of its memory after a while.
_LASTING = frozenset({"serve", "worker", "demo"})


class _Command(Protocol):
    def run(self, words: Sequence[str]) -> int: ...


def process() -> NoReturn:
    """The process ``preflight``: run its command line and end."""
    status = main()
    if sys.argv[1:2] and sys.argv[1] in _LASTING:
        sys.exit(status)
    end(status)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line ``words`` (those of the process by default) and return the exit status."""
    command, *rest = list(sys.argv[1:] if words is None else words) or ["--help"]
    _make_output_safe()
    if command not in _LASTING:
        collect_seldom()
    try:
        return _dispatch(command, rest)
    except (UsageError, SettingsError, UnknownRuleError, NotLoadedError) as error:
        return _fail(command, str(error), Exit.USAGE)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  # the last resort: whatever was missed is said in one sentence
        if _debugging():
            import traceback  # noqa: PLC0415  # only who looks for a fault waits for it

            traceback.print_exc()
        says = str(error).splitlines()[0] if str(error) else "no message"
        hint = "" if _debugging() else "; PREFLIGHT_LOG_LEVEL=debug shows where"
        return _fail(command, f"internal error, please report it: {type(error).__name__}: {says}{hint}", Exit.INTERNAL)


def _dispatch(command: str, words: Sequence[str]) -> int:
    if command in {"-h", "--help", "help"}:
        print(_help())
        return Exit.OK
    if command in {"-V", "--version"}:
        from importlib.metadata import version  # noqa: PLC0415  # slow to import, rarely asked for

        print(f"preflight {version('preflight-bot')}")
        return Exit.OK
    if command not in COMMANDS:
        raise UsageError(f"unknown command {command}{did_you_mean(command, COMMANDS)} (preflight --help lists them)")
    try:
        return _load(command).run(words)
    except SystemExit as stopped:  # argparse has printed the help
        return int(stopped.code or 0)
    finally:
        sys.stdout.flush()


def _load(command: str) -> _Command:
    try:
        return cast("_Command", importlib.import_module(f"bot.cli.{command}"))
    except ModuleNotFoundError as error:
        if command not in _OF_THE_BOT or error.name is None or error.name.split(".")[0] in {"bot", "analysis", "estimator", "sarif"}:
            raise
        raise UsageError(f"needs the bot's dependencies ({error.name} is missing): pip install 'preflight-bot[bot]'") from error


def _help() -> str:
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:{width}}  {summary}" for name, summary in COMMANDS.items())
    return (
        "Reads PyTorch training code without running it: silent mistakes, their patches, and GPU memory.\n\n"
        f"usage: preflight COMMAND [OPTION…]\n\n{listed}\n\npreflight COMMAND --help says more."
    )


def _make_output_safe() -> None:
    """File names and sources may hold anything; a character that the terminal cannot show is spelled out."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _debugging() -> bool:
    return os.environ.get("PREFLIGHT_LOG_LEVEL", "").lower() == "debug"


def _fail(command: str, sentence: str, status: Exit) -> int:
    prefix = f"preflight {command}" if command in COMMANDS else "preflight"
    print(f"{prefix}: {printable(sentence)}", file=sys.stderr)
    return status
