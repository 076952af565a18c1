/* A program that uses of MPI what there is.
 *
 * expect 2 ranks
 * expect library symbols_part.c
 * expect each: MPI_Init 1, MPI_Barrier 2, collectives 2, MPI_Finalize 1
 */
int run(int times);

int main(void) { return run(2); }
