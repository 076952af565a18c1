/* A worker that holds back a signal which the program handles, as the workers of compressors do, signals a condition ten times. Prints how long the main
   thread waited. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static int turns;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void handler(int signal) { (void)signal; }

static void *worker(void *nothing) {
    for (int i = 0; i < 10; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        pthread_mutex_lock(&mutex);
        turns++;
        pthread_cond_signal(&came);
        pthread_mutex_unlock(&mutex);
    }
    return nothing;
}

int main(void) {
    signal(SIGTERM, handler);
    sigset_t all, before;
    sigfillset(&all);
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    double waited = 0;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        while (turns <= i) {
            double begin = now();
            pthread_cond_wait(&came, &mutex); /* waits */
            waited += now() - begin;
        }
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    printf("waited %.4f\n", waited);
    return 0;
}
