"""PE 0 has nothing to do until an object on PE 1 has slept. Prints how long that slept, and how long PE 0 waited at most."""

import time

from charm4py import Chare, Future, Group, Reducer, charm


class Sleeper(Chare):
    def sleep(self, to):
        begin = time.perf_counter()
        time.sleep(0.4)
        to.send(time.perf_counter() - begin)

    def here(self, to):
        self.contribute(charm.myPe(), Reducer.sum, to)

    def late(self, to):
        if charm.myPe() == 1:
            time.sleep(0.3)
        self.contribute(charm.myPe(), Reducer.sum, to)


def main(args):
    sleepers = Group(Sleeper)
    charm.awaitCreation(sleepers)
    here = Future()
    sleepers.here(here)
    here.get()
    begin, to = time.perf_counter(), Future()
    sleepers[1].sleep(to)
    print("slept", to.get())
    print("waited", time.perf_counter() - begin)
    begin, to = time.perf_counter(), Future()
    sleepers.late(to)
    print("sum", to.get())
    print("reduced", time.perf_counter() - begin)
    charm.exit()


charm.start(main)
