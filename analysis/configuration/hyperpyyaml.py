"""HyperPyYAML: a YAML file whose tags name what is made of its settings, in the order in which it asks for them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import yaml

from analysis.configuration.documents import Reader, document_of, made_of
from analysis.configuration.hydra import located
from analysis.interpreter.values import Call, Partial, Value
from analysis.library.knowledge import Example, Subject

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from hyperpyyaml import load_hyperpyyaml

hparams = load_hyperpyyaml('''
rate: 0.1
layers: !ref <width> * 2
width: 1
net: !new:torch.nn.Linear
    in_features: !ref <width>
    out_features: !ref <layers>
optimizer: !name:torch.optim.SGD
    lr: !ref <rate>
''')
hparams["optimizer"](hparams["net"].parameters()).step()
""",
            ("optimizer_built SGD", "step SGD"),
        ),
    ),
)
_REFERENCE = re.compile(r"<([\w.\[\]]+)>")
_PLAIN = {yaml.MappingNode: "tag:yaml.org,2002:map", yaml.SequenceNode: "tag:yaml.org,2002:seq"}


class _Recipe(Reader):
    """Makes the values of one document; what a reference leads to is made once."""

    def __init__(self, machine: Machine, text: str, path: str, root: yaml.Node) -> None:
        super().__init__(machine, text, path)
        self.root = root
        self.made: dict[int, Value] = {}
        self.making: set[int] = set()

    def value(self, node: yaml.Node) -> Value:
        """The guest value of ``node``, an object if its tag says so."""
        if not node.tag.startswith("!"):
            return super().value(node)
        if id(node) in self.made:
            return self.made[id(node)]
        if id(node) in self.making:
            return self._unknown("a setting that refers to itself")
        self.making.add(id(node))
        made = self.made[id(node)] = self._tagged(node)
        self.making.discard(id(node))
        return made

    def _tagged(self, node: yaml.Node) -> Value:
        kind, _, name = node.tag[1:].partition(":")
        match kind:
            case "ref" | "copy":
                return self._referred(str(node.value))
            case "new" | "apply":
                args, kwargs = self._arguments(node)
                return self.machine.call(located(self.machine, name), args, kwargs, self.machine.span)
            case "name":
                args, kwargs = self._arguments(node)
                target = located(self.machine, name)
                return Partial(target, tuple(args), kwargs) if args or kwargs else target
            case "module":
                return self.machine.import_module(name, self.machine.entry_path)
            case "tuple":
                return _literal(str(node.value).strip())
        return self._unknown(f"what {node.tag} gives")

    def _arguments(self, node: yaml.Node) -> tuple[list[Value], dict[str, Value]]:
        """What an object is made with: the items of a list, the entries of a mapping, or nothing."""
        match node:
            case yaml.SequenceNode(value=items):
                return [self.value(item) for item in items], {}
            case yaml.MappingNode(value=pairs):
                return [], {str(key.value): self.value(value) for key, value in pairs}
        return [], {}

    def _referred(self, text: str) -> Value:
        """What a reference stands for; a text or a sum that holds some is put together."""
        whole = _REFERENCE.fullmatch(text.strip())
        if whole is not None:
            return self._at(whole[1])
        parts = {match[1]: self._at(match[1]) for match in _REFERENCE.finditer(text)}
        if not all(isinstance(part, (str, int, float)) for part in parts.values()):
            return self._unknown(f"what {text} comes to")
        return _literal(_REFERENCE.sub(lambda match: str(parts[match[1]]), text))

    def _at(self, dotted: str) -> Value:
        """The setting at ``key``, ``outer.key`` or ``outer[key]``."""
        node: yaml.Node | None = self.root
        for key in re.findall(r"\w+", dotted):
            pairs = node.value if isinstance(node, yaml.MappingNode) else ()
            node = next((value for name, value in pairs if name.value == key), None)
        return self._unknown(f"the setting {dotted}") if node is None else self.value(node)

    def _unknown(self, why: str) -> Value:
        return self.machine.domain.unknown(self.machine, why, self.machine.span)


def _literal(text: str) -> Value:
    """The number or tuple that a text writes, products and sums of numbers too; else the text."""
    try:
        return _number(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return text


def _number(node: ast.expr) -> Value:
    """Raises ValueError where it is anything but numbers."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Tuple(elts=parts):
            return tuple(_number(part) for part in parts)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            one, other = _number(left), _number(right)
            return one + other if isinstance(op, ast.Add) else one - other if isinstance(op, ast.Sub) else one * other
    raise ValueError(ast.dump(node))


@SUBJECT.function("hyperpyyaml.load_hyperpyyaml", "speechbrain.utils.data_utils.load_extended_yaml", "speechbrain.yaml.load_extended_yaml")
def _load(call: Call) -> Value:
    machine = call.machine
    try:
        found = document_of(machine, call.args[0] if call.args else None)
    except (yaml.YAMLError, RecursionError, ValueError):
        found = None
    node, text, path = found or (None, "", "")
    if node is None:
        return machine.domain.unknown(machine, "the settings of a file that is not in the repository", call.span)
    return made_of(node, _Recipe(machine, text, path, node))
