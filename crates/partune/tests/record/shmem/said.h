/* What programs of OpenSHMEM have in common that say when their PEs were in the operations where they wait, `in MARK TURN RANK ENTER EXIT`, and when
 * they let others go on, `gives MARK TURN RANK TIME`.
 */
#include "../waits/work.h"

static struct { const char *what, *mark; int turn; double enter, exit; } said[64];
static int turn, count;

static void say(const char* what, double enter, double exit)
{
    said[count].what = what;
    said[count].mark = part_now;
    said[count].turn = turn;
    said[count].enter = enter;
    said[count++].exit = exit;
}

#define IN(call)                                                 \
    do {                                                         \
        double enter = now();                                    \
        call;                                                    \
        say("in", enter, now());                                 \
    } while (0)

#define PART __attribute__((noinline)) static void
/* The last call is no jump. */
#define STAY __asm__ volatile("")

#define THRICE(mark, act)                                        \
    part(mark);                                                  \
    for (turn = 1; turn <= 3; ++turn) {                          \
        act;                                                     \
        shmem_barrier_all();                                     \
    }

static void tell_all(void)
{
    for (int i = 0; i < count; ++i)
        printf("%s %s %d %d %.9f %.9f\n", said[i].what, said[i].mark, said[i].turn, rank, said[i].enter, said[i].exit);
}
