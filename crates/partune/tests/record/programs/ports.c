/* A rank that starts two programs, which find each other through a port and talk without it.
 *
 * expect openmpi
 * expect 1 ranks
 * expect rank 0: MPI_Comm_spawn 2, sends 1, receives 1
 */
#include <mpi.h>
#include <string.h>

static void talk(MPI_Comm between, int is_server)
{
    int word = 0;
    if (is_server) MPI_Recv(&word, 1, MPI_INT, 0, 2, between, MPI_STATUS_IGNORE);
    else MPI_Send(&word, 1, MPI_INT, 0, 2, between);
    MPI_Barrier(between);
    MPI_Comm_disconnect(&between);
}

int main(int argc, char** argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm parent, children[2], between;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char* arguments[2][2] = { { "server", NULL }, { "client", NULL } };
        for (int i = 0; i < 2; ++i)
            MPI_Comm_spawn(argv[0], arguments[i], 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children[i], MPI_ERRCODES_IGNORE);
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, children[0], MPI_STATUS_IGNORE);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, children[1]);
        for (int i = 0; i < 2; ++i) MPI_Comm_disconnect(&children[i]);
    } else if (strcmp(argv[1], "server") == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, parent);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
        talk(between, 1);
        MPI_Close_port(port);
        MPI_Comm_disconnect(&parent);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
        talk(between, 0);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
