//! expect 2 ranks
/* Each process reads a file that all read, appends to one of its own, and writes into one of all by MPI; the first writes a log besides. They meet in each turn. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void read_input(FILE *stream, int file, char *bytes) {
    if (fread(bytes, 1, 300, stream) != 300) rewind(stream);
    if (read(file, bytes, 512) < 512) lseek(file, 0, SEEK_SET);
}

static void write_output(int file, int log, const char *bytes, int turn) {
    if (write(file, bytes, 64 + turn % 3) < 0) abort();
    if (turn % 4 == 0) fsync(file);
    for (int i = 0; log >= 0 && i < 5; i++) {
        if (write(log, bytes, 100) < 0) abort();
    }
}

static void sum(int turn) {
    int all;
    MPI_Allreduce(&turn, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    char bytes[4096] = {0}, names[4][4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(names[0], sizeof names[0], "%s.input", argv[1]);
    snprintf(names[1], sizeof names[1], "%s.output.%d", argv[1], rank);
    snprintf(names[2], sizeof names[2], "%s.log", argv[1]);
    snprintf(names[3], sizeof names[3], "%s.together", argv[1]);
    if (rank == 0) {
        FILE *made = fopen(names[0], "w");
        for (int i = 0; i < 4; i++) fwrite(bytes, 1, sizeof bytes, made);
        fclose(made);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *stream = fopen(names[0], "r");
    int input = open(names[0], O_RDONLY);
    int output = open(names[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
    int log = rank == 0 ? open(names[2], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    for (int turn = 0; turn < 50; turn++) {
        read_input(stream, input, bytes);
        write_output(output, log, bytes, turn);
        sum(turn);
    }
    MPI_File together;
    MPI_File_open(MPI_COMM_WORLD, names[3], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &together);
    for (int turn = 0; turn < 5; turn++) {
        MPI_Request request;
        MPI_File_iwrite_at(together, (turn * 2 + rank) * 64, bytes, 64, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum(turn);
    }
    MPI_File_close(&together);
    fclose(stream);
    close(input);
    close(output);
    if (log >= 0) close(log);
    MPI_Finalize();
    return 0;
}
