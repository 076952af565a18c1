/* The Livermore kernels 1 to 12 (F. H. McMahon, UCRL-53745, 1986), written anew. Where one turn needs the one before, a call needs the call before,
 * so that a core does not run two calls at once. */
enum { SIZE = 1024, N = 480, COLUMNS = 25, PLANE = 101 };

extern double x[SIZE], y[SIZE], z[SIZE], u[SIZE], v[SIZE], w[SIZE];
extern double b[64][64], px[128][COLUMNS], cx[128][COLUMNS];
extern double u1[2][PLANE][5], u2[2][PLANE][5], u3[2][PLANE][5], du1[PLANE], du2[PLANE], du3[PLANE];
extern double q, r, t;

/* Hydrodynamics. */
long lfk1(void)
{
    const double a = q, c = r, d = t;
    for (int k = 0; k < N; ++k)
        x[k] = a + y[k] * (c * z[k + 10] + d * z[k + 11]);
    return N;
}

/* Incomplete Cholesky and conjugate gradients. */
long lfk2(void)
{
    long count = 0;
    int left = N, next = 0;
    do {
        int first = next;
        next += left;
        left /= 2;
        int i = next - 1;
        for (int k = first + 1; k < next; k += 2) {
            ++i;
            x[i] = x[k] - v[k] * x[k - 1] - v[k + 1] * x[k + 1];
        }
        count += (next - first) / 2;
    } while (left > 0);
    return count;
}

/* Inner product. */
long lfk3(void)
{
    double sum = w[0];
    for (int k = 0; k < N; ++k)
        sum += z[k] * x[k];
    w[0] = sum;
    return N;
}

/* Banded linear equations. */
long lfk4(void)
{
    long count = 0;
    const int step = (1001 - 7) / 2;
    for (int k = 6; k < 1001; k += step) {
        int at = k - 6;
        double sum = x[k - 1];
        for (int j = 4; j < N; j += 5)
            sum -= x[at++] * y[j];
        x[k - 1] = y[4] * sum;
        count += (N - 4 + 4) / 5;
    }
    return count;
}

/* Tri-diagonal elimination below the diagonal. */
long lfk5(void)
{
    x[0] = x[N - 1];
    for (int i = 1; i < N; ++i)
        x[i] = z[i] * (y[i] - x[i - 1]);
    return N - 1;
}

/* General linear recurrence. */
long lfk6(void)
{
    long count = 0;
    for (int i = 1; i < 64; ++i) {
        double sum = 0.0100;
        for (int k = 0; k < i; ++k)
            sum += b[k][i] * w[i - k - 1];
        w[i] = sum;
        count += i;
    }
    return count;
}

/* Equation of state. */
long lfk7(void)
{
    const double a = q, c = r, d = t;
    for (int k = 0; k < N; ++k)
        x[k] = u[k] + c * (z[k] + c * y[k]) +
               d * (u[k + 3] + c * (u[k + 2] + c * u[k + 1]) + d * (u[k + 6] + a * (u[k + 5] + a * u[k + 4])));
    return N;
}

/* Alternating directions, implicit. */
long lfk8(void)
{
    const double a11 = 0.03, a12 = 0.02, a13 = 0.01, a21 = 0.01, a22 = 0.02, a23 = 0.03, a31 = 0.02, a32 = 0.01, a33 = 0.03, sig = 0.5;
    for (int kx = 1; kx < 3; ++kx)
        for (int ky = 1; ky < PLANE - 1; ++ky) {
            du1[ky] = u1[0][ky + 1][kx] - u1[0][ky - 1][kx];
            du2[ky] = u2[0][ky + 1][kx] - u2[0][ky - 1][kx];
            du3[ky] = u3[0][ky + 1][kx] - u3[0][ky - 1][kx];
            u1[1][ky][kx] = u1[0][ky][kx] + a11 * du1[ky] + a12 * du2[ky] + a13 * du3[ky] +
                            sig * (u1[0][ky][kx + 1] - 2.0 * u1[0][ky][kx] + u1[0][ky][kx - 1]);
            u2[1][ky][kx] = u2[0][ky][kx] + a21 * du1[ky] + a22 * du2[ky] + a23 * du3[ky] +
                            sig * (u2[0][ky][kx + 1] - 2.0 * u2[0][ky][kx] + u2[0][ky][kx - 1]);
            u3[1][ky][kx] = u3[0][ky][kx] + a31 * du1[ky] + a32 * du2[ky] + a33 * du3[ky] +
                            sig * (u3[0][ky][kx + 1] - 2.0 * u3[0][ky][kx] + u3[0][ky][kx - 1]);
        }
    return 2L * (PLANE - 2);
}

/* Integrate predictors. */
long lfk9(void)
{
    const double dm22 = 0.1, dm23 = 0.2, dm24 = 0.3, dm25 = 0.4, dm26 = 0.5, dm27 = 0.6, dm28 = 0.7, c0 = 0.8;
    for (int i = 0; i < 101; ++i)
        px[i][0] = dm28 * px[i][12] + dm27 * px[i][11] + dm26 * px[i][10] + dm25 * px[i][9] + dm24 * px[i][8] +
                   dm23 * px[i][7] + dm22 * px[i][6] + c0 * (px[i][4] + px[i][5]) + px[i][2];
    return 101;
}

/* Difference predictors. */
long lfk10(void)
{
    for (int i = 0; i < 60; ++i) {
        double ar = cx[i][4], br, cr;
        br = ar - px[i][4], px[i][4] = ar;
        cr = br - px[i][5], px[i][5] = br;
        ar = cr - px[i][6], px[i][6] = cr;
        br = ar - px[i][7], px[i][7] = ar;
        cr = br - px[i][8], px[i][8] = br;
        ar = cr - px[i][9], px[i][9] = cr;
        br = ar - px[i][10], px[i][10] = ar;
        cr = br - px[i][11], px[i][11] = br;
        px[i][13] = cr - px[i][12], px[i][12] = cr;
    }
    return 60;
}

/* First sum. */
long lfk11(void)
{
    x[0] = x[N - 1] + y[0];
    for (int k = 1; k < N; ++k)
        x[k] = x[k - 1] + y[k];
    return N - 1;
}

/* First difference. */
long lfk12(void)
{
    for (int k = 0; k < N; ++k)
        x[k] = y[k + 1] - y[k];
    return N;
}
