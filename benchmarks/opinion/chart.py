"""Run by a Python that has Helm's library and Kubernetes' schemas: lints the chart, renders it, and holds every object against its schema.

The chart's folder is the only argument; a sentence is printed for everything that is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import yaml
from helm_python import chart as helm

#: The chart's own values, then with everything that they leave out.
_VALUES: tuple[dict[str, Any], ...] = (
    {},
    {
        "githubApiUrl": "https://github.example.com/api/v3",
        "serviceMonitor": True,
        "ingress": {"enabled": True, "className": "nginx", "host": "preflight.example.com", "tlsSecretName": "tls"},
    },
)
#: Its schema comes with the Prometheus operator, not with Kubernetes.
_FOREIGN = frozenset({"PodMonitor"})
_ERROR = 3


def problems(folder: str) -> Iterator[str]:
    """What Helm's linter and the schemas say."""
    yield from (f"{found['path']}: {found['error']}" for found in helm.lint(folder)["messages"] if found["severity"] >= _ERROR)
    with helm.Chart.load(folder) as chart:
        for values in _VALUES:
            for name, text in chart.render(values=values, name="review").items():
                yield from (f"{name}: {problem}" for each in yaml.safe_load_all(text) if each for problem in _of_object(each))


def _of_object(value: dict[str, Any]) -> Iterator[str]:
    if value["kind"] in _FOREIGN:
        return
    try:
        kubernetes_validate.validate(value, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{value['kind']} {value['metadata']['name']}: {error.message}"


if __name__ == "__main__":
    found = list(problems(sys.argv[1]))
    print("\n".join(found) or "the chart renders, and every object is what Kubernetes takes")
    sys.exit(1 if found else 0)
