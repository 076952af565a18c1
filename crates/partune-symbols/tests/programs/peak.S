/* A function in assembly with three names. */
    .text
    .globl __peak
    .type __peak, @function
    .weak peak
    .type peak, @function
    .weak peakf32x
    .type peakf32x, @function
    .set peak, __peak
    .set peakf32x, __peak

    .p2align 4
__peak:
    nop
    .size __peak, .-__peak
    .size peak, .-__peak
    .size peakf32x, .-__peak
    .section .note.GNU-stack, "", %progbits
