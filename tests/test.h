/* A small unit-test frame: TEST(names_a_fact) { EXPECT(...); } and one line at the end. */
#ifndef STET_TEST_H
#define STET_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct stet_test {
    const char *name;
    void (*run)(void);
    struct stet_test *next;
};

static struct stet_test *stet_tests, **stet_tests_end = &stet_tests;
static int stet_test_failures;

#define TEST(fact)                                                                                 \
    static void test_##fact(void);                                                                 \
    __attribute__((constructor)) static void add_##fact(void)                                      \
    {                                                                                              \
        static struct stet_test t = {#fact, test_##fact, NULL};                                    \
        *stet_tests_end = &t;                                                                      \
        stet_tests_end = &t.next;                                                                  \
    }                                                                                              \
    static void test_##fact(void)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            stet_test_failures++;                                                                  \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);               \
        }                                                                                          \
    } while (0)

#define EXPECT_INT(expected, actual)                                                               \
    do {                                                                                           \
        long long want_ = (long long)(expected), got_ = (long long)(actual);                       \
        if (want_ != got_) {                                                                       \
            stet_test_failures++;                                                                  \
            fprintf(stderr, "%s:%d: %s: expected %lld, got %lld\n", __FILE__, __LINE__, #actual,   \
                    want_, got_);                                                                  \
        }                                                                                          \
    } while (0)

#define EXPECT_STR(expected, actual)                                                               \
    do {                                                                                           \
        const char *want_ = (expected), *got_ = (actual);                                          \
        if (!got_ || strcmp(want_, got_) != 0) {                                                   \
            stet_test_failures++;                                                                  \
            fprintf(stderr, "%s:%d: %s: expected \"%s\", got \"%s\"\n", __FILE__, __LINE__,        \
                    #actual, want_, got_ ? got_ : "(null)");                                       \
        }                                                                                          \
    } while (0)

/* One process runs all tests of a file, or those named on the command line. */
int main(int argc, char **argv)
{
    int passed = 0, failed = 0;

    for (struct stet_test *t = stet_tests; t; t = t->next) {
        bool wanted = argc < 2;

        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], t->name) == 0;
        if (!wanted)
            continue;
        stet_test_failures = 0;
        t->run();
        if (stet_test_failures)
            fprintf(stderr, "FAILED %s\n", t->name);
        *(stet_test_failures ? &failed : &passed) += 1;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}

#endif
