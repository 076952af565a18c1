"""Runs an example with and without its hints in turns, and prints how their times compare: python3 measure.py PES RUNS example.py ARGUMENTS…

The hints are those beside the program, or in the file that HINTS names. `partune` is in PATH or named by PARTUNE; charm4py belongs to the Python that runs this.
"""

import os
import random
import statistics
import subprocess
import sys

pes, runs, program, arguments = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
partune = os.environ.get("PARTUNE", "partune")
start = [sys.executable, "-m", "charmrun.start", "+p" + pes, program] + arguments
hints = os.environ.get("HINTS", os.path.splitext(program)[0] + ".toml")
hinted = [partune, "run", "--hints", hints, "--"] + start


def run(command):
    """Its time and its result."""
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith(("time ", "checksum "))}
    return float(lines["time"].split()[1]), lines["checksum"]


pairs = []
for turn in range(runs):
    # Who comes first changes, so that what grows with time is shared by both.
    order = (start, hinted) if turn % 2 == 0 else (hinted, start)
    (first, result), (second, other) = run(order[0]), run(order[1])
    assert result == other, (result, other)
    pairs.append((first, second) if turn % 2 == 0 else (second, first))
ratios = [plain / hinted for plain, hinted in pairs]
draw = random.Random(1)
means = sorted(statistics.median(draw.choices(ratios, k=runs)) for _ in range(2000))
print("saves %.3f s" % statistics.median(plain - hinted for plain, hinted in pairs))
print("without %.3f s, with %.3f s" % tuple(statistics.median(it) for it in zip(*pairs)))
print("ratio %.2f, 90 %% of resampled medians %.2f to %.2f" % (statistics.median(ratios), means[100], means[1899]))
