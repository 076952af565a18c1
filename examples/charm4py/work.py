"""What the examples share: their arguments, work that is made by sleeping, and counts of what they do themselves."""

import argparse
import time
from collections import Counter

from charm4py import Chare, Future, Group, Reducer

counts = Counter()


def arguments(program, **sizes):
    """Arguments of a program: its sizes, each with what it is for and its default."""
    parser = argparse.ArgumentParser(prog=program)
    for name, (default, about) in sizes.items():
        parser.add_argument("--" + name, type=type(default), default=default, help="%s [%s]" % (about, default))
    parser.add_argument("--work", default="none", help="sleep:SECONDS makes a unit of work take so long; none: nothing [none]")
    parser.add_argument("--count", action="store_true", help="print how often each method ran and was called")
    given = parser.parse_args()
    kind, _, seconds = given.work.partition(":")
    if kind not in ("none", "sleep"):
        parser.error("--work is none or sleep:SECONDS")
    given.unit = float(seconds) if kind == "sleep" else 0.0
    return given


def work(units, unit):
    """So many units of work."""
    if units * unit > 0.0:
        time.sleep(units * unit)


def ran(method):
    counts["ran " + method] += 1


def sent(method, times=1):
    counts["sent " + method] += times


class Counts(Chare):
    """The counts of a PE."""

    def tell(self, to):
        self.contribute(dict(counts), Reducer.gather, to)


def report(given, seconds, checksum):
    """Prints what a run came to; called by a coroutine of PE 0."""
    if given.count:
        to = Future()
        Group(Counts).tell(to)
        total = Counter()
        for of_pe in to.get():
            total.update(of_pe)
        for what, times in sorted(total.items()):
            print(what, times)
    print("checksum", checksum)
    print("time %.6f s" % seconds)
