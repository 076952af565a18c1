# Tasks for the processes of a pool, which run them for the first one: `python -m mpi4py.futures`.
#
# expect 3 ranks
from mpi4py.futures import MPIPoolExecutor


def square(number):
    return number * number


if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        assert sum(executor.map(square, range(12))) == 506
