# Messages of buffers, and of objects, which mpi4py probes for before it receives them.
#
# expect 2 ranks
# expect each: sends 7, receives 7, collectives 6
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
other = 1 - comm.rank


def buffers(times):
    here, there = bytearray(8), bytearray(8)
    for _ in range(times):
        comm.Sendrecv(here, dest=other, recvbuf=there, source=other)
    assert here == there


def objects(times):
    for _ in range(times):
        if comm.rank == 0:
            comm.send({"from": comm.rank}, dest=other)
            assert comm.recv(source=other) == {"from": other}
        else:
            assert comm.recv(source=other) == {"from": other}
            comm.send({"from": comm.rank}, dest=other)


buffers(3)
objects(4)
for _ in range(5):
    comm.Barrier()
total = array("i", [0])
comm.Allreduce(array("i", [comm.rank]), total)
assert total[0] == 1
