"""The interpreter computes what Python computes, wherever the source tells everything."""

import contextlib
import io

import pytest

from tests.analysis.interpreter.plain import run

PROGRAMS = {
    "arithmetic": "r = (7 // 2, 7 % 4, 2 ** 5, -3, not 0, 1 < 2 < 3, 1 < 2 > 5, 6 & 3, 'a' * 3)",
    "containers": "d = {'a': 1}\nd['b'] = 2\nd.setdefault('c', []).append(3)\nl = [1, *range(3)]\nl[1:2] = [8, 9]\nr = (d, l, {1, 2} | {3}, l[::-1], 'b' in d)",
    "unpacking": "a, *b, c = range(5)\n(x, y), z = (1, 2), 3\nr = (a, b, c, x, y, z)",
    "comprehensions": "n = 3\nr = ([i * n for i in range(4) if i % 2], {k: v for k, v in zip('ab', range(2))}, {i for i in (1, 1)}, sum(i for i in range(5)))",
    "comprehension scope": "i = 7\nx = [i for i in range(3)]\nr = i",
    "functions": "def f(a, b=2, *args, c, d=4, **more):\n    return a, b, args, c, d, more\nr = (f(1, c=3), f(1, 5, 6, 7, c=8, e=9), f(*[1, 2], **{'c': 3}))",
    "defaults are made once": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)\nf(1)\nr = f(2)",
    "closures": "def counter():\n    n = 0\n    def step():\n        nonlocal n\n        n += 1\n        return n\n    return step\nc = counter()\nc()\nr = c()",
    "late binding": "fs = []\nfor i in range(3):\n    fs.append(lambda j=i: j)\nr = [f() for f in fs]",
    "global": "n = 1\ndef f():\n    global n\n    n = 5\nf()\nr = n",
    "recursion": "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nr = fact(5)",
    "classes": (
        "class A:\n    kind = 'a'\n    def __init__(self, v): self.v = v\n    @property\n    def twice(self): return 2 * self.v\n"
        "    @staticmethod\n    def s(x): return x + 1\n    @classmethod\n    def make(cls): return cls(9)\n    def __add__(self, o): return A(self.v + o.v)\n"
        "    def __call__(self, x): return x + self.v\n    def __len__(self): return 4\n    def __getitem__(self, i): return i * 10\n"
        "class B(A):\n    def __init__(self): super().__init__(3)\n    def __getattr__(self, name): return name\n"
        "b = B()\nr = (b.twice, A.s(1), A.make().v, (b + b).v, b(1), len(b), b[2], b.kind, b.missing, isinstance(b, A))"
    ),
    "property setter": (
        "class A:\n    @property\n    def v(self): return self._v\n    @v.setter\n    def v(self, x): self._v = x + 1\na = A()\na.v = 1\nr = a.v"
    ),
    "diamond": (
        "class A:\n    def f(self): return ['A']\nclass B(A):\n    def f(self): return ['B', *super().f()]\nclass C(A):\n    def f(self): return ['C', *super().f()]\n"
        "class D(B, C):\n    def f(self): return ['D', *super().f()]\nr = D().f()"
    ),
    "dict subclass": "class S(dict):\n    def __missing__(self, k):\n        self[k] = len(self)\n        return self[k]\ns = S()\ns['x']\nr = (s['y'], len(s), list(s), 'x' in s)",
    "exceptions": (
        "log = []\ndef f(x):\n    try:\n        if x: raise ValueError('v')\n        log.append('ok')\n    except (KeyError, ValueError) as e:\n        log.append(e.args[0])\n"
        "        return 'caught'\n    else:\n        log.append('else')\n    finally:\n        log.append('finally')\n    return 'through'\nr = (f(0), f(1), log)"
    ),
    "exception through calls": "def g(): raise KeyError('k')\ndef f():\n    try:\n        g()\n    except LookupError:\n        return 'seen'\nr = f()",
    "host error is the guest's": "try:\n    {}['a']\nexcept KeyError:\n    r = 'missing'",
    "loops": "r = []\nfor i in range(10):\n    if i == 2: continue\n    if i == 5: break\n    r.append(i)\nelse:\n    r.append('else')\nfor i in range(2): pass\nelse: r.append('end')",
    "while": "n = 0\nwhile True:\n    n += 1\n    if n > 6: break\nr = n",
    "generators": (
        "def g(n):\n    try:\n        for i in range(n):\n            got = yield i\n            if got: yield got\n    finally:\n        done.append(1)\n    return 7\n"
        "def h():\n    x = yield from g(2)\n    yield x\ndone = []\nit = g(3)\nr = (next(it), it.send('s'), list(it), list(h()), done)"
    ),
    "two generators": "def g(k):\n    while True:\n        yield k\n        k += 1\na, b = g(0), g(10)\nr = [next(a), next(b), next(a), next(b), next(a)]",
    "generator in for with break": "def g():\n    i = 0\n    while True:\n        yield i\n        i += 1\nr = []\nfor x in g():\n    if x > 3: break\n    r.append(x)",
    "context managers": (
        "log = []\nclass M:\n    def __enter__(self):\n        log.append('in')\n        return 5\n    def __exit__(self, k, v, t):\n        log.append('out')\n        return True\n"
        "with M() as m:\n    raise ValueError()\nr = (m, log)"
    ),
    "decorators": "def twice(f):\n    def inner(*a):\n        return f(*a) * 2\n    return inner\n@twice\ndef g(x): return x + 1\nr = g(3)",
    "match": "def f(x):\n    match x:\n        case 1 | 2: return 'small'\n        case [a, b]: return a + b\n        case None: return 'none'\n        case str(): return 'text'\n        case _: return 'other'\nr = [f(v) for v in (1, [3, 4], None, 'q', 9.5)]",
    "walrus": "if (n := 4) > 3: r = n",
    "star dict and list displays": "a = {'x': 1}\nr = ({**a, 'y': 2}, [*a, 3])",
    "strings": "x = 3\nr = (f'{x}-{x + 1}', '%d %s' % (1, 'b'), ','.join(['a', 'b']), 'abc'[1:])",
    "reflection": "class A: pass\na = A()\nsetattr(a, 'x', 4)\nr = (getattr(a, 'x'), getattr(a, 'y', 9), hasattr(a, 'x'), hasattr(a, 'z'), callable(len))",
    "augmented": "l = [1]\nm = l\nl += [2]\nn = 1\nn += 2\nd = {'k': 1}\nd['k'] *= 5\nr = (m, n, d)",
    "sorting": "r = (sorted([3, 1, 2], key=lambda v: -v), min(4, 2), max([1, 5]), sum([1, 2], 10), any([0, 1]), all([1, 0]), list(reversed([1, 2])), list(enumerate('ab', 1)))",
    "delete": "d = {'a': 1, 'b': 2}\ndel d['a']\nl = [1, 2, 3]\ndel l[0]\nr = (d, l)",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_computes_what_python_computes(name):
    expected = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(PROGRAMS[name], expected)
    found, machine = run(PROGRAMS[name])
    assert found["r"] == expected["r"]
    assert machine.unresolved == []
