"""Gaussian elimination: each row of the matrix is an object, and a row that is done goes to all rows below it."""

import math
import random
import sys
import time

from charm4py import Array, Chare, Future, Reducer, charm

from work import Counts, arguments, ran, report, sent, work


class Row(Chare):
    def __init__(self, n, unit, to):
        ran("Row::__init__")
        self.n, self.unit, self.to = n, unit, to
        self.mine = self.thisIndex[0]
        values = random.Random(self.mine)
        self.row = [values.uniform(-1.0, 1.0) + (n if at == self.mine else 0.0) for at in range(n)]
        self.next = 0
        self.early = {}

    def start(self):
        ran("Row::start")
        self.done()

    def pivot(self, k, row):
        ran("Row::pivot")
        self.early[k] = row
        while self.next in self.early:
            self.eliminate(self.next, self.early.pop(self.next))
            self.next += 1
            if self.next == self.mine:
                self.done()

    def eliminate(self, k, row):
        work(self.n - k, self.unit)
        factor = self.row[k] / row[k]
        for at in range(k, self.n):
            self.row[at] -= factor * row[at]

    def done(self):
        for below in range(self.mine + 1, self.n):
            self.thisProxy[below].pivot(self.mine, self.row)
        sent("Row::pivot", self.n - 1 - self.mine)
        self.contribute(self.row[self.mine], Reducer.gather, self.to)


def main(args):
    to = Future()
    rows = Array(Row, given.n, args=[given.n, given.unit, to])
    charm.awaitCreation(rows)
    begin = time.perf_counter()
    rows[0].start()
    sent("Row::start")
    diagonal = to.get()
    seconds = time.perf_counter() - begin
    report(given, seconds, "%.12e" % math.fsum(math.log(abs(it)) for it in diagonal))
    charm.exit()


given = arguments("gauss.py", n=(32, "rows and columns"))
sys.argv = sys.argv[:1]
charm.start(main)
