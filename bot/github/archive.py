"""A whole commit in one request: the archive is read as a stream and only wanted files are kept; none is unpacked to disk."""

from __future__ import annotations

import asyncio
import gzip
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from typing import IO

from bot.github.cache import BlobCache
from bot.github.client import Client
from bot.github.errors import GitHubError

_MAX_PACKED_BYTES = 512 << 20
_MAX_UNPACKED_BYTES = 2 << 30
_MAX_MEMBERS = 200_000
_CHUNK_BYTES = 1 << 16

Wanted = Callable[[str, int], bool]


class ArchiveError(GitHubError):
    """The archive is larger than we read, or is not one."""


async def keep_archive(client: Client, commit: str, cache: BlobCache, wanted: Wanted) -> int:
    """Put the files of ``commit`` for which ``wanted(path, size)`` holds into ``cache``; gives how many.

    They are named by their content, so a file that ``export-subst`` changed on the way simply does not match the tree.
    """
    with tempfile.TemporaryFile() as packed:
        async with client.stream(f"{{repo}}/tarball/{commit}") as response:
            async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                packed.write(chunk)
                if packed.tell() > _MAX_PACKED_BYTES:
                    raise ArchiveError(f"the archive is larger than {_MAX_PACKED_BYTES >> 20} MiB")
        packed.seek(0)
        return await asyncio.to_thread(_keep, packed, cache, wanted)


def _keep(packed: IO[bytes], cache: BlobCache, wanted: Wanted) -> int:
    kept = 0
    try:
        with _Limited(packed) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for number, member in enumerate(archive):
                if number > _MAX_MEMBERS:
                    raise ArchiveError(f"the archive has more than {_MAX_MEMBERS:,} members")
                _, _, path = member.name.partition("/")
                content = archive.extractfile(member) if member.isreg() and wanted(path, member.size) else None
                if content is not None:
                    cache.put(content.read())
                    kept += 1
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ArchiveError(f"the archive cannot be read: {error}") from error
    return kept


class _Limited(gzip.GzipFile):
    """Unpacks no more than a limit: a small archive may unpack to a very large one."""

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._left = _MAX_UNPACKED_BYTES

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(f"the archive unpacks to more than {_MAX_UNPACKED_BYTES >> 30} GiB")
        return data
