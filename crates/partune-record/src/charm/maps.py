"""Where hints put the objects of an array or of a tree. Part of partune, which has the same rules, and compares them in its tests."""

import itertools
import math


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


def shares(first, count, ratios):
    """A span of PEs shared out to children: at least one for each, if there are as many; else several children are on one."""
    children = len(ratios)
    if count < children:
        loads, spans = [0.0] * count, [None] * children
        for child in sorted(range(children), key=lambda it: -ratios[it]):
            pe = min(range(count), key=lambda it: loads[it])
            loads[pe] += ratios[child]
            spans[child] = (first + pe, 1)
        return spans
    total, free = sum(ratios), count - children
    exact = [it / total * free for it in ratios]
    sizes = [1 + int(it) for it in exact]
    for child in sorted(range(children), key=lambda it: int(exact[it]) - exact[it])[: count - sum(sizes)]:
        sizes[child] += 1
    begins = itertools.accumulate([first] + sizes[:-1])
    return list(zip(begins, sizes))
