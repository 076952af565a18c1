/* A process that has one thread and several in turn. It says how long its main thread works alone before others are created, and after the
   last have ended. `alone [balanced]`: never alone */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define OTHERS 4

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

static void* take_part(void* argument)
{
    work(200);
    return argument;
}

static void together(int with_main)
{
    pthread_t threads[OTHERS];
    for (int i = 0; i < OTHERS; ++i) pthread_create(&threads[i], NULL, take_part, NULL); /* CREATE */
    if (with_main) take_part(NULL);
    for (int i = 0; i < OTHERS; ++i) pthread_join(threads[i], NULL); /* JOIN */
}

static double alone(long milliseconds)
{
    double begin = now();
    work(milliseconds);
    return now() - begin;
}

int main(int argc, char** argv)
{
    int balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    if (balanced) {
        together(1);
        together(1);
        return 0;
    }
    double seconds[3];
    seconds[0] = alone(300);
    together(0);
    seconds[1] = alone(150);
    together(0);
    seconds[2] = alone(100);
    printf("before %f after %f\n", seconds[0] + seconds[1], seconds[2]);
    return 0;
}
