# Operations in functions of Python that other ones call: directly, from C, and in a generator.
#
# expect 2 ranks
# expect each: MPI_Barrier 7, <module>/MPI_Barrier 7, direct/MPI_Barrier 6, leaf/MPI_Barrier 6
# expect each: key/MPI_Barrier 2, through_c/MPI_Barrier 2, turns/MPI_Barrier 1, Turns.run/MPI_Barrier 1
# expect each: _PyEval_EvalFrameDefault/MPI_Barrier 0, _find_and_load/MPI_Init_thread 0
from mpi4py import MPI

comm = MPI.COMM_WORLD


def leaf():
    comm.Barrier()


def direct(times):
    for _ in range(times):
        leaf()


def key(number):
    direct(1)
    return number


def through_c():
    sorted([2, 1], key=key)


def turns():
    direct(1)
    yield 1


class Turns:
    def run(self):
        for _ in turns():
            pass


direct(3)
through_c()
Turns().run()
comm.Barrier()
