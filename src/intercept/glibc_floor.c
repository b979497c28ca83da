/* Old versions of libc's symbols for the layer, which must load on systems older than the one it
 * was built on (glibc 2.28 and newer). The linker's --wrap sends every reference in the shared
 * objects, including those of static libraries, to these.
 * tests/intercept/symbols_are_few_and_old.sh checks the result. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#if defined(__x86_64__)
#define BASE         "GLIBC_2.2.5"
#define DLFCN_NEWER  "GLIBC_2.3.3"
#define ATFORK       "GLIBC_2.3.2"
#define STAT_VERSION 1
#else
#define BASE         "GLIBC_2.17"
#define DLFCN_NEWER  BASE
#define ATFORK       BASE
#define STAT_VERSION 0
#endif

/* OLD(version, result, name, (parameters), (arguments)) */
#define OLD(version, result, name, parameters, arguments)                                          \
    __asm__(".symver old_" #name ", " #name "@" version);                                          \
    extern result old_##name parameters;                                                           \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return old_##name arguments;                                                               \
    }
/* The same for functions that musl lacks: its loader stops a program whose preloaded library has a
 * missing symbol, unless the symbol is weak. */
#define OLD_WEAK(version, result, name, parameters, arguments, otherwise)                          \
    __asm__(".symver old_" #name ", " #name "@" version);                                          \
    extern result old_##name parameters __attribute__((weak));                                     \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return old_##name ? old_##name arguments : (otherwise);                                    \
    }
#include "intercept/glibc_floor.def"
#undef OLD
#undef OLD_WEAK

/* stat and related functions were inline functions over these before 2.33. */
__asm__(".symver old_xstat, __xstat@" BASE);
__asm__(".symver old_fxstat, __fxstat@" BASE);
__asm__(".symver old_lxstat, __lxstat@" BASE);
extern int old_xstat(int version, const char *path, struct stat *st);
extern int old_fxstat(int version, int fd, struct stat *st);
extern int old_lxstat(int version, const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);

int __wrap_stat(const char *path, struct stat *st)
{
    return old_xstat(STAT_VERSION, path, st);
}

int __wrap_fstat(int fd, struct stat *st)
{
    return old_fxstat(STAT_VERSION, fd, st);
}

int __wrap_lstat(const char *path, struct stat *st)
{
    return old_lxstat(STAT_VERSION, path, st);
}
