/* Two threads that work alike, meet twenty times, and exclude each other, and take turns. */
int main(void)
{
    int turns = 0, ordered = 0;
#pragma omp parallel num_threads(2)
    for (int turn = 0; turn < 20; ++turn) {
        for (volatile int i = 0; i < 2000000; ++i) {}
#pragma omp barrier
#pragma omp critical
        ++turns;
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 8; ++i) {
#pragma omp ordered
            ++ordered;
        }
    }
    return turns != 40 || ordered != 160;
}
