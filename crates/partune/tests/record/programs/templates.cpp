// C++: calls of MPI in a template, a lambda and a destructor, with an exception between them.
//
// expect 2 ranks
// expect each: MPI_Allreduce 2, MPI_Sendrecv 1, MPI_Barrier 1, collectives 3, sends 1, sent 8, receives 1, received 8
#include <mpi.h>
#include <stdexcept>

namespace mesh {
struct Guard {
    ~Guard() { MPI_Barrier(MPI_COMM_WORLD); }
};

template <typename T> T sum(T value, MPI_Datatype type)
{
    T total {};
    MPI_Allreduce(&value, &total, 1, type, MPI_SUM, MPI_COMM_WORLD);
    return total;
}
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto swap = [rank](double x) {
        MPI_Sendrecv_replace(&x, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double y;
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, 1 - rank, 0, &y, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return y;
    };
    try {
        mesh::Guard guard;
        wrong |= mesh::sum(1, MPI_INT) != 2;
        wrong |= swap(rank) != 1 - rank;
        throw std::runtime_error("thrown through frames that call MPI");
    } catch (const std::runtime_error&) {
        wrong |= mesh::sum(0.5, MPI_DOUBLE) != 1.0;
    }
    MPI_Finalize();
    return wrong;
}
