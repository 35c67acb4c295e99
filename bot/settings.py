"""What the server is told by its environment, checked in full before anything starts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.sources.shelf import shelf

PUBLIC_API = "https://api.github.com"

#: In pauses after a first failure.
_PATIENCE, _MOST_PATIENCE = 20, 600


class SettingsError(Exception):
    """The environment does not describe a server that can start; the message says what is missing or wrong."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds. The defaults are what GitHub asks for; tests hurry.

    ``write_interval`` between two content writes of one installation; ``short_wait`` a rate limit that is waited out in
    place, a longer one puts the job to sleep; ``retry`` before the first repetition, doubled each time; ``settle`` until a
    write whose answer was lost has surely happened or not: GitHub ends a request after ten seconds; ``catch_up`` between two
    looks for deliveries that failed; ``body_timeout`` for a delivery to arrive: GitHub gives up after as long.
    """

    write_interval: float = 1.0
    short_wait: float = 5.0
    retry: float = 1.0
    poll: float = 0.2
    request_timeout: float = 60.0
    enqueue_timeout: float = 4.0
    drain: float = 3.0
    settle: float = 10.0
    catch_up: float = 300.0
    body_timeout: float = 10.0

    def patience(self, before: int) -> float:
        """The pause of what must not be given up, after it failed ``before`` so many times and once more: twenty seconds, doubled up to ten minutes."""
        return self.retry * min(_PATIENCE * 2.0**before, _MOST_PATIENCE)


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What one analysis may use: ``seconds`` by the clock and of CPU, bytes of memory, of answer and of code, number of files."""

    seconds: float = 120.0
    memory_bytes: int = 4 << 30
    output_bytes: int = 32 << 20
    source_bytes: int = 96 << 20
    files: int = 12_000


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Everything ``preflight serve`` needs. Secrets do not appear in its representation. ``sources_dir`` holds model libraries' source."""

    app_id: int
    private_key: str = field(repr=False)
    webhook_secrets: tuple[bytes, ...] = field(repr=False)
    state_dir: Path
    api_url: str = PUBLIC_API
    web_url: str = "https://github.com"
    database_url: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    log_level: str = "INFO"
    sources_dir: Path = field(default_factory=shelf)
    worker_command: tuple[str, ...] = (sys.executable, "-I", "-m", "bot.worker.child")
    limits: WorkerLimits = WorkerLimits()
    pace: Pace = Pace()

    def __post_init__(self) -> None:
        if not self.webhook_secrets or not all(self.webhook_secrets):
            raise SettingsError("PREFLIGHT_WEBHOOK_SECRET must not be empty: anyone could sign a delivery with it")

    @property
    def storage_url(self) -> str:
        """Where jobs are kept: an SQLite file in the state folder unless a database is named."""
        return self.database_url or f"sqlite:///{(self.state_dir / 'jobs.sqlite').absolute()}"

    @property
    def ledger_url(self) -> str:
        """Where it is counted what became of findings."""
        return self._beside_jobs("findings")

    @property
    def inbox_url(self) -> str:
        """Where deliveries lie until they are jobs."""
        return self._beside_jobs("inbox")

    @property
    def graphql_url(self) -> str:
        """The GraphQL endpoint beside the REST API, of github.com and of an Enterprise Server alike."""
        return graphql_url(self.api_url)

    def _beside_jobs(self, name: str) -> str:
        """A file beside that of the jobs, since SQLite has one writer a file; in Postgres the same database."""
        url = self.storage_url
        return f"{url.removesuffix('.sqlite')}-{name}.sqlite" if url.startswith("sqlite:///") else url


@dataclass(frozen=True, slots=True)
class SetupSettings:
    """What the setup page needs: which GitHub, and where to listen."""

    api_url: str
    web_url: str
    host: str
    port: int

    @property
    def graphql_url(self) -> str:
        """The GraphQL endpoint beside the REST API."""
        return graphql_url(self.api_url)


def graphql_url(api_url: str) -> str:
    """The GraphQL endpoint beside the REST API ``api_url``, of github.com and of an Enterprise Server alike."""
    return f"{api_url.removesuffix('/v3')}/graphql"


def setup_settings(environ: Mapping[str, str], folder: Path) -> SetupSettings:
    """What ``environ`` and ``.env`` in ``folder`` say before there is an App. Raises SettingsError."""
    values = {**dotenv(folder / ".env"), **environ}
    api_url = _api_url(values)
    return SetupSettings(api_url, _web_url(values, api_url), values.get("PREFLIGHT_HOST") or "127.0.0.1", _number(values, "PREFLIGHT_PORT", 8080))


