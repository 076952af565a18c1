/* The example, as a program of the tests.
 *
 * expect 4 ranks
 */
#include "../../../../../examples/adi/adi.c"
