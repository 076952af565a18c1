// Runs what a library has, whose dependencies nobody else finds.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*all)(void) = library ? (int (*)(void))dlsym(library, "all") : NULL;
    if (!all) {
        puts(dlerror());
        return 20;
    }
    return all();
}
