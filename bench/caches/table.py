"""Rows of bench/caches.sh, and what they say together."""

import json
import math
import subprocess
import sys


def sizes(machine):
    """KiB of data that lie in each level from the second on, as far from the one before as from the end of it, and in memory."""
    levels = [it["bytes"] for it in json.load(open(machine))["caches"]["level"]]
    inside = [math.sqrt(before * level) for before, level in zip(levels, levels[1:])]
    return [int(size) // 1024 for size in inside + [4 * levels[-1]]]


def rows(name, partune, program, machine, measured):
    # Of all runs of a program the least of each.
    ticks, cycle = {}, math.inf
    for line in open(measured):
        loop, size, turns, took, tick = line.split()
        ticks[loop, size, turns] = min(float(took), ticks.get((loop, size, turns), math.inf))
        cycle = min(float(tick), cycle)
    for (loop, size, turns), took in ticks.items():
        said = subprocess.run(
            [partune, "kernel", program, "--function", loop, "--elements", turns, "--machine", machine, "--json"],
            capture_output=True, text=True, check=True).stdout
        # The loop that does most turns at once is the one that runs; the others do the rest of them.
        it = max((it for it in json.loads(said)["loops"] if it["MACS"] is not None), key=lambda it: (it["turns"], it["flops"]))
        print("\t".join([name, loop, size, "%.3f" % it["MACS"], "-" if it["I"] is None else "%.3f" % it["I"], "%.3f" % (took / cycle)]))


def together(table):
    print("%-14s %-8s %8s %8s %8s %8s %8s %10s" % ("compiler", "loop", "KiB", "MACS", "I", "cycles", "$", "measured $"))
    counts = {}
    for line in open(table):
        name, loop, size, *cells = line.rstrip("\n").split("\t")
        if cells[1] == "-":
            print("%-14s %-8s %8s %8s   its accesses cannot be followed" % (name, loop, size, cells[0]))
            continue
        macs, bound, cycles = map(float, cells)
        predicted, gap = bound - macs, cycles - macs
        # What a gap of nothing is, is not known better than MACS is.
        is_near = abs(predicted - gap) <= 0.2 * abs(gap)
        is_small = abs(predicted - gap) <= 0.05 * cycles
        count = counts.setdefault((name, int(size)), [0, 0, 0])
        count[0] += 1
        count[1] += is_near
        count[2] += is_near or is_small
        print("%-14s %-8s %8s %8s %8s %8s %8.3f %10.3f%s" % (name, loop, size, *cells, predicted, gap, "" if is_near or is_small else "  *"))
    print("\nThe predicted $ is within 20 % of the measured one, or else within 5 % of all cycles, but for those with a star:")
    for (name, size), (count, near, small) in counts.items():
        print("%-14s %8d KiB: %d and %d of %d loops" % (name, size, near, small - near, count))


if __name__ == "__main__":
    if sys.argv[1] == "--sizes":
        print(*sizes(sys.argv[2]))
    elif sys.argv[1] == "--sum":
        together(sys.argv[2])
    else:
        rows(*sys.argv[1:])
