/* A script that calls a jitted function `step`, and the question what decides its arguments. */
#ifndef STET_TEST_TRAIL_HELP_H
#define STET_TEST_TRAIL_HELP_H

#include "python_help.h"

#define HEAD                                                                                       \
    "import collections, dataclasses, functools, itertools, queue, random, threading\n"            \
    "import jax\nimport jax.numpy as jnp\nimport numpy as np\nimport torch\n"                      \
    "def step(x, n=1, extra=None):  # def\n    return x * n\n"                                     \
    "step = jax.jit(step)\n"                                                                       \
    "rng = np.random.default_rng(0)\n"

static inline void expect(const char *body, const char *part, enum stet_python_aspect aspect)
{
    begin(HEAD, body);
    expect_here(body, followed(PY_HELD_ARGUMENT, part, aspect));
}

static inline void expect_each(const char *const *bodies, size_t count, const char *part,
                               enum stet_python_aspect aspect)
{
    for (size_t i = 0; i < count; i++)
        expect(bodies[i], part, aspect);
}

#define EACH(bodies, part, aspect)                                                                 \
    expect_each(bodies, sizeof(bodies) / sizeof *(bodies), part, aspect)

#endif
