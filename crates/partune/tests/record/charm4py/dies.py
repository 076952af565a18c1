"""One process, which kills itself in the middle of a method."""

import os
import signal

from charm4py import Array, Chare, charm


class Step(Chare):
    def step(self, left):
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.thisProxy[0].step(left - 1)


def main(args):
    steps = Array(Step, 1)
    charm.awaitCreation(steps)
    steps[0].step(100)


charm.start(main)
