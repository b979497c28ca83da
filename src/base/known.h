/* A fact that this function cannot see, because another file guarantees it. It is for the reader
 * and for clang's static analyzer, which reads one file at a time. The builds of tests (dev, asan,
 * fuzz) check it and abort when it is wrong; release builds ignore it. */
#ifndef STET_BASE_KNOWN_H
#define STET_BASE_KNOWN_H

#ifdef __clang_analyzer__
#define STET_KNOWN(fact) ((fact) ? (void)0 : __builtin_unreachable())
#elif defined(STET_FAULT_INJECTION)
#include <stdlib.h>
#define STET_KNOWN(fact) ((fact) ? (void)0 : abort())
#else
#define STET_KNOWN(fact) ((void)0)
#endif

#endif
