/* Contracts: a file is read or refused with a place in it; what was read prints, is read again the
 * same, and survives the packed form. A packed form is read or refused. */
#include "fuzz.h"

#include "gate/gate.h"

static struct stet_buf printed(const struct stet_contract *c)
{
    struct stet_buf out = {.cap = 64 << 20};

    stet_gate_contract_print(&out, c);
    return out;
}

/* Any contract must be able to look at any program. */
static void judge(const struct stet_contract *c)
{
    static const int64_t dims[] = {8, INT64_MIN, 512};
    struct stet_seen_arg args[] = {
        {.name = STET_VIEW("x"), .type = STET_VIEW("float32"), .dims = dims, .rank = 3},
        {.name = STET_VIEW("params['w']"), .type = STET_VIEW("int32"), .dims = dims, .rank = 1},
    };
    struct stet_seen s = {.family = c->family_count ? c->families[0].name : STET_VIEW("f"),
                          .args = args,
                          .arg_count = 2,
                          .mesh = STET_VIEW("data=2")};
    struct stet_breach b;
    struct stet_gate g;

    CHECK(stet_gate_init(&g, c, false, NULL) == STET_OK);
    for (int i = 0; i < 3; i++)
        if (stet_gate_breaks(&g, &s, &b))
            CHECK(b.clause < STET_CLAUSES && b.what[0]);
    stet_gate_release(&g);
}

static void packed(const struct stet_contract *c)
{
    struct stet_buf a = STET_BUF_INIT, b = STET_BUF_INIT;
    struct stet_contract again;

    stet_gate_contract_pack(&a, c, false);
    CHECK(stet_gate_contract_unpack(&again, stet_buf_as_view(&a), NULL) == STET_OK);
    stet_gate_contract_pack(&b, &again, false);
    CHECK(stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)));
    judge(&again);
    stet_gate_contract_release(&again);
    stet_buf_release(&a);
    stet_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_contract c, again;
    struct stet_buf a, b;

    if (stet_gate_contract_unpack(&c, stet_view_of(data, size), &err) == STET_OK) {
        judge(&c);
        stet_gate_contract_release(&c);
    }
    err = (struct stet_err)STET_ERR_INIT;
    if (stet_gate_contract_parse(&c, stet_view_of(data, size), "f", &err) != STET_OK) {
        CHECK(err.rc != STET_OK && stet_view_starts(stet_view_str(err.text), "f:"));
        return 0;
    }
    a = printed(&c);
    CHECK(!a.failed);
    CHECK(stet_gate_contract_parse(&again, stet_buf_as_view(&a), "f", &err) == STET_OK);
    b = printed(&again);
    CHECK(stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)));
    packed(&c);
    judge(&c);
    stet_gate_contract_release(&c);
    stet_gate_contract_release(&again);
    stet_buf_release(&a);
    stet_buf_release(&b);
    return 0;
}
