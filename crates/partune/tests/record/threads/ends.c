/* Threads that end in all ways, and a program that ends while some of them wait. `ends WAY` */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int cleaned;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000L }, NULL);
}

static void clean(void* lock)
{
    ++cleaned;
    pthread_mutex_unlock(lock);
}

static void* returns(void* argument) { return argument; }
static void* exits(void* argument) { pthread_exit(argument); }

static void* waits_for_condition(void* argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, &mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return argument;
}

static void* waits_for_semaphore(void* argument)
{
    sem_wait(&semaphore);
    return argument;
}

static void* waits_for_thread(void* other)
{
    pthread_join(*(pthread_t*)other, NULL);
    return NULL;
}

static void* waits_for_lock(void* argument)
{
    pthread_mutex_lock(&held); /* STUCK */
    return argument;
}

static int check(int holds, int line)
{
    if (!holds) printf("line %d is wrong\n", line), exit(9);
    return 0;
}
#define CHECK(it) check(it, __LINE__)

static int locked;

/* It is cancelled before it waits for a lock, and looks for that only after it. */
static void* waits_late(void* argument)
{
    pthread_cancel(pthread_self());
    pthread_cleanup_push(clean, &mutex);
    pthread_mutex_lock(&mutex);
    ++locked;
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return argument;
}

/* Threads that return, exit, are cancelled in each kind of wait, and are detached. */
static void threads(void)
{
    pthread_t thread, other;
    void* result;
    int value;
    CHECK(pthread_create(&thread, NULL, returns, &value) == 0 && pthread_join(thread, &result) == 0 && result == &value);
    CHECK(pthread_create(&thread, NULL, exits, &value) == 0 && pthread_join(thread, &result) == 0 && result == &value);
    void* (*waits[])(void*) = { waits_for_condition, waits_for_semaphore };
    for (int i = 0; i < 2; ++i) {
        CHECK(pthread_create(&thread, NULL, waits[i], NULL) == 0);
        work(20);
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(cleaned == 1);
    CHECK(pthread_create(&other, NULL, waits_for_semaphore, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, waits_for_thread, &other) == 0);
    work(20);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(pthread_tryjoin_np(other, NULL) == EBUSY);
    sem_post(&semaphore);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, returns, NULL) == 0 && pthread_detach(thread) == 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, 1) == EINVAL);
    CHECK(pthread_attr_setstacksize(&attributes, 1UL << 46) == 0);
    CHECK(pthread_create(&thread, &attributes, returns, NULL) == EAGAIN);
    work(20);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_create(&thread, NULL, waits_late, NULL) == 0);
    work(20);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(locked == 1);
}

static pthread_mutex_t robust;

static void* leaves_locked(void* lock)
{
    pthread_mutex_lock(lock);
    return NULL;
}

static void* tries(void* lock)
{
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 20000000;
    soon.tv_sec += soon.tv_nsec / 1000000000;
    soon.tv_nsec %= 1000000000;
    return (void*)(size_t)pthread_mutex_timedlock(lock, &soon);
}

/* What the calls return for each kind of mutex. */
static void mutexes(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t lock;
    pthread_t thread;
    void* result;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    CHECK(pthread_create(&thread, NULL, leaves_locked, &robust) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0);
    CHECK(pthread_create(&thread, NULL, tries, &robust) == 0 && pthread_join(thread, &result) == 0);
    CHECK((size_t)result == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&robust) == 0 && pthread_mutex_lock(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
    CHECK(pthread_mutex_unlock(&robust) == EPERM);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);
    CHECK(pthread_mutex_unlock(&lock) == EPERM);
    CHECK(pthread_mutex_lock(&lock) == 0 && pthread_mutex_lock(&lock) == EDEADLK && pthread_mutex_unlock(&lock) == 0);
    CHECK(pthread_mutex_destroy(&lock) == 0);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    CHECK(pthread_mutex_lock(&lock) == 0 && pthread_mutex_lock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, tries, &lock) == 0);
    work(5);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    CHECK(pthread_join(thread, &result) == 0 && (size_t)result == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&lock) == 0 && pthread_mutex_unlock(&lock) == EPERM && pthread_mutex_destroy(&lock) == 0);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &attributes);
    CHECK(pthread_mutex_lock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, tries, &lock) == 0 && pthread_join(thread, &result) == 0 && (size_t)result == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&lock) == 0 && pthread_mutex_destroy(&lock) == 0);
    struct timespec past = { 0, 0 };
    errno = 77;
    CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    errno = 77;
    sem_post(&semaphore);
    CHECK(sem_wait(&semaphore) == 0 && errno == 77);
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void take(void) { pthread_mutex_lock(&guard); }
static void give(void) { pthread_mutex_unlock(&guard); }
static volatile int is_over;

