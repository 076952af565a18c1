/* Every construct of OpenMP that the runtime hears of, in teams of four. */
#include <omp.h>
#include <stdio.h>

static int fib(int n)
{
    int a, b;
    if (n < 2) return n;
    #pragma omp task shared(a)
    a = fib(n - 1);
    #pragma omp task shared(b) if(n > 5)
    b = fib(n - 2);
    #pragma omp taskwait
    return a + b;
}

int main(void)
{
    long sum = 0, turns = 0;
    int result = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int turn = 0; turn < 10; ++turn) {
        #pragma omp parallel num_threads(4)
        {
            #pragma omp for schedule(dynamic, 3) reduction(+ : sum)
            for (int i = 0; i < 100; ++i) sum += i;
            #pragma omp for ordered schedule(dynamic, 1)
            for (int i = 0; i < 8; ++i) {
                #pragma omp ordered
                turns += i;
            }
            #pragma omp sections
            {
                #pragma omp section
                sum += 1;
                #pragma omp section
                turns += 1;
            }
            #pragma omp critical
            ++sum;
            #pragma omp critical(named)
            ++turns;
            #pragma omp barrier
            omp_set_lock(&lock);
            ++sum;
            omp_unset_lock(&lock);
            #pragma omp single
            result = fib(8);
        }
    }
    omp_destroy_lock(&lock);
    printf("%ld %ld %d\n", sum, turns, result);
    return 0;
}
