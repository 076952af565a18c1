"""Rows of bench/kernels.sh, and what they say together."""

import json
import math
import shutil
import subprocess
import sys
import tempfile


def mca(program, pieces, turns):
    """Cycles of a turn as llvm-mca schedules the instructions of these pieces; none without it."""
    tool = next((it for it in ("llvm-mca-19", "llvm-mca") if shutil.which(it)), None)
    if tool is None:
        return None
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--start-address", pieces[0][0], "--stop-address", hex(int(pieces[-1][1], 16) + 15), program],
        capture_output=True, text=True, check=True).stdout
    lines = []
    for line in listing.splitlines():
        address, _, text = line.partition(":\t")
        try:
            inside = any(int(first, 16) <= int(address, 16) <= int(last, 16) for first, last in pieces)
        except ValueError:
            continue
        if inside and not text.startswith("data16"):
            name, _, rest = text.partition(" ")
            rest = rest.split("#")[0].split("<")[0].strip()
            # A jump by number is one to a label.
            lines.append("%s .Lx" % name if name.startswith("j") else "%s %s" % (name, rest))
    with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
        file.write(".Lx:\n" + "\n".join(lines) + "\n")
        file.flush()
        said = subprocess.run([tool, "-mcpu=native", "-iterations=1000", file.name], capture_output=True, text=True)
    cycles = [it.split(":")[1] for it in said.stdout.splitlines() if it.startswith("Total Cycles")]
    return int(cycles[0]) / 1000 / turns if cycles else None


def rows(name, program, bounds, measured):
    # Of all runs of a program the least of each: a quotient of one run is least where its cycle was measured too long.
    ticks, cycle = {}, math.inf
    for number, took, tick in (line.split() for line in open(measured)):
        ticks[int(number)] = min(float(took), ticks.get(int(number), math.inf))
        cycle = min(float(tick), cycle)
    loops = json.load(open(bounds))["loops"]
    for number, took in ticks.items():
        cycles = took / cycle
        of = [it for it in loops if it["place"]["function"] == "lfk%d" % number and it["M"] is not None and it["flops"] > 0]
        if not of:
            print("\t".join([name, str(number)] + ["-"] * 5 + ["%.3f" % cycles]))
            continue
        # The loop that does most turns at once is the one that runs; the others do the rest of them.
        running = max(of, key=lambda it: (it["turns"], it["flops"]))
        other = mca(program, running["pieces"], running["turns"])
        numbers = [running[it] for it in ("M", "MA", "MAC", "MACS")] + [other, cycles]
        star = "" if running["knows_turns"] else "*"
        print("\t".join([name, "%d%s" % (number, star)] + ["-" if it is None else "%.3f" % it for it in numbers]))


def together(table):
    print("%-16s %6s %8s %8s %8s %8s %8s %8s" % ("compiler", "kernel", "M", "MA", "MAC", "MACS", "llvm-mca", "cycles"))
    ordered = explained = theirs = count = compared = bounded = 0
    for line in open(table):
        name, number, *cells = line.rstrip("\n").split("\t")
        print("%-16s %6s" % (name, number) + "".join(" %8s" % it for it in cells))
        if cells[3] == "-":
            continue
        m, ma, mac, macs = map(float, cells[:4])
        cycles = float(cells[5])
        count += 1
        ordered += m <= ma <= mac <= macs
        if number.endswith("*"):
            continue
        compared += 1
        bounded += macs <= 1.02 * cycles
        explained += 0.8 * cycles <= macs <= 1.02 * cycles
        theirs += cells[4] != "-" and 0.8 * cycles <= float(cells[4]) <= 1.02 * cycles
    if compared < count:
        print("\n* not known how many turns of the source's loop one of the machine's is: bounds are of the latter")
    print("\n%d loops: M <= MA <= MAC <= MACS in %d. Of %d whose turns are known, MACS is at most 2 %% above what is measured in %d, and at least 80 %% of it besides in %d (llvm-mca %d)"
          % (count, ordered, compared, bounded, explained, theirs))


if __name__ == "__main__":
    if sys.argv[1] == "--sum":
        together(sys.argv[2])
    else:
        rows(*sys.argv[1:])
