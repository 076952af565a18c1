/* partune: marks in a program, for C and C++.
 *
 *   partune_region_begin("assemble");
 *   ...
 *   partune_region_end("assemble");
 *
 *   partune_loop_begin("time steps");
 *   while (...) {
 *       partune_iteration_begin();
 *       ...
 *       partune_iteration_end();
 *   }
 *   partune_loop_end();
 *
 * and partune_phase_begin, partune_phase_end for phases of a program. partune_record_off() and partune_record_on() leave out what
 * lies between, on all threads. In C++ also
 *
 *   PARTUNE_REGION("assemble");    and PARTUNE_PHASE, PARTUNE_LOOP: to the end of the block
 *   PARTUNE_ITERATION();           the same, as the first statement of the body of a loop
 *
 * Nothing has to be linked. Where the recorder is not loaded, which it never is into statically linked programs, a mark is
 * a load and a branch. -DPARTUNE_OFF removes all marks. Marks work in executables and in shared libraries, position
 * independent or not. Names are C strings that are read and not kept; an end with a null name ends the innermost.
 *
 * Marks belong to their thread, and end in reverse order of their begins. Where they do not, the recorder ends what is
 * inside, and says so. */
#ifndef PARTUNE_H
#define PARTUNE_H

#if defined(PARTUNE_OFF) || !(defined(__GNUC__) && defined(__ELF__))

#define PARTUNE_CALL_(function, type, arguments) ((void)0)
#define PARTUNE_NAMED_(function, name) ((void)sizeof(name))

#else

#ifdef __cplusplus
extern "C" {
#endif
typedef void (*partune_named_)(const char *name);
typedef void (*partune_plain_)(void);

/* The address of a function of the recorder, or null. It is taken from the global offset table: another reference to an
 * undefined weak function becomes null when an executable is linked that is not position independent. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define PARTUNE_FIND_(function, address) \
    __asm__(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" : "=r"(address))
#elif defined(__aarch64__) && !defined(__ILP32__)
#define PARTUNE_FIND_(function, address)                                                                 \
    __asm__(".weak " #function "\n\tadrp %0, :got:" #function "\n\tldr %0, [%0, :got_lo12:" #function "]" \
            : "=r"(address))
#else
#define PARTUNE_FIND_(function, address) ((address) = (function))
extern void partune_region_begin(const char *) __attribute__((weak));
extern void partune_region_end(const char *) __attribute__((weak));
extern void partune_phase_begin(const char *) __attribute__((weak));
extern void partune_phase_end(const char *) __attribute__((weak));
extern void partune_loop_begin(const char *) __attribute__((weak));
extern void partune_loop_end(void) __attribute__((weak));
extern void partune_iteration_begin(void) __attribute__((weak));
extern void partune_iteration_end(void) __attribute__((weak));
extern void partune_record_off(void) __attribute__((weak));
extern void partune_record_on(void) __attribute__((weak));
#endif
#ifdef __cplusplus
}
#endif

#define PARTUNE_CALL_(function, type, arguments)       \
    (__extension__({                                   \
        type partune_function_;                        \
        PARTUNE_FIND_(function, partune_function_);    \
        if (__builtin_expect(!!partune_function_, 0))  \
            partune_function_ arguments;               \
        (void)0;                                       \
    }))
#define PARTUNE_NAMED_(function, name) PARTUNE_CALL_(function, partune_named_, (name))

#endif

/* Macros, and not inline functions: call paths end where the mark stands. */
#define partune_region_begin(name) PARTUNE_NAMED_(partune_region_begin, name)
#define partune_region_end(name) PARTUNE_NAMED_(partune_region_end, name)
#define partune_phase_begin(name) PARTUNE_NAMED_(partune_phase_begin, name)
#define partune_phase_end(name) PARTUNE_NAMED_(partune_phase_end, name)
#define partune_loop_begin(name) PARTUNE_NAMED_(partune_loop_begin, name)
#define partune_loop_end() PARTUNE_CALL_(partune_loop_end, partune_plain_, ())
#define partune_iteration_begin() PARTUNE_CALL_(partune_iteration_begin, partune_plain_, ())
#define partune_iteration_end() PARTUNE_CALL_(partune_iteration_end, partune_plain_, ())
#define partune_record_off() PARTUNE_CALL_(partune_record_off, partune_plain_, ())
#define partune_record_on() PARTUNE_CALL_(partune_record_on, partune_plain_, ())

#ifdef __cplusplus
namespace partune {
struct end_of_region {
    const char *name;
    ~end_of_region() { partune_region_end(name); }
};
struct end_of_phase {
    const char *name;
    ~end_of_phase() { partune_phase_end(name); }
};
struct end_of_loop {
    ~end_of_loop() { partune_loop_end(); }
};
struct end_of_iteration {
    ~end_of_iteration() { partune_iteration_end(); }
};
}  // namespace partune

#define PARTUNE_JOIN_(a, b) a##b
#define PARTUNE_UNIQUE_(count) PARTUNE_JOIN_(partune_end_, count)
#define PARTUNE_REGION(text)    \
    partune_region_begin(text); \
    const partune::end_of_region PARTUNE_UNIQUE_(__COUNTER__) = {text}
#define PARTUNE_PHASE(text)    \
    partune_phase_begin(text); \
    const partune::end_of_phase PARTUNE_UNIQUE_(__COUNTER__) = {text}
#define PARTUNE_LOOP(text)    \
    partune_loop_begin(text); \
    const partune::end_of_loop PARTUNE_UNIQUE_(__COUNTER__) = {}
#define PARTUNE_ITERATION()    \
    partune_iteration_begin(); \
    const partune::end_of_iteration PARTUNE_UNIQUE_(__COUNTER__) = {}
#endif

#endif
