/* Follows the depth of the value stack through the code of a function, as CPython's compiler does.
 * Frames up to 3.13 do not have it written down while they wait for a function that is not written
 * in Python. One pass in the order of the code is enough: a jump backwards leads to a place whose
 * depth is known already. */
#include "intercept/pyframe.h"

enum { UNITS_MOST = 8192, EXTENDED_ARG = 144, EXTENDED_ARG_313 = 71 };

enum jump { NONE, FORWARD, ABSOLUTE, ALWAYS, ABSOLUTE_ALWAYS, ENDS };

static enum jump jump_of(unsigned minor, unsigned opcode)
{
#define PYJUMP(version, number, kind)                                                              \
    if (minor == (version) && opcode == (number))                                                  \
        return kind;
#include "intercept/pyjumps.def"
#undef PYJUMP
    return NONE;
}

struct pass {
    const struct stet_intercept_python *py;
    const unsigned char *bytes;
    size_t units;
    int16_t depths[UNITS_MOST]; /* before each instruction; -1: not known */
};

static void reach(struct pass *p, size_t unit, int depth)
{
    if (unit < p->units && depth >= 0 && p->depths[unit] < 0)
        p->depths[unit] = (int16_t)depth;
}

static size_t target_of(const struct pass *p, enum jump jump, size_t next, size_t argument)
{
    size_t unit = p->py->minor == 9 ? argument / 2 : argument; /* bytes, in 3.9 */

    return jump == ABSOLUTE || jump == ABSOLUTE_ALWAYS ? unit : next + unit;
}

/* The unit after an instruction and what belongs to it. */
static size_t next_of(const struct pass *p, size_t unit)
{
    unit++;
    while (p->py->minor >= 11 && unit < p->units && p->bytes[2 * unit] == 0)
        unit++; /* caches */
    return unit;
}

/* The depth after an instruction; -1 if it is not known. */
static int after(const struct pass *p, int depth, unsigned opcode, size_t argument, int jump)
{
    int effect = p->py->PyCompile_OpcodeStackEffectWithJump((int)opcode, (int)argument, jump);

    return depth < 0 || effect < -UNITS_MOST || effect > UNITS_MOST ? -1 : depth + effect;
}

size_t stet_intercept_pyloops_depth(const struct stet_intercept_python *py,
                                    const unsigned char *bytes, size_t size, size_t at)
{
    unsigned extended = py->minor >= 13 ? EXTENDED_ARG_313 : EXTENDED_ARG;
    struct pass p = {.py = py, .bytes = bytes, .units = size / 2};
    size_t argument = 0, next;

    if (!py->PyCompile_OpcodeStackEffectWithJump || p.units > UNITS_MOST || py->minor < 9 ||
        py->minor > 13)
        return 0;
    memset(p.depths, -1, p.units * sizeof *p.depths);
    p.depths[0] = 0;
    for (size_t unit = 0; unit < p.units; unit = next) {
        unsigned opcode = bytes[2 * unit];
        enum jump jump = jump_of(py->minor, opcode);
        int depth = p.depths[unit], then;

        next = next_of(&p, unit);
        argument = argument << 8 | bytes[2 * unit + 1];
        if (opcode == extended) {
            reach(&p, next, depth);
            continue;
        }
        then = after(&p, depth, opcode, argument, 0);
        if (at / 2 < next) /* below what it uses and below what it gives */
            return then > 0 && depth > 0 ? (size_t)(then < depth ? then : depth) - 1 : 0;
        if (jump != NONE && jump != ENDS)
            reach(&p, target_of(&p, jump, next, argument), after(&p, depth, opcode, argument, 1));
        if (jump != ALWAYS && jump != ABSOLUTE_ALWAYS && jump != ENDS)
            reach(&p, next, then);
        argument = 0;
    }
    return 0;
}
