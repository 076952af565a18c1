"""Misses of ten traces as pycachesim counts them (version 0.3.1: pip install pycachesim), for `goldens.txt`.

    python goldens.py >goldens.txt

A line a trace: its name, how many accesses it has, accesses that one level of 1, 2, 4, … 1024 lines misses where a line may be anywhere, and the misses
of two levels of few ways (`SMALL`). The traces are made again by the same formulas in `traces.rs`. All accesses are of eight bytes, aligned; lines have 64.

All are loads here, whatever the trace says: a store that finds its line does not make it the one that was used last in that version (load 0, load 1,
store 0, load 2, load 0 misses four times in two lines), which is not what is asked for.
"""

import cachesim

MASK = (1 << 64) - 1
ARRAY = 1 << 20  # arrays begin at multiples of it, and 192 bytes more for each


def at(array, index):
    return array * (ARRAY + 192) + 8 * index


def random(state):
    """Knuth's generator: the state after it, and its upper 31 bits."""
    state = (state * 6364136223846793005 + 1442695040888963407) & MASK
    return state, state >> 33


def triad():
    for _ in range(2):
        for i in range(2000):
            yield at(0, i), False
            yield at(1, i), False
            yield at(2, i), True


def stride():
    for _ in range(3):
        for i in range(1500):
            yield at(0, 17 * i), False


def matrices():
    n = 20
    for i in range(n):
        for j in range(n):
            for k in range(n):
                yield at(0, i * n + k), False
                yield at(1, k * n + j), False
            yield at(2, i * n + j), True


def transposition():
    n = 72
    for i in range(n):
        for j in range(n):
            yield at(0, i * n + j), False
            yield at(1, j * n + i), True


def blocks():
    n, block = 24, 8
    for ii in range(0, n, block):
        for jj in range(0, n, block):
            for kk in range(0, n, block):
                for i in range(ii, ii + block):
                    for j in range(jj, jj + block):
                        for k in range(kk, kk + block):
                            yield at(0, i * n + k), False
                            yield at(1, k * n + j), False
                        yield at(2, i * n + j), True


def anywhere():
    state = 1
    for _ in range(12000):
        state, value = random(state)
        yield at(0, value % 8192), value >> 20 & 3 == 0


def stencil():
    rows, columns = 40, 50
    for turn in range(2):
        old, new = turn % 2, 1 - turn % 2
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                for di, dj in ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)):
                    yield at(old, (i + di) * columns + j + dj), False
                yield at(new, i * columns + j), True


def chase():
    node = 0
    for _ in range(3 * 700):
        yield at(0, 8 * node), False
        node = (node * 5 + 3) % 1024


def cyclic():
    for _ in range(20):
        for line in range(257):
            yield at(0, 8 * line), False


def interleaved():
    state = 7
    for i in range(5000):
        yield at(0, i), True
        state, value = random(state)
        yield at(1, value % 1000), False


TRACES = [triad, stride, matrices, transposition, blocks, anywhere, stencil, chase, cyclic, interleaved]
CAPACITIES = [1 << power for power in range(11)]
SMALL = ((16, 4), (32, 8))  # sets and ways


def run(trace, first):
    for address, _ in trace:
        first.load(address, length=8)


def anyplace(trace, lines):
    memory = cachesim.MainMemory()
    level = cachesim.Cache("L1", 1, lines, 64, "LRU")
    memory.load_to(level)
    memory.store_from(level)
    simulator = cachesim.CacheSimulator(level, memory)
    run(trace, simulator)
    return level.stats()["MISS_count"]


def levels(trace):
    (sets, ways), (more_sets, more_ways) = SMALL
    memory = cachesim.MainMemory()
    second = cachesim.Cache("L2", more_sets, more_ways, 64, "LRU")
    memory.load_to(second)
    memory.store_from(second)
    first = cachesim.Cache("L1", sets, ways, 64, "LRU", store_to=second, load_from=second)
    simulator = cachesim.CacheSimulator(first, memory)
    run(trace, simulator)
    return first.stats()["MISS_count"], second.stats()["MISS_count"]


if __name__ == "__main__":
    for trace in TRACES:
        accesses = sum(1 for _ in trace())
        misses = [anyplace(trace(), lines) for lines in CAPACITIES]
        print(trace.__name__, accesses, *misses, *levels(trace()))
