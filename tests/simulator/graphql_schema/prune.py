"""Cut GitHub's published GraphQL schema down to the types that the simulator knows, each with all fields that lead to them.

python -m tests.simulator.graphql_schema.prune schema.graphql > tests/simulator/graphql_schema/github.graphql
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from graphql import build_schema, print_type

from simulator.graphql.execute import schema

_BUILT_IN = {"String", "Int", "Float", "Boolean", "ID"}
_DESCRIPTION = re.compile(r'^ *"""(?:.*?)"""\n', re.MULTILINE | re.DOTALL)
_DEPRECATION = re.compile(r" @deprecated(?:\(.*\))?$", re.MULTILINE)
_ARGUMENTS = re.compile(r"\(\n([^)]*)\n  \)")
_FIELD = re.compile(r"^  (\w+)(?:\((.*)\))?: ([\[\]!\w]+)(.*)$")


def pruned(text: str) -> str:
    """The schema ``text`` without descriptions, deprecations and what leads out of the types that the simulator knows."""
    published = build_schema(text, assume_valid=True)
    known = {name for name in schema().type_map if not name.startswith("__")} | _BUILT_IN
    types = [published.type_map[name] for name in sorted(known - _BUILT_IN) if name in published.type_map]
    return "\n\n".join("\n".join(_lines(print_type(each), known)) for each in types) + "\n"


def _lines(printed: str, known: Collection[str]) -> Iterator[str]:
    plain = _DEPRECATION.sub("", _DESCRIPTION.sub("", printed))
    for line in _ARGUMENTS.sub(_on_one_line, plain).splitlines():
        field = _FIELD.match(line)
        if field is not None:
            arguments = [each for each in re.split(r", (?=\w+:)", field[2] or "") if each and _named(each.partition(":")[2]) in known]
            if _named(field[3]) in known:
                yield f"  {field[1]}{_parenthesised(arguments)}: {field[3]}{field[4]}"
        elif line.startswith(("type ", "interface ")):
            yield _implementing(line, known)
        elif line.startswith("union "):
            head, _, members = line.partition(" = ")
            yield f"{head} = {' | '.join(member for member in re.findall(r'[A-Za-z]+', members) if member in known)}"
        elif line.strip():
            yield line


def _on_one_line(arguments: re.Match[str]) -> str:
    return f"({', '.join(part.strip() for part in arguments[1].splitlines() if part.strip())})"


def _parenthesised(arguments: list[str]) -> str:
    return f"({', '.join(arguments)})" if arguments else ""


def _implementing(line: str, known: Collection[str]) -> str:
    head, _, rest = line.rstrip(" {").partition(" implements ")
    interfaces = [name for name in re.findall(r"\w+", rest) if name in known]
    return f"{head}{' implements ' + ' & '.join(interfaces) if interfaces else ''} {{"


def _named(kind: str) -> str:
    return re.sub(r"[\[\]! ]|=.*", "", kind)


if __name__ == "__main__":
    sys.stdout.write(pruned(Path(sys.argv[1]).read_text(encoding="utf-8")))
