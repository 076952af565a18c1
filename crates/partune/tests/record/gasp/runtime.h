/* A small runtime that tells a tool what a program does, as UPC's runtimes do: by GASP 1.5, in either of the two numberings of events. Threads are
 * processes, which share memory and have a block of it each. */
#include <stddef.h>
#include <stdint.h>

extern int MYTHREAD, THREADS;

/* As Clang UPC and GNU UPC pack it: where, whose, and a position in a block. */
typedef uint64_t shared_pointer;
typedef struct lock *lock_pointer;

shared_pointer shared_at(int thread, size_t offset);
/* What a thread reads of another one's memory. */
long *shared_value(shared_pointer at);

void program(int argc, char **argv);

/* Tells of a begin, an end or both: by the numbers of GNU UPC and of Berkeley UPC, of which the first or the second counts. */
enum { START, END, ATOMIC };
void tell(unsigned gnu, unsigned berkeley, int kind, const char *file, int line, ...);
unsigned create_event(const char *name, const char *description);
int control(int on);

/* Where threads meet for an operation of which others tell. */
void meet(void);
void rt_barrier(const char *file, int line);
void rt_notify(const char *file, int line);
void rt_wait(const char *file, int line);
void rt_lock(int lock, const char *file, int line);
void rt_unlock(int lock, const char *file, int line);
void rt_put(shared_pointer to, long value, const char *file, int line);
long rt_get(shared_pointer from, const char *file, int line);

#define BARRIER() rt_barrier(__FILE__, __LINE__)
#define NOTIFY() rt_notify(__FILE__, __LINE__)
#define WAIT() rt_wait(__FILE__, __LINE__)
#define LOCK(lock) rt_lock(lock, __FILE__, __LINE__)
#define UNLOCK(lock) rt_unlock(lock, __FILE__, __LINE__)
#define PUT(to, value) rt_put(to, value, __FILE__, __LINE__)
#define GET(from) rt_get(from, __FILE__, __LINE__)
