/* Functions with several names each, as the mathematical library has them. */

/* A type's name at its end, and strong names of the library's own. */
double __peak(double x) { return x > 1 ? x : 1; }
double peakf32x(double x) __attribute__((weak, alias("__peak")));
double peakf64(double x) __attribute__((weak, alias("__peak")));
double peak(double x) __attribute__((weak, alias("__peak")));

/* Shorter, but only programs that were linked long ago get it. */
int rest(int x) { return x * 3; }
int old_version(int x) __attribute__((alias("rest")));
__asm__(".symver old_version, r@OLD");

/* Equally long: in the order of the alphabet. */
int wine(int x) { return x * 5; }
int wide(int x) __attribute__((alias("wine")));

/* Nobody else is there. */
int _alone(int x) { return x * 7; }

/* A type's name at the end of a function of its own. */
int plainf32x(int x) { return x * 11; }
int plain(int x) { return x * 13; }
