/* Ten loops over arrays that their caller chose, so that they may lie in any cache: streams, and five of the Livermore kernels (F. H. McMahon, UCRL-53745, 1986). */
#define ARRAY double* restrict
#define GIVEN const double* restrict

enum { COLUMNS = 25 };

void scale(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)c, (void)d;
    for (long i = 0; i < n; ++i)
        a[i] = 3.0 * b[i];
}

void triad(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)d;
    for (long i = 0; i < n; ++i)
        a[i] = b[i] + 3.0 * c[i];
}

void daxpy(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)c, (void)d;
    for (long i = 0; i < n; ++i)
        a[i] += 1e-9 * b[i];
}

void stencil(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)c, (void)d;
    for (long i = 1; i < n - 1; ++i)
        a[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1];
}

/* Hydrodynamics. */
void lfk1(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)d;
    for (long i = 0; i < n - 11; ++i)
        a[i] = 0.05 + b[i] * (0.02 * c[i + 10] + 0.01 * c[i + 11]);
}

/* Inner product. */
void lfk3(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)d;
    double sum = 0.0;
    for (long i = 0; i < n; ++i)
        sum += b[i] * c[i];
    a[0] = sum;
}

/* Tri-diagonal elimination below the diagonal. */
void lfk5(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)d;
    for (long i = 1; i < n; ++i)
        a[i] = b[i] * (c[i] - a[i - 1]);
}

/* Equation of state. */
void lfk7(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    for (long i = 0; i < n - 6; ++i)
        a[i] = b[i] + 0.02 * (c[i] + 0.02 * d[i]) +
               0.01 * (b[i + 3] + 0.02 * (b[i + 2] + 0.02 * b[i + 1]) + 0.01 * (b[i + 6] + 0.05 * (b[i + 5] + 0.05 * b[i + 4])));
}

/* Integrate predictors: rows of one matrix. */
void lfk9(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)b, (void)c, (void)d;
    for (long i = 0; i < n; ++i) {
        double* row = a + COLUMNS * i;
        row[0] = 0.7 * row[12] + 0.6 * row[11] + 0.5 * row[10] + 0.4 * row[9] + 0.3 * row[8] + 0.2 * row[7] + 0.1 * row[6] +
                 0.8 * (row[4] + row[5]) + row[2];
    }
}

/* First difference. */
void lfk12(ARRAY a, GIVEN b, GIVEN c, GIVEN d, long n)
{
    (void)c, (void)d;
    for (long i = 0; i < n - 1; ++i)
        a[i] = b[i + 1] - b[i];
}
