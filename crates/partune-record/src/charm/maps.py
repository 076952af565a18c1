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


def value(expression, P, n):
    """Of a checked expression."""
    names = {"P": P, "n": n, "min": min, "max": max, "sqrt": math.sqrt, "ceil": math.ceil, "floor": math.floor}
    return eval(expression, {"__builtins__": {}}, names)


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

    else:
        a, b = hint["a"], hint["b"]
        needed = 2 if rule == "multi_partition" else len(a)
        if rank < needed or (rule == "multi_partition" and rank != 3):
            return "it has %d dimensions, and the hint %d" % (rank, 3 if rule == "multi_partition" else needed)
        try:
            size = [max(1, math.ceil(value(it, pes, extents[dim]))) for dim, it in enumerate(a)]
            grid = [int(value(it, pes, extents[dim])) for dim, it in enumerate(b)]
        except (ArithmeticError, TypeError, ValueError) as error:
            return "its numbers cannot be computed: %s" % error
        # What is not said is what the PEs leave.
        size += [1] * (rank - len(size))
        grid += [max(1, pes // max(1, math.prod(grid)))] if len(grid) < needed else []
        grid += [1] * (rank - len(grid))
        if any(it < 1 for it in grid) or math.prod(grid) > pes:
            return "%s PEs do not make a grid of %s" % (pes, " x ".join(map(str, grid)))
        diagonal = rule == "multi_partition"

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
