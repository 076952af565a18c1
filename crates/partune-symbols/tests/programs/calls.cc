/* A function that calls one of another file: a stub with a name that tells its arguments. */
namespace mesh {
void smooth(double *cells, int count);

void relax(double *cells, int count) {
    smooth(cells, count);
    cells[0] = 0;
}
}
