"""Two arrays of one class: what comes first in each, and where trees of each grow. Prints what the objects of each note."""

from charm4py import Array, ArrayMap, Chare, Future, Group, charm


class Second(ArrayMap):
    def procNum(self, index):
        return 1


class Item(Chare):
    def note(self, which, to):
        to.send((which, self.thisIndex[0]))


class Filler(Chare):
    def fill(self, items, to):
        """Sends to all before any of it is processed."""
        for which, them in enumerate(items, 1):
            for at in range(4):
                them[at].note(which, to)


class Node(Chare):
    def __init__(self, which, children, to):
        me = self.thisIndex[0]
        to.send((which, me, charm.myPe()))
        for at, below in enumerate(children, 1):
            # A list, as charm4py takes it.
            self.thisProxy.ckInsert([10 * me + at], args=[which, below, to])


def main(args):
    where = Group(Second)
    items = [Array(Item, 4, map=where) for _ in range(2)]
    charm.awaitCreation(*items)
    to = Future(8)
    Chare(Filler, onPE=1).fill(items, to)
    print("noted", to.get())
    to = Future(20)
    trees = [Array(Node, ndims=1) for _ in range(2)]
    for which, tree in enumerate(trees, 1):
        for root in (1, 2):
            # Children that make nothing, and then some that make two.
            tree.ckInsert(root, args=[which, [[], [[], []]], to])
        tree.ckDoneInserting()
    for which, at, pe in sorted(to.get()):
        print("tree %d object %d PE %d" % (which, at, pe))
    charm.exit()


charm.start(main)
