/* A fact that this function cannot see, because another file guarantees it. It tells the reader and
 * clang's static analyzer, which reads one file at a time; compilers do not see it. */
#ifndef STET_BASE_KNOWN_H
#define STET_BASE_KNOWN_H

#ifdef __clang_analyzer__
#define STET_KNOWN(fact) ((fact) ? (void)0 : __builtin_unreachable())
#else
#define STET_KNOWN(fact) ((void)0)
#endif

#endif
