/* Marks a phase of the program, with its line:  PHASE("exchange") { ... }
 *
 * Does nothing without the recorder. Leave the block only at its end. The linker collects pointers to all phases in one section, so
 * that every process has the same table of them. */
#pragma once

typedef struct Phase {
    const char* name;
    const char* file;
    unsigned    line;
} Phase;

__attribute__((weak)) void phase_enter(const Phase* const* phase);
__attribute__((weak)) void phase_leave(const Phase* const* phase);

static inline int phase_begin(const Phase* const* phase)
{
    if (phase_enter) phase_enter(phase);
    return 1;
}

static inline int phase_end(const Phase* const* phase)
{
    if (phase_leave) phase_leave(phase);
    return 0;
}

#define PHASE(NAME) PHASE_AT(NAME, __COUNTER__)
#define PHASE_AT(NAME, ID) PHASE_NAMED(NAME, ID)
#define PHASE_NAMED(NAME, ID)                                                                                 \
    static const Phase        phase_##ID = { NAME, __FILE__, __LINE__ };                                     \
    static const Phase* const entry_##ID __attribute__((section("phases"), used)) = &phase_##ID;             \
    for (int open_##ID = phase_begin(&entry_##ID); open_##ID; open_##ID = phase_end(&entry_##ID))
