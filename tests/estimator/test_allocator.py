from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from estimator.allocator import MIB, CachingAllocator


def _reserved(*sizes: int) -> int:
    allocator = CachingAllocator()
    for key, size in enumerate(sizes):
        allocator.allocate(key, size)
    return allocator.reserved


def test_segments_by_size():
    assert _reserved(1) == 2 * MIB
    assert _reserved(MIB) == 2 * MIB
    assert _reserved(MIB + 1) == 20 * MIB
    assert _reserved(10 * MIB - 512) == 20 * MIB
    assert _reserved(10 * MIB) == 10 * MIB
    assert _reserved(11 * MIB + 1) == 12 * MIB


def test_small_blocks_share_a_segment():
    assert _reserved(*[512] * 4096) == 2 * MIB
    assert _reserved(*[512] * 4097) == 4 * MIB


def test_what_is_left_of_a_large_block_is_split_off_only_above_a_mebibyte():
    allocator = CachingAllocator()
    assert allocator.allocate(1, 11 * MIB + 512) == 12 * MIB  # 1 MiB less 512 bytes too few to split
    assert allocator.allocated == 12 * MIB
    assert allocator.allocate(2, 4 * MIB) == 4 * MIB


def test_the_smallest_free_block_is_taken():
    allocator = CachingAllocator()
    for key, size in enumerate((32 * MIB, 64 * MIB, 16 * MIB)):
        allocator.allocate(key, size)
    for key in range(3):
        allocator.free(key)
    assert allocator.allocate(3, 20 * MIB) == 20 * MIB
    assert allocator.allocate(4, 64 * MIB) == 64 * MIB
    assert allocator.reserved == 112 * MIB


def test_neighbours_merge_when_they_are_free():
    allocator = CachingAllocator()
    for key in range(4):
        allocator.allocate(key, 5 * MIB)
    assert allocator.reserved == 20 * MIB
    for key in (0, 2, 1, 3):
        allocator.free(key)
    assert allocator.allocate(9, 9 * MIB + 512) == 9 * MIB + 512
    assert allocator.reserved == 20 * MIB


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40 * MIB)), max_size=60))
def test_books_balance(actions):
    allocator, held, key = CachingAllocator(), {}, 0
    for take, size in actions:
        if take or not held:
            got = allocator.allocate(key, size)
            assert size <= got <= size + 2 * MIB
            held[key] = got
            key += 1
        else:
            oldest = next(iter(held))
            assert allocator.free(oldest) == held.pop(oldest)
        assert allocator.allocated == sum(held.values()) <= allocator.reserved
    assert allocator.peak_allocated <= allocator.peak_reserved
