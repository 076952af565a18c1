"""A collection of values: each object of an array works and sends a value to a single one, which adds them."""

import sys
import time

from charm4py import Array, Chare, Future, charm

from work import Counts, arguments, ran, report, sent, work


class Sum(Chare):
    def __init__(self, n, rounds, to):
        ran("Sum::__init__")
        self.n, self.rounds, self.to = n, rounds, to
        self.missing, self.sum, self.round = n, 0, 0

    def begin(self, values):
        ran("Sum::begin")
        self.values = values
        self.turn()

    def turn(self):
        self.missing = self.n
        self.values.work(self.thisProxy, self.round)
        sent("Value::work", self.n)

    def value(self, of, value):
        ran("Sum::value")
        self.sum += value
        self.missing -= 1
        if self.missing == 0:
            self.round += 1
            if self.round < self.rounds:
                self.turn()
            else:
                self.to.send(self.sum)


class Value(Chare):
    def __init__(self, unit):
        ran("Value::__init__")
        self.unit = unit

    def work(self, to, round):
        ran("Value::work")
        work(1, self.unit)
        mine = self.thisIndex[0]
        to.value(mine, (mine + 1) * (round + 1) % 1009)
        sent("Sum::value")


def main(args):
    to = Future()
    total = Chare(Sum, args=[given.n, given.rounds, to], onPE=0)
    values = Array(Value, given.n, args=[given.unit])
    charm.awaitCreation(total, values)
    begin = time.perf_counter()
    total.begin(values)
    sent("Sum::begin")
    result = to.get()
    seconds = time.perf_counter() - begin
    report(given, seconds, result)
    charm.exit()


given = arguments("collect.py", n=(512, "objects"), rounds=(4, "how often values are collected"))
sys.argv = sys.argv[:1]
charm.start(main)
