/* A thread that sleeps, and the two idle threads of a library: the argument, which is this file, compiled with LIBRARY. */
#include <pthread.h>

#ifdef LIBRARY

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void* serve(void* argument)
{
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&work, &mutex);
}

void start(void)
{
    pthread_t thread;
    for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, serve, NULL);
}

#else

#include <dlfcn.h>
#include <unistd.h>

static void* sleeps(void* argument)
{
    usleep(50000);
    return argument;
}

int main(int argc, char** argv)
{
    pthread_t thread;
    void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library) return 1;
    ((void (*)(void))dlsym(library, "start"))();
    pthread_create(&thread, NULL, sleeps, NULL);
    pthread_join(thread, NULL);
    return 0;
}

#endif
