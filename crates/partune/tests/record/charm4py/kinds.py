"""Everything that is told apart: coroutines that wait, broadcasts, sections, objects that move, a channel, conditions, single objects."""

from collections import Counter

from charm4py import Array, Chare, Channel, Future, Group, Reducer, charm, coro, when

counts = Counter()


class Tells(Chare):
    def tell(self, to):
        self.contribute(dict(counts), Reducer.gather, to)


class Cell(Chare):
    def __init__(self):
        counts["Cell::__init__"] += 1
        self.turn = 0

    def ask(self, to):
        counts["Cell::ask"] += 1
        to.send(self.thisIndex[0])

    @coro
    def waits(self, to):
        counts["Cell::waits"] += 1
        back = Future()
        self.thisProxy[(self.thisIndex[0] + 1) % 6].ask(back)
        back.get()
        # It went on.
        counts["Cell::waits"] += 1
        self.contribute(1, Reducer.sum, to)

    def move(self, to):
        counts["Cell::move"] += 1
        self.to = to
        self.migrate((charm.myPe() + 1) % charm.numPes())

    def migrated(self):
        counts["Cell::migrated"] += 1
        self.contribute(1, Reducer.sum, self.to)

    @when("self.turn == turn")
    def in_turn(self, turn, to):
        counts["Cell::in_turn"] += 1
        self.turn += 1
        if self.turn == 3:
            to.send(self.turn)

    @coro
    def talk(self, to):
        other = 1 - self.thisIndex[0]
        channel = Channel(self, remote=self.thisProxy[other])
        channel.send(self.thisIndex[0])
        to.send(channel.recv())


class Worker(Chare):
    def __init__(self, number):
        counts["Worker::__init__"] += 1
        self.number = number

    def number_of(self, to):
        counts["Worker::number_of"] += 1
        to.send(self.number)


def main(args):
    cells, more = Array(Cell, 6), Array(Cell, (2, 2))
    alone = [Chare(Worker, args=[number], onPE=number % charm.numPes()) for number in range(3)]
    tells = Group(Tells)
    charm.awaitCreation(cells, more, tells, *alone)
    to = Future()
    cells.waits(to)
    to.get()
    to = Future()
    cells.move(to)
    to.get()
    to = Future(3)
    for one in alone:
        one.number_of(to)
    to.get()
    to = Future()
    for turn in (2, 1, 0):
        more[1, 1].in_turn(turn, to)
    to.get()
    assert cells.ask(Future(6), ret=True).get() == [None] * 6
    to = Future(2)
    for at in (0, 1):
        cells[at].talk(to)
    to.get()
    to = Future()
    tells.tell(to)
    total = Counter()
    for of_pe in to.get():
        total.update(of_pe)
    for what, times in sorted(total.items()):
        print("ran", what, times)
    charm.exit()


charm.start(main)
