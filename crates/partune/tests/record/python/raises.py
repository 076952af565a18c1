# An exception that nobody catches, after the others are done: status and text are those of Python.
#
# expect 2 ranks
# expect status 1
# expect each: MPI_Barrier 2, collectives 2
from mpi4py import MPI

comm = MPI.COMM_WORLD
comm.Barrier()
comm.Barrier()
if comm.rank == 1:
    raise ValueError("boom")
