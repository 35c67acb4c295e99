"""An import is added only where it is missing, and where it is read before it is used."""

import pytest

from analysis.fixes.change import AddImport, WrapExpression

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize(
    ("code", "module", "name", "expected"),
    [
        ("import a\nimport b\n\nx = 1\n", "torch", None, "import a\nimport b\nimport torch\n\nx = 1\n"),
        ("import a\n", "torch", "nn", "import a\nfrom torch import nn\n"),
        ("import a", "torch", "nn", "import a\nfrom torch import nn"),
        ("import a\r\nx = 1\r\n", "torch", None, "import a\r\nimport torch\r\nx = 1\r\n"),
        ('"""Doc."""\n\nx = 1\n', "torch", None, '"""Doc."""\nimport torch\n\nx = 1\n'),
        ("#!/bin/python\n# why\nx = 1\n", "torch", None, "#!/bin/python\n# why\nimport torch\nx = 1\n"),
        ("@d\ndef f(): pass\n", "torch", None, "import torch\n@d\ndef f(): pass\n"),
        ("from __future__ import annotations\nx = 1\n", "torch", None, "from __future__ import annotations\nimport torch\nx = 1\n"),
        ("import a\ndef f(): pass\nimport late\n", "torch", None, "import a\nimport torch\ndef f(): pass\nimport late\n"),
        ("import torch\nx = 1\n", "torch", None, "no: there is nothing to change"),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch", None, "no: there is nothing to change"),
        ("from torch import optim, nn\n", "torch", "nn", "no: there is nothing to change"),
        ("from torch import nn as n\n", "torch", "nn", "from torch import nn as n\nfrom torch import nn\n"),
        ("import torch\n", "torch.nn.functional", None, "import torch\nimport torch.nn.functional\n"),
        ("import torch.nn\n", "torch", None, "import torch.nn\nimport torch\n"),
        ("import mlx as torch\n", "torch", None, "no: it needs an import of torch, a name that means something else in this file"),
        ("from flax import nn\n", "torch", "nn", "no: it needs an import of nn, a name that means something else in this file"),
        ("def nn(): pass\n", "torch", "nn", "no: it needs an import of nn, a name that means something else in this file"),
        ("", "torch", None, "import torch\n"),
    ],
)
def test_where_an_import_goes(edited, code, module, name, expected):
    assert edited(code, lambda: AddImport("train.py", module, name)) == expected


def test_an_import_stands_above_its_use(edited):
    code = "import a\nx = ⟦y⟧\nimport b\n"
    made = edited(code, lambda span: (WrapExpression(span, "math.log(", ")"), AddImport("train.py", "math")))
    assert made == "import a\nimport math\nx = math.log(y)\nimport b\n"
