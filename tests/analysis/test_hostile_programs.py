"""Programs made to keep an interpreter busy: each is left in time, and what is found beside it does not change."""

import subprocess
import sys

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

TRAINING = b"""
import torch

def main():
    model = torch.nn.Linear(10, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(100):
        model(torch.randn(4, 10)).sum().backward()
        optimizer.step()

main()
"""

NESTED = (
    b"import torch\nmodel = torch.nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=1)\n"
    + b"".join(b" " * depth + b"for i%d in range(100):\n" % depth for depth in range(18))
    + b"".join(b" " * 18 + b"model(torch.ones(1, 1)).sum().backward()\n" for _ in range(500))
    + b" " * 18
    + b"optimizer.step()\n"
)

PROGRAMS = {
    "nested loops": NESTED,
    "many elifs": b"import sys\na = len(sys.argv)\nif a == 0: pass\n" + b"".join(b"elif a == %d: x = %d\n" % (i, i) for i in range(2_000)) + TRAINING,
    "many ifs": b"import sys\n" + b"".join(b"if len(sys.argv) == %d: x%d = 1\n" % (i, i) for i in range(1_000)) + TRAINING,
    "a large literal": b"x = [" + b"123456, " * 100_000 + b"]\n" + TRAINING,
    "an endless loop": b"while True:\n    pass\n" + TRAINING,
    "an endless generator": b"def g():\n    while True: yield 1\nx = list(g())\n" + TRAINING,
    "doubled recursion": b"def f(n):\n    return f(n) + f(n)\nf(1)\n" + TRAINING,
    "mutual recursion": b"def f(n, g):\n    return [g(n, f), g(n, f), g(n, f)]\nf(1, f)\n" + TRAINING,
    "a chain of calls": b"".join(b"def f%d(x): return f%d(x)\n" % (i, i + 1) for i in range(1_000)) + b"f0(1)\n" + TRAINING,
    "a doubling text": b"x = 'a'\n" + b"x = x + x\n" * 60 + TRAINING,
    "huge numbers": b"x = 10 ** 10 ** 10\ny = [0] * 10 ** 12\nz = sum(range(10 ** 12))\nw = '{:>999999999}'.format(1)\n" + TRAINING,
    "long comprehensions": b"x = [i for i in range(10**9)]\ny = {i: j for i in range(10**5) for j in range(10**5)}\n" + TRAINING,
    "a class that inherits from itself": b"class C(C): pass\nclass M(type): pass\nclass D(metaclass=M): pass\n" + TRAINING,
    "more statements than are followed": b"x = 1\n" * 61_000 + TRAINING,
}

#: What one program may take, in a process of its own: CPU seconds and bytes of address space.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot
program, neighbour = sys.stdin.buffer.read().split(b"\\0")
report = analyse(Snapshot.of({"a.py": neighbour, "hostile.py": program, "z.py": neighbour}), discover())
assert not report.problems, report.problems
for finding in report.findings:
    print(finding.span.path, finding.rule, finding.span.start, finding.fix is not None)
"""


def neighbours(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("hostile.py")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_neighbours_are_analysed_as_without_it(name):
    alone = analyse(Snapshot.of({"a.py": TRAINING, "z.py": TRAINING}), discover())
    expected = [f"{each.span.path} {each.rule} {each.span.start} {each.fix is not None}" for each in alone.findings]
    assert expected
    done = subprocess.run([sys.executable, "-c", LIMITED], input=PROGRAMS[name] + b"\0" + TRAINING, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    assert neighbours(done.stdout.decode()) == expected
