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
    long sum = 0, turns = 0, loop = 0;
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
            #pragma omp single
            {
                #pragma omp taskloop num_tasks(5) reduction(+ : loop)
                for (int i = 0; i < 100; ++i) loop += i;
                /* Unsigned, and with data that has a function to copy it where it is C++. */
                #pragma omp taskloop grainsize(10) shared(loop)
                for (unsigned long i = 0; i < 50; ++i) {
                    #pragma omp atomic
                    loop += (long)i;
                }
            }
        }
    }
    omp_destroy_lock(&lock);
    printf("%ld %ld %ld %d\n", sum, turns, loop, result);
    return 0;
}
