"""The spatial hash of all broad phases: cells of a grid without bounds, found through a table of buckets.

A cell has three whole numbers. Its bucket is a hash of them; other cells may share the bucket, so a search compares
cells. The entries of all buckets stand one after the other in one array, in which `begin[b] : begin[b + 1]` are those
of bucket b: they are counted first, `accumulate` makes ends of the counts, and each entry then takes the place before
the end of its bucket. Entries that are put in from the last to the first thus come out ascending.
"""

from __future__ import annotations

from ..compiled import compiled, inline


def table_size(count: int) -> int:
    """Number of buckets for `count` entries: a power of two, at least twice as many."""
    return 1 << max(4, int(2 * count).bit_length())


@inline
def bucket_of(i, j, k, table):
    """The bucket of a cell; `table` is a power of two."""
    mixed = (i * 73856093 ^ j * 19349663 ^ k * 83492791) & 0x7FFFFFFF
    return (mixed ^ (mixed >> 13)) & (table - 1)


@compiled
def accumulate(begin):
    """From the number of entries of each bucket to where each bucket ends; the last entry is the number of all."""
    for b in range(1, begin.shape[0]):
        begin[b] += begin[b - 1]


@compiled
def sort_by_second(pairs, begin, end):
    """Shell's sort of pairs[begin:end] by their second number: a plain insertion sort for the usual dozen."""
    gap = 1
    while 9 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, end):
            j = pairs[k, 1]
            m = k
            while m >= begin + gap and pairs[m - gap, 1] > j:
                pairs[m, 1] = pairs[m - gap, 1]
                m -= gap
            pairs[m, 1] = j
        gap //= 3
