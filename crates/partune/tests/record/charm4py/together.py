"""Calls of one method that go together and calls of it that cannot."""

from charm4py import Array, Chare, Future, charm, coro

ROUNDS = 30


class Sink(Chare):
    def __init__(self):
        self.seen = []

    def value(self, of, value, more=0):
        self.seen.append((of, value))
        return value

    def all(self):
        return self.seen


class Source(Chare):
    @coro
    def send(self, to, broadcasts):
        me = self.thisIndex[0]
        for turn in range(ROUNDS):
            value = 10 * turn
            to[0].value(me, value, 0)
            to[0].value(me, value + 1, 0)
            to[0].value(me, value + 2)
            to[0].value(me, value + 3, 0)
            to[0].value(of=me, value=value + 4)
            to[0].value(me, value + 5, 0)
            assert to[0].value(me, value + 6, 0, ret=True).get() == value + 6
            to[0].value(me, value + 7, 0)
            # All objects have what was sent before.
            to.value(me, value + 8, 0, awaitable=True).get()
        # The program's own timers, more than one for each of what waits.
        for at in range(1, 150):
            to[at].value(me, at, 0)
        charm.sleep(0.01)

    def done(self, to):
        self.contribute(None, None, to)


def main(args):
    sinks, sources = Array(Sink, 200), Array(Source, 8)
    charm.awaitCreation(sinks, sources)
    sources.send(sinks, True, awaitable=True).get()
    charm.waitQD()
    order = sinks[0].all(ret=True).get()
    late = 0
    for me in range(8):
        mine = [value for of, value in order if of == me]
        late += sum(one > other for one, other in zip(mine, mine[1:]))
    print("overtaken", late)
    print("checksum", len(order))
    charm.exit()


charm.start(main)