static void* takes_and_gives(void* argument)
{
    while (!is_over) take(), give();
    return argument;
}

/* Children are made while threads wait for a lock that handlers of `fork` take and give back, in the child as well. */
static void forks(void)
{
    pthread_t threads[2];
    pthread_atfork(take, give, give);
    for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, takes_and_gives, NULL) == 0);
    for (int i = 0; i < 300; ++i) {
        int status = 1;
        pid_t child = fork();
        if (child == 0) take(), give(), _exit(0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    is_over = 1;
    for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void posts(int signal)
{
    (void)signal;
    sem_post(&semaphore);
}

static void* counts(void* argument)
{
    for (int i = 0; i < 2000;) i += sem_wait(&semaphore) == 0;
    is_over = 1;
    return argument;
}

/* A handler of a signal posts what a thread waits for, wherever it comes: in functions that give memory as well. */
static void signals(void)
{
    pthread_t thread;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    signal(SIGALRM, posts);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    CHECK(pthread_create(&thread, NULL, counts, NULL) == 0);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    ualarm(200, 200);
    for (size_t size = 2000; !is_over; size = 2000 + size * 7 % 60000) free(malloc(size));
    ualarm(0, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    /* And where no handler does. */
    while (sem_trywait(&semaphore) == 0) {}
    CHECK(pthread_create(&thread, NULL, waits_for_semaphore, NULL) == 0);
    work(50);
    sem_post(&semaphore); /* POST */
    CHECK(pthread_join(thread, NULL) == 0);
}

static int file_without_name(void)
{
    char name[] = "/tmp/partune-XXXXXX";
    int file = mkstemp(name);
    CHECK(file >= 0 && unlink(name) == 0);
    return file;
}

static int notes;
static volatile int noted;

static void note(int signal)
{
    int error = errno;
    noted += write(notes, "note\n", 5) == 5;
    errno = error;
}

/* A handler of a signal writes to a file, wherever it comes. */
static void writes(void)
{
    pthread_t thread;
    notes = file_without_name();
    signal(SIGALRM, note);
    ualarm(300, 300);
    for (size_t size = 2000; noted < 1000; size = 2000 + size * 7 % 60000) {
        CHECK(pthread_create(&thread, NULL, returns, NULL) == 0);
        free(malloc(size));
        CHECK(pthread_join(thread, NULL) == 0);
    }
    ualarm(0, 0);
    CHECK(lseek(notes, 0, SEEK_END) == 5 * noted);
}

/* All descriptors are closed, as daemons do, and files of the program get their numbers. */
static void closes(void)
{
    pthread_t thread;
    int files[40];
    char text[8];
    CHECK(pthread_create(&thread, NULL, returns, NULL) == 0 && pthread_join(thread, NULL) == 0);
    for (int i = 3; i < 4096; ++i) close(i);
    for (int i = 0; i < 40; ++i) {
        files[i] = file_without_name();
        CHECK(write(files[i], "own\n", 4) == 4);
    }
    CHECK(pthread_create(&thread, NULL, exits, NULL) == 0 && pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 40; ++i) CHECK(pread(files[i], text, 8, 0) == 4 && memcmp(text, "own\n", 4) == 0 && close(files[i]) == 0);
}

int main(int argc, char** argv)
{
    const char* way = argc > 1 ? argv[1] : "";
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    if (strcmp(way, "threads") == 0) return threads(), 0;
    if (strcmp(way, "mutexes") == 0) return mutexes(), 0;
    if (strcmp(way, "forks") == 0) return forks(), 0;
    if (strcmp(way, "signals") == 0) return signals(), 0;
    if (strcmp(way, "writes") == 0) return writes(), 0;
    if (strcmp(way, "closes") == 0) return closes(), 0;
    pthread_mutex_lock(&held);
    pthread_create(&thread, NULL, waits_for_lock, NULL);
    work(50);
    if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "exit") == 0) exit(7);
    if (strcmp(way, "at once") == 0) _exit(5);
    if (strcmp(way, "quick") == 0) quick_exit(6);
    if (strcmp(way, "exec") == 0) execl("/bin/true", "true", NULL);
    pid_t child = fork();
    if (child == 0) {
        /* The child has the lock, and nobody who waits for it. */
        pthread_barrier_t barrier;
        void* result;
        pthread_mutex_unlock(&held);
        pthread_mutex_lock(&held);
        pthread_mutex_unlock(&held);
        pthread_mutex_destroy(&held);
        pthread_barrier_init(&barrier, NULL, 1);
        pthread_barrier_wait(&barrier);
        pthread_barrier_destroy(&barrier);
        pthread_create(&thread, NULL, returns, &barrier);
        pthread_join(thread, &result);
        _exit(result != &barrier);
    }
    int status;
    waitpid(child, &status, 0);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
    return status;
}
