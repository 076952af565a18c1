/* Every event of UPC with the arguments that GASP gives it, once on each thread, as a runtime tells them; events of the program's own with values; and what is
 * told while recording is off, which is not recorded. */
#include "runtime.h"

#define AT __FILE__, __LINE__

/* The same of an operation of all threads. */
#define MEET(gnu, berkeley, ...)                     \
    do {                                             \
        tell(gnu, berkeley, START, AT, __VA_ARGS__);  \
        meet();                                      \
        tell(gnu, berkeley, END, AT, __VA_ARGS__);    \
    } while (0)
/* A begin and an end with the same arguments, and with more at the end. */
#define BOTH(gnu, berkeley, ...)                    \
    do {                                            \
        tell(gnu, berkeley, START, AT, __VA_ARGS__); \
        tell(gnu, berkeley, END, AT, __VA_ARGS__);   \
    } while (0)
#define MORE(gnu, berkeley, more, ...)                    \
    do {                                                  \
        tell(gnu, berkeley, START, AT, __VA_ARGS__);       \
        tell(gnu, berkeley, END, AT, __VA_ARGS__, more);   \
    } while (0)

static void accesses(shared_pointer to, shared_pointer from)
{
    long own[16];
    void *handle[4] = { &own[0], &own[1], &own[2], &own[3] };
    BOTH(24, 1031, &to, own, (size_t)100);         /* upc_memput */
    BOTH(23, 1030, own, &to, (size_t)200);         /* upc_memget */
    BOTH(22, 1032, &to, &from, (size_t)300);       /* upc_memcpy: from the own memory, a put */
    BOTH(22, 1032, &from, &to, (size_t)400);       /* into it: a get */
    BOTH(25, 1033, &to, 7, (size_t)500);           /* upc_memset: a put */
    BOTH(26, 1111, 1, own, &to, (size_t)8);        /* upc_get */
    BOTH(27, 1110, 0, &to, own, (size_t)8);        /* upc_put */
    MORE(28, 1120, handle[0], 1, own, &to, (size_t)16); /* upc_nb_get_init */
    MORE(30, 1121, handle[1], 1, &to, own, (size_t)32); /* upc_nb_put_init */
    BOTH(32, 1122, handle[0]);                     /* upc_nb_sync */
    BOTH(32, 1122, handle[1]);
    BOTH(29, 0, handle[0]);
    BOTH(31, 0, handle[1]);
    MORE(0, 1131, handle[2], own, &to, (size_t)64);  /* bupc_nb_memget_init */
    MORE(0, 1132, handle[3], &to, own, (size_t)128); /* bupc_nb_memput_init */
    MORE(0, 1130, 0, handle[2]);                   /* bupc_nb_trysync: not yet */
    MORE(0, 1130, 1, handle[2]);
    MORE(0, 1130, 1, handle[3]);
    MORE(0, 1133, (void *)0, &to, &from, (size_t)256); /* bupc_nb_memcpy_init, complete at once */
}

static void collectives(shared_pointer to, shared_pointer from)
{
    shared_pointer first = shared_at(0, 0);
    MEET(36, 1300, &to, &first, (size_t)10, 0);   /* broadcast */
    MEET(37, 1310, &to, &first, (size_t)10, 0);   /* scatter */
    MEET(38, 1320, &first, &from, (size_t)10, 0); /* gather */
    MEET(39, 1330, &to, &from, (size_t)10, 0);    /* gather_all */
    MEET(40, 1340, &to, &from, (size_t)10, 0);    /* exchange */
    MEET(41, 1350, &to, &from, &from, (size_t)10, 0); /* permute */
    MEET(42, 1400, &first, &from, 0, (size_t)100, (size_t)1, (void *)0, 0, 9); /* reduce of doubles */
    MEET(43, 1410, &first, &from, 0, (size_t)100, (size_t)1, (void *)0, 0, 4); /* prefix_reduce of integers */
}

static void objects(shared_pointer lock)
{
    shared_pointer made = shared_at(MYTHREAD, 512);
    MORE(12, 1001, &made, (size_t)4, (size_t)8); /* upc_global_alloc */
    tell(13, 1002, START, AT, (size_t)4, (size_t)8);
    meet();
    tell(13, 1002, END, AT, (size_t)4, (size_t)8, &made); /* upc_all_alloc */
    MORE(14, 1000, &made, (size_t)8);            /* upc_alloc */
    BOTH(15, 1003, &made);                       /* upc_free */
    tell(16, 1010, START, AT);
    tell(16, 1010, END, AT, &lock);              /* upc_global_lock_alloc */
    tell(17, 1011, START, AT);
    meet();
    tell(17, 1011, END, AT, &lock);              /* upc_all_lock_alloc */
    BOTH(19, 1014, &made);                       /* upc_lock: one of its own */
    BOTH(21, 1015, &made);                       /* upc_unlock */
    MORE(20, 1013, 0, &lock);                    /* upc_lock_attempt: in vain */
    MORE(20, 1013, 1, &made);
    BOTH(21, 1015, &made);
    BOTH(18, 1012, &lock);                       /* upc_lock_free */
    tell(0, 1140, ATOMIC, AT, (size_t)8, (size_t)1, &made, (void *)0, (size_t)8, "name", "type"); /* bupc_static_shared */
}

static void others(void)
{
    tell(10, 0, START, AT);
    tell(10, 0, END, AT); /* upc_fence */
    tell(33, 0, ATOMIC, AT, (size_t)8, (size_t)1);
    tell(34, 0, ATOMIC, AT, (size_t)8);
    tell(35, 0, ATOMIC, AT, (size_t)1);
    tell(2, 1020, START, AT, (size_t)100);
    tell(2, 1020, END, AT, (size_t)100, (void *)0);
    BOTH(3, 1021, (void *)0, (size_t)100);
    BOTH(4, 1022, (void *)0);
    tell(11, 0, START, AT);
    BARRIER(); /* in a loop that is dealt out */
    tell(11, 0, END, AT);
    /* A number that nobody knows. */
    tell(77, 2077, ATOMIC, AT);
}

void program(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    shared_pointer to = shared_at((MYTHREAD + 1) % THREADS, 64), from = shared_at(MYTHREAD, 128), lock = shared_at(0, 256);
    tell(1, 1023, START, AT, "program");
    /* In an operation the runtime does others. */
    tell(7, 1100, START, AT, 0, 0);
    BOTH(24, 1031, &to, &to, (size_t)1000);
    tell(7, 1100, END, AT, 0, 0);
    MEET(8, 1101, 0, 0);
    accesses(to, from);
    collectives(to, from);
    objects(lock);
    others();
    unsigned step = create_event("step", "number %d of %s takes %g s"), again = create_event("step", "number %d of %s takes %g s");
    for (int i = 1; i <= 4; ++i)
        BOTH(step, again, i, "all", 0.5 * i);
    tell(step, step, ATOMIC, AT, 5, "all", 2.5);
    int was = control(0);
    BARRIER();
    BOTH(24, 1031, &to, &to, (size_t)1000);
    int is = control(1);
    if (was != 1 || is != 0)
        create_event("the state of recording is not what it was", "");
    tell(1, 1023, END, AT, "program");
}
