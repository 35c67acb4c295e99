"""PyTorch's caching allocator, replayed: what is allocated and what stays reserved.

The rules are those of c10/cuda/CUDACachingAllocator.cpp with default settings and one stream: sizes are multiples of 512 bytes;
up to 1 MiB come from 2 MiB segments, up to 10 MiB from 20 MiB ones, larger ones from segments of their own in multiples of
2 MiB. The smallest free block that is large enough is taken, and split if more than 1 MiB remains (512 bytes in the small pool). Segments are never given back.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final

MIB: Final = 1 << 20
SMALL: Final = MIB
_SMALL_SEGMENT: Final = 2 * MIB
_MIDDLE: Final = 10 * MIB
_MIDDLE_SEGMENT: Final = 20 * MIB
_MULTIPLE: Final = 2 * MIB
_GRANULE: Final = 512


class _Block:
    """A stretch of a segment, with its neighbours."""

    __slots__ = ("address", "after", "before", "free", "size")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.before: _Block | None = None
        self.after: _Block | None = None
        self.free = True


class _Pool:
    """Free blocks in order of size, then address."""

    def __init__(self, *, small: bool) -> None:
        self.small = small
        self._keys: list[tuple[int, int]] = []
        self._blocks: dict[int, _Block] = {}

    def add(self, block: _Block) -> None:
        block.free = True
        insort(self._keys, (block.size, block.address))
        self._blocks[block.address] = block

    def remove(self, block: _Block) -> None:
        block.free = False
        self._keys.pop(bisect_left(self._keys, (block.size, block.address)))
        del self._blocks[block.address]

    def best(self, size: int) -> _Block | None:
        """The smallest block of at least ``size``."""
        at = bisect_left(self._keys, (size, -1))
        return self._blocks[self._keys[at][1]] if at < len(self._keys) else None

    def splits(self, rest: int) -> bool:
        """Whether ``rest`` bytes are worth a block of their own."""
        return rest >= _GRANULE if self.small else rest > SMALL


class CachingAllocator:
    """One device's memory. All sizes are in bytes."""

    def __init__(self) -> None:
        self._small = _Pool(small=True)
        self._large = _Pool(small=False)
        self._held: dict[int, tuple[_Block, _Pool]] = {}
        self._end = 0
        self.allocated = 0
        self.reserved = 0
        self.peak_allocated = 0
        self.peak_reserved = 0

    def allocate(self, key: int, size: int) -> int:
        """Give ``key`` at least ``size`` bytes; how many it got (what ``memory_allocated`` counts)."""
        size = max(_GRANULE, -(-size // _GRANULE) * _GRANULE)
        pool = self._small if size <= SMALL else self._large
        block = pool.best(size)
        if block is None:
            block = self._segment(size)
        else:
            pool.remove(block)
        rest = block.size - size
        if pool.splits(rest):
            tail = _Block(block.address + size, rest)
            tail.before, tail.after = block, block.after
            if block.after is not None:
                block.after.before = tail
            block.after, block.size = tail, size
            pool.add(tail)
        block.free = False
        self._held[key] = (block, pool)
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block.size

    def free(self, key: int) -> int:
        """Take back what ``key`` has, merged with free neighbours; how many bytes it was."""
        block, pool = self._held.pop(key)
        size = block.size
        self.allocated -= size
        for neighbour in (block.before, block.after):
            if neighbour is None or not neighbour.free:
                continue
            pool.remove(neighbour)
            if neighbour is block.before:
                block.address, block.before = neighbour.address, neighbour.before
                if block.before is not None:
                    block.before.after = block
            else:
                block.after = neighbour.after
                if block.after is not None:
                    block.after.before = block
            block.size += neighbour.size
        pool.add(block)
        return size

    def _segment(self, size: int) -> _Block:
        """A new segment for a block of ``size``."""
        if size <= SMALL:
            whole = _SMALL_SEGMENT
        elif size < _MIDDLE:
            whole = _MIDDLE_SEGMENT
        else:
            whole = -(-size // _MULTIPLE) * _MULTIPLE
        block = _Block(self._end, whole)
        block.free = False
        self._end += whole
        self.reserved += whole
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return block
