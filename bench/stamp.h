/* The least that a recorder does: a time and what it is of, kept in memory. Its buffer is used again from its begin. */
#pragma once
#include <stdint.h>

#if defined __x86_64__
#include <x86intrin.h>
static inline uint64_t now(void) { return __rdtsc(); }
#else
#include <time.h>
static inline uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

typedef struct { uint64_t time, what; } Stamp;

enum { STAMPS = 1 << 16 };

static __thread Stamp stamps[STAMPS];
static __thread uint32_t stamped;

static inline void stamp(uint64_t what) { stamps[stamped++ % STAMPS] = (Stamp) { now(), what }; }
