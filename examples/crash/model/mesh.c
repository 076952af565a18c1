/* The mesh of ../crash.c as tables for crash.pam: neighbours, contact, places, and the subdomains that it makes for so many threads.
 *
 *   gcc -O2 -fopenmp -o mesh mesh.c -lm && ./mesh 40 4
 */
#define main crash_main
#include "../crash.c"
#undef main

int main(int argc, char** argv)
{
    width = argc > 1 ? atoi(argv[1]) : 40;
    threads = argc > 2 ? atoi(argv[2]) : 4;
    make_mesh();
    FILE *rows = fopen("neighbours.txt", "w"), *flags = fopen("contact.txt", "w"), *owners = fopen("subdomains.txt", "w");
    FILE* places[2] = {fopen("x.txt", "w"), fopen("y.txt", "w")};
    if (!rows || !flags || !owners || !places[0] || !places[1]) return 1;
    struct decomposition it = decompose(all_work);
    int* owner = calloc((size_t)elements, sizeof *owner);
    for (int t = 0; t < threads; ++t)
        for (int i = it.first[t]; i < it.first[t + 1]; ++i) owner[it.element[i]] = t;
    for (int e = 0; e < elements; ++e) {
        for (int i = 0; i < DIRECTIONS; ++i)
            if (neighbour[e][i] >= 0) fprintf(rows, "%d ", neighbour[e][i]);
        fprintf(rows, "\n");
        fprintf(flags, "%d%c", near[e], e % 40 == 39 ? '\n' : ' ');
        fprintf(owners, "%d%c", owner[e], e % 40 == 39 ? '\n' : ' ');
        for (int axis = 0; axis < 2; ++axis) fprintf(places[axis], "%g%c", start[e][axis], e % 40 == 39 ? '\n' : ' ');
    }
    return fclose(rows) || fclose(flags) || fclose(owners) || fclose(places[0]) || fclose(places[1]);
}
