# CPU time of two functions, which it prints; a third one sleeps.
#
# expect 2 ranks
import time

from mpi4py import MPI


def spin(seconds):
    begin = time.thread_time()
    count = 0
    while time.thread_time() < begin + seconds:
        count += 1
    return time.thread_time() - begin


def first():
    return spin(0.03)


def second():
    return spin(0.01)


def rest():
    time.sleep(0.01)


comm = MPI.COMM_WORLD
used = [0, 0]
for _ in range(50):
    used[0] += first()
    used[1] += second()
    rest()
    comm.Barrier()
# By one of them, so that lines stay whole.
for rank, (one, other) in enumerate(comm.gather(used) or []):
    print(f"rank {rank} used {one} {other}")