def from_environment(environ: Mapping[str, str], folder: Path) -> ServerSettings:
    """Settings from ``environ``, then from ``.env`` in ``folder``. Raises SettingsError, which names everything that is missing."""
    values = {**dotenv(folder / ".env"), **environ}
    missing = [name for name in ("PREFLIGHT_APP_ID", "PREFLIGHT_WEBHOOK_SECRET") if not values.get(name, "").strip()]
    if not values.get("PREFLIGHT_PRIVATE_KEY", "").strip() and not values.get("PREFLIGHT_PRIVATE_KEY_FILE", "").strip():
        missing.append("PREFLIGHT_PRIVATE_KEY or PREFLIGHT_PRIVATE_KEY_FILE")
    if missing:
        raise SettingsError(f"not set: {', '.join(missing)}. Set them in the environment or in a .env file here.")
    state_dir = Path(values.get("PREFLIGHT_STATE_DIR") or folder / ".preflight")
    api_url = _api_url(values)
    return ServerSettings(
        app_id=_number(values, "PREFLIGHT_APP_ID", 0),
        private_key=_private_key(values, folder),
        webhook_secrets=_secrets(values["PREFLIGHT_WEBHOOK_SECRET"]),
        state_dir=state_dir,
        api_url=api_url,
        web_url=_web_url(values, api_url),
        database_url=_database_url(values.get("PREFLIGHT_DATABASE_URL") or "", state_dir),
        host=values.get("PREFLIGHT_HOST") or "127.0.0.1",
        port=_number(values, "PREFLIGHT_PORT", 8080),
        log_level=_log_level(values.get("PREFLIGHT_LOG_LEVEL") or "INFO"),
        sources_dir=shelf(values),
    )


def dotenv(path: Path) -> dict[str, str]:
    r"""``NAME=value`` lines of ``path``, quotes removed, ``\n`` in double quotes turned into line ends; {} without the file."""
    if not path.is_file():
        return {}
    values = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        stripped = line.strip().removeprefix("export ")
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        if not equals:
            raise SettingsError(f"{path}:{number}: expected NAME=value")
        values[name.strip()] = _unquoted(value.strip())
    return values


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace("\\n", "\n")
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    return value


def _private_key(values: Mapping[str, str], folder: Path) -> str:
    text = values.get("PREFLIGHT_PRIVATE_KEY", "").strip().replace("\\n", "\n")
    if not text:
        path = folder / values["PREFLIGHT_PRIVATE_KEY_FILE"].strip()
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"PREFLIGHT_PRIVATE_KEY_FILE: {path} cannot be read: {error}") from error
    if "PRIVATE KEY-----" not in text:
        raise SettingsError("the private key is not in PEM form: it must begin with -----BEGIN … PRIVATE KEY-----")
    return text


def _secrets(text: str) -> tuple[bytes, ...]:
    secrets = tuple(part.strip().encode() for part in text.split(","))
    if not all(secrets):
        raise SettingsError("PREFLIGHT_WEBHOOK_SECRET holds an empty secret between its commas")
    return secrets


def _api_url(values: Mapping[str, str]) -> str:
    return _url("PREFLIGHT_GITHUB_API_URL", values.get("PREFLIGHT_GITHUB_API_URL") or PUBLIC_API)


def _web_url(values: Mapping[str, str], api_url: str) -> str:
    """Where people see what the API serves: on an Enterprise Server the same host, unless it is named."""
    named = values.get("PREFLIGHT_GITHUB_WEB_URL") or ""
    if named:
        return _url("PREFLIGHT_GITHUB_WEB_URL", named)
    parts = urlsplit(api_url)
    return "https://github.com" if api_url == PUBLIC_API else f"{parts.scheme}://{parts.netloc}"


def _url(name: str, text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsError(f"{name} is not an http(s) URL: {text}")
    return text.rstrip("/")


def _database_url(text: str, state_dir: Path) -> str:
    if not text:
        return f"sqlite:///{(state_dir / 'jobs.sqlite').absolute()}"
    if not text.startswith(("sqlite:///", "postgresql://")):
        raise SettingsError("PREFLIGHT_DATABASE_URL must begin with sqlite:/// or postgresql://")
    return text


def _number(values: Mapping[str, str], name: str, default: int) -> int:
    text = values.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise SettingsError(f"{name} must be a number, not {text!r}")
    return int(text)


def _log_level(text: str) -> str:
    level = text.upper()
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise SettingsError(f"PREFLIGHT_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR, not {text!r}")
    return level
