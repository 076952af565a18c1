/* Functions that tell of themselves: one that is called too often and does too little, and one that jumps. */
#include <setjmp.h>
#include <stdio.h>
static volatile double x;
static jmp_buf back;
double tiny(double value) { return value + 1; }
void many(void) {
    for (int i = 0; i < 20000; i++)
        x = tiny(x);
}
void jumps(void) { longjmp(back, 1); }
void leaves(void) {
    if (setjmp(back) == 0)
        jumps();
}
int main(void) {
    leaves();
    many();
    puts("done");
    return 0;
}
