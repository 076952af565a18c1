"""The factorial by divide and conquer: each range is an object, which makes two for its halves or multiplies what is small."""

import sys
import time

from charm4py import Array, Chare, Future, charm

from work import Counts, arguments, ran, report, sent, work


class Range(Chare):
    def __init__(self, low, high, grain, unit, to):
        ran("Range::__init__")
        self.low, self.high, self.grain, self.unit, self.to = low, high, grain, unit, to
        self.mine = self.thisIndex[0]
        self.missing, self.product = 2, 1
        self.thisProxy[self.mine].divide()
        sent("Range::divide")

    def divide(self):
        ran("Range::divide")
        if self.high - self.low < self.grain:
            work(self.high - self.low + 1, self.unit)
            product = 1
            for factor in range(self.low, self.high + 1):
                product *= factor
            self.tell(product)
            return
        middle = (self.low + self.high) // 2
        for at, (low, high) in enumerate(((self.low, middle), (middle + 1, self.high))):
            self.thisProxy.ckInsert(2 * self.mine + at, args=[low, high, self.grain, self.unit, self.to])
            sent("Range::__init__")

    def value(self, product):
        ran("Range::value")
        self.product *= product
        self.missing -= 1
        if self.missing == 0:
            self.tell(self.product)

    def tell(self, product):
        if self.mine == 1:
            self.to.send(product)
        else:
            self.thisProxy[self.mine // 2].value(product)
            sent("Range::value")


def main(args):
    to = Future()
    tree = Array(Range, ndims=1)
    begin = time.perf_counter()
    tree.ckInsert(1, args=[1, given.n, given.grain, given.unit, to])
    tree.ckDoneInserting()
    sent("Range::__init__")
    product = to.get()
    seconds = time.perf_counter() - begin
    report(given, seconds, "%d bits, %d modulo 2^61-1" % (product.bit_length(), product % (2**61 - 1)))
    charm.exit()


given = arguments("factorial.py", n=(4096, "of which number"), grain=(64, "numbers that one object multiplies"))
sys.argv = sys.argv[:1]
charm.start(main)
