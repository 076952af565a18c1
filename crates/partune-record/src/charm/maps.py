"""Where hints put the objects of an array or of a tree. Part of partune, which has the same rules, and compares them in its tests."""

import itertools
import math
import sys


def factorisations(pes, rank):
    """All ways to write a number as a product of so many, in order."""
    if rank == 1:
        yield (pes,)
        return
    for first in range(1, pes + 1):
        if pes % first == 0:
            for rest in factorisations(pes // first, rank - 1):
                yield (first,) + rest


def block_grid(pes, extents, aspect):
    """PEs along each dimension with the fewest messages between them, where blocks are to have these proportions."""
    rates = [max(0.0, share) / max(1, extent) for share, extent in zip(aspect, extents)]
    best = None
    for grid in factorisations(pes, len(extents)):
        idle = pes - math.prod(min(p, max(1, n)) for p, n in zip(grid, extents))
        traffic = sum((p - 1) * rate for p, rate in zip(grid, rates))
        largest = math.prod(-(-max(1, n) // p) for p, n in zip(grid, extents))
        if best is not None and abs(traffic - best[1]) <= 1e-9 * abs(best[1]):
            traffic = best[1]
        key = (idle, traffic, largest)
        if best is None or key < best[:3]:
            best = key + (grid,)
    return best[3]


def grid_of(hint, rank, pes):
    """PEs along each dimension: all along one, or in the proportions that are nearest to these."""
    if "line" in hint:
        return [pes if dim == hint["line"] else 1 for dim in range(rank)]
    like = [math.log(it) for it in hint["like"]]
    share = (math.log(pes) - sum(like)) / rank
    best = None
    for grid in factorisations(pes, rank):
        off = sum((math.log(count) - its - share) ** 2 for count, its in zip(grid, like))
        if best is None or off < best[0] - 1e-9:
            best = (off, grid)
    return list(best[1])


def place(hint, extents, pes):
    """A function from coordinates to PEs; a text that says why there is none."""
    if "other" in hint:
        # It lies like another array, which some of its dimensions are.
        other, dims = hint["other"], hint["aligned"]["dims"]
        found = place(other, hint["extents"], pes)
        if isinstance(found, str):
            return found
        if len(dims) != len(extents) or any(it >= len(hint["extents"]) for it in dims):
            return "its dimensions are not those that the hint has"

        def like(at):
            there = [0] * len(hint["extents"])
            for dim, its in zip(dims, at):
                there[dim] = its
            return found(there)

        return like
    rank, rule = len(extents), hint["map"]
    if rule == "block":
        aspect = hint.get("aspect") or [1.0] * rank
        if len(aspect) != rank:
            return "it has %d dimensions, and the hint %d" % (rank, len(aspect))
        grid = block_grid(pes, extents, aspect)

        def along(dim, at):
            return min(max(at[dim], 0), extents[dim] - 1) * grid[dim] // max(1, extents[dim])

    elif rule == "table":
        if tuple(extents) != tuple(hint["extents"]) or pes != hint["pes"]:
            return "it is of %s objects on %d PEs" % (" x ".join(map(str, hint["extents"])), hint["pes"])

        def in_table(at):
            found = 0
            for dim in range(rank - 1, -1, -1):
                found = found * extents[dim] + at[dim]
            return hint["table"][found]

        return in_table
    else:
        diagonal, of = rule == "multipartition", hint["grid"]
        needed = 3 if diagonal else len(of["like"]) if "like" in of else of["line"] + 1
        if rank < needed or rank != needed and (diagonal or "like" in of):
            return "it has %d dimensions, and the hint %d" % (rank, needed)
        grid = grid_of(of, 2 if diagonal else rank, pes)
        size = list(hint["size"]) + [1] * (rank - len(hint["size"]))
        grid += [1] * (rank - len(grid))
        # None is as large as it can be with a block for each PE.
        size = [max(1, -(-n // p)) if edge is None else edge for edge, n, p in zip(size, extents, grid)]

        def along(dim, at):
            if diagonal:
                return (at[dim] - at[2]) // size[dim] % grid[dim] if dim < 2 else 0
            return at[dim] // size[dim] % grid[dim]

    def pe(at):
        found = 0
        for dim in range(rank - 1, -1, -1):
            found = found * grid[dim] + along(dim, at)
        return found

    return pe


def split(first, count, loads):
    """PEs shared out by loads, as partune_objects::tree::split does: at least one for each, and the rest by largest remainders; else several are on one."""
    loads = [max(0.0, it) for it in loads]
    if count < len(loads):
        return deal(first, count, loads)
    total = added(loads)
    fair = [(it / total if total > 0.0 else 1.0 / len(loads)) * count for it in loads]
    more, free = [max(0.0, it - 1.0) for it in fair], count - len(loads)
    total = max(added(more), sys.float_info.min)
    more = [it / total * free for it in more]
    whole = [int(max(0.0, it - 1e-9)) for it in more]
    sizes = [1 + it for it in whole]
    for child in sorted(range(len(loads)), key=lambda it: whole[it] - more[it])[: max(0, free - sum(whole))]:
        sizes[child] += 1
    return list(zip(itertools.accumulate([first] + sizes[:-1]), sizes))


def deal(first, count, loads):
    """One PE for each: the largest load first, to the PE that has least; the first one is on the first PE."""
    bins, chosen = [0.0] * max(1, count), [0] * len(loads)
    for child in sorted(range(len(loads)), key=lambda it: -loads[it]):
        chosen[child] = min(range(len(bins)), key=lambda it: bins[it])
        bins[chosen[child]] += loads[child]
    swapped = {chosen[0]: 0, 0: chosen[0]}
    return [(first + swapped.get(it, it), 1) for it in chosen]


def added(numbers):
    """In this order, without the corrections that sum() makes in newer Pythons."""
    total = 0.0
    for number in numbers:
        total += number
    return total
