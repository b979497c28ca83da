/* Facts about values read back: what a record says, and how names lead from the line that reads to
 * the line that waits. */
#include "test.h"

#include "explain/readback.h"
#include "python/queries.h"

#include <stdlib.h>
#include <unistd.h>

static struct stet_history h;
static char path[64];

/* The file that the lines below are of. */
static struct stet_view written(const char *text)
{
    struct stet_err err = STET_ERR_INIT;
    int fd;

    snprintf(path, sizeof path, "/tmp/stet-readback-XXXXXX");
    fd = mkstemp(path);
    EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    EXPECT_INT(STET_OK, stet_history_init(&h, &err));
    return stet_view_str(path);
}

static void done(void)
{
    stet_history_release(&h);
    unlink(path);
}

static bool passes(const char *text, uint32_t use, uint32_t read)
{
    bool found = stet_python_rests_argument(&h.sources, written(text), use, read);

    done();
    return found;
}

TEST(names_lead_from_a_read_to_an_argument)
{
    EXPECT(passes("n = f(x)\ny = g(x, n)\n", 2, 1));
    EXPECT(passes("n = f(x)\nb = {k: v[:n] for k, v in d.items()}\ny = g(x, b)\n", 3, 1));
    EXPECT(passes("m = 0\nif f(x):\n    m = 1\ny = g(x, m)\n", 4, 2));
    EXPECT(passes("if f(x):\n    m = 0\nelse:\n    m = 1\ny = g(x, m)\n", 5, 1));
    EXPECT(!passes("m = 0\nif f(x):\n    log(x)\ny = g(x, m)\n", 4, 2));
    EXPECT(!passes("n = f(x)\ny = g(x, m)\n", 2, 1));
    EXPECT(!passes("n = f(x)\nlog(n)\ny = g(x, m)\n", 3, 1));
    EXPECT(!passes("loss = float(g(x))\n", 1, 1));
    EXPECT(!passes("n = f(x) == 3\ny = g(x, m)\n", 9, 1)); /* no such line */
}

static double number(const char *dtype, const void *bytes, size_t size)
{
    struct stet_journal_copied c = {.dtype = stet_view_str(dtype),
                                    .value = stet_view_of(bytes, size)};
    double value = -1;

    return stet_journal_copied_number(&c, &value) ? value : -1;
}

TEST(values_are_read_by_their_type)
{
    int32_t i = -7;
    float f = 2.5f;
    uint16_t half = 0x4248, brain = 0x4020, tiny = 0x0001;
    uint8_t yes = 1;

    EXPECT(number("int32", &i, 4) == -7);
    EXPECT(number("float32", &f, 4) == 2.5);
    EXPECT(number("bool", &yes, 1) == 1);
    EXPECT(number("float16", &half, 2) == 3.140625);
    EXPECT(number("float16", &tiny, 2) > 0 && number("float16", &tiny, 2) < 6e-8);
    EXPECT(number("bfloat16", &brain, 2) == 2.5);
    EXPECT(number("int32", &i, 2) == -1);     /* an array, or damaged */
    EXPECT(number("int4", &yes, 1) == -1);    /* not known */
    EXPECT(number("float32", NULL, 0) == -1); /* not kept */
}

static uint32_t binding(const char *text, uint32_t use, const char *name)
{
    uint32_t line = stet_python_binding_line(&h.sources, written(text), use, stet_view_str(name));

    done();
    return line;
}

TEST(a_name_has_its_value_from_the_line_before_that_gave_it_one)
{
    EXPECT_INT(2, binding("b = 1\nfor b in data:\n    g(b)\n", 3, "b"));
    EXPECT_INT(3, binding("for b in data:\n    a = 1\n    b = dict(b)\n    g(b)\n", 4, "b"));
    EXPECT_INT(1, binding("b, c = f()\nwhile c:\n    w = g(w,\n        b)\n", 4, "b"));
    EXPECT_INT(0, binding("b = 1\ng(c)\n", 2, "b"));
    /* A loop comes back from the line below; a loop around it comes back later. */
    EXPECT_INT(4, binding("lr = 1\nfor e in d:\n    g(lr)\n    lr *= 2\n", 3, "lr"));
    EXPECT_INT(5, binding("lr = 1\nfor e in d:\n    for x in e:\n        g(x, lr)\n    lr *= 2\n",
                          4, "lr"));
    EXPECT_INT(1, binding("lr = 1\nfor e in d:\n    g(lr)\nlr = 2\n", 3, "lr"));
    EXPECT_INT(0, binding("b = 1\ndef m():\n    g(b)\n", 3, "b")); /* of another function */
}
