"""A tree whose first branch stays on the PE of its root and takes long: prints whether the other branch had to wait for that, and what objects got."""

import time

from charm4py import Array, Chare, Future, Group, charm


class Ready(Chare):
    def ready(self):
        pass


class Node(Chare):
    def __init__(self, depth, data, to):
        self.data, self.to = data, to
        me = self.thisIndex[0]
        began = time.time()
        if me == 1:
            for child in (2, 3):
                self.thisProxy.ckInsert(child, args=[depth - 1, data, to])
                # Objects may be told something before they are there.
                self.thisProxy[child].tell(child)
        elif me % 2 == 0 and depth > 0:
            self.thisProxy.ckInsert(2 * me, args=[depth - 1, data, to])
        if me % 2 == 0:
            time.sleep(0.25)
        to.send(("made", me, charm.myPe(), began, time.time()))

    def tell(self, value):
        self.to.send(("told", value, charm.myPe(), len(self.data), 0))


def main(args):
    Group(Ready).ready(awaitable=True).get()
    for data in ([1, 2, 3], bytes(1000)):
        to = Future(7)
        nodes = Array(Node, ndims=1)
        nodes.ckInsert(1, args=[3, data, to])
        nodes.ckDoneInserting()
        came = to.get()
        made = {it[1]: it[2:] for it in came if it[0] == "made"}
        print("PEs", [made[at][0] for at in sorted(made)], "told", sorted((it[1], it[3]) for it in came if it[0] == "told"))
        print("other branch waited", made[3][1] > made[2][2])
    charm.exit()


charm.start(main)
