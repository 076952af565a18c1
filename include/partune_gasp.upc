/* partune: the functions of GASP 1.5 that a UPC runtime calls, for programs that `partune record` records.
 *
 *   gupc -fupc-instrument -g program.upc partune_gasp.upc -o program
 *   clang-upc -fupc-debug -D__UPC_PUPC_INST__=1 -fno-upc-inline-lib -g program.upc partune_gasp.upc -o program
 *
 * Runtimes bring empty functions of these names; those that are linked with the program come first. They hand on what they are told to the recorder, if
 * it is there, and do nothing otherwise. As C, this file serves programs whose runtime is C: see the end. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

typedef struct partune_gasp_context_ *gasp_context_t;

/* The recorder's side. */
struct partune_gasp_tool_ {
    gasp_context_t (*init)(int model, int thread, int threads, void (*locate)(const void *, int *, uint64_t *));
    void (*notify)(gasp_context_t, unsigned event, int kind, const char *file, int line, int column, va_list *arguments);
    int (*control)(gasp_context_t, int on);
    unsigned (*create_event)(gasp_context_t, const char *name, const char *description);
};

static const struct partune_gasp_tool_ *partune_gasp_tool_;

#ifdef __UPC__
#include <upc.h>

/* Which thread has what a shared pointer points to, and where. */
static void partune_gasp_locate_(const void *pointer, int *thread, uint64_t *address)
{
    shared void *at = *(shared void *const *)pointer;
    *thread = (int)upc_threadof(at);
    *address = (uint64_t)upc_addrfield(at);
}
#else
extern int MYTHREAD, THREADS;

/* Bits of a shared pointer, as Clang UPC and GNU UPC pack it where nobody chose otherwise. */
#ifndef PARTUNE_GASP_PHASE_BITS
#define PARTUNE_GASP_PHASE_BITS 20
#define PARTUNE_GASP_THREAD_BITS 10
#endif

static void partune_gasp_locate_(const void *pointer, int *thread, uint64_t *address)
{
    uint64_t at;
    memcpy(&at, pointer, sizeof at);
    *thread = (int)(at >> PARTUNE_GASP_PHASE_BITS & ((1u << PARTUNE_GASP_THREAD_BITS) - 1));
    *address = at >> (PARTUNE_GASP_PHASE_BITS + PARTUNE_GASP_THREAD_BITS);
}
#endif

gasp_context_t gasp_init(int model, int *argc, char ***argv)
{
    const struct partune_gasp_tool_ *(*find)(void);
    (void)argc;
    (void)argv;
    *(void **)&find = dlsym(RTLD_DEFAULT, "partune_gasp");
    if (!find)
        return 0;
    partune_gasp_tool_ = find();
    return partune_gasp_tool_->init(model, MYTHREAD, THREADS, partune_gasp_locate_);
}

void gasp_event_notifyVA(gasp_context_t context, unsigned event, int kind, const char *file, int line, int column,
                         va_list arguments)
{
    if (context) {
        va_list copy;
        va_copy(copy, arguments);
        partune_gasp_tool_->notify(context, event, kind, file, line, column, &copy);
        va_end(copy);
    }
}

void gasp_event_notify(gasp_context_t context, unsigned event, int kind, const char *file, int line, int column, ...)
{
    if (context) {
        va_list arguments;
        va_start(arguments, column);
        partune_gasp_tool_->notify(context, event, kind, file, line, column, &arguments);
        va_end(arguments);
    }
}

int gasp_control(gasp_context_t context, int on)
{
    return context ? partune_gasp_tool_->control(context, on) : 0;
}

unsigned gasp_create_event(gasp_context_t context, const char *name, const char *description)
{
    return context ? partune_gasp_tool_->create_event(context, name, description) : 0;
}
