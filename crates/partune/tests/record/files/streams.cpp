// Files of C++ and what its library makes of them. The first part of names is the first argument.
//
// expect 2 ranks
#include <fstream>
#include <mpi.h>
#include <string>
#include <vector>

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string name = std::string(argv[1]) + "." + std::to_string(rank);
    std::vector<double> values(1000, 1.5), again(1000);
    {
        std::ofstream out(name, std::ios::binary);
        for (int i = 0; i < 50; i++) out.write(reinterpret_cast<char*>(values.data()), 8000);
    }
    std::ifstream in(name, std::ios::binary);
    for (int i = 0; i < 50; i++) {
        in.read(reinterpret_cast<char*>(again.data()), 8000);
        if (!in || again != values) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
