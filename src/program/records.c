/* The tables of records.def and enums.def. They have few entries, so lookup is a linear scan. */
#include "program/records.h"

#define VIEW(literal) {literal, sizeof(literal) - 1}

/* clang-format off */
static const struct stet_attr_record records[] = {
#define RECORD(dialect, mnemonic, code, style)                                                     \
    {{VIEW(dialect), VIEW(mnemonic)}, code, STET_STYLE_##style, {
#define FIELD(name, kind) {VIEW(name), STET_FIELD_##kind},
#define END {{NULL, 0}, STET_FIELD_END}}},
#include "program/records.def"
#undef RECORD
#undef FIELD
#undef END
};

static const struct stet_enum enums[] = {
#define ENUM(dialect, mnemonic, code) {{VIEW(dialect), VIEW(mnemonic)}, code, {
#define CASE(name, value) {VIEW(name), value},
#define END {{NULL, 0}, 0}}},
#include "program/enums.def"
#undef ENUM
#undef CASE
#undef END
};
/* clang-format on */

enum {
    RECORDS = sizeof records / sizeof *records,
    ENUMS = sizeof enums / sizeof *enums,
};

const struct stet_attr_record *stet_attr_record_find(struct stet_view dialect,
                                                     struct stet_view mnemonic)
{
    for (unsigned i = 0; i < RECORDS; i++)
        if (stet_view_eq(records[i].name.mnemonic, mnemonic) &&
            stet_view_eq(records[i].name.dialect, dialect))
            return &records[i];
    return NULL;
}

const struct stet_attr_record *stet_attr_record_by_code(struct stet_view dialect, uint64_t code)
{
    for (unsigned i = 0; i < RECORDS; i++)
        if (records[i].code >= 0 && (uint64_t)records[i].code == code &&
            stet_view_eq(records[i].name.dialect, dialect))
            return &records[i];
    return NULL;
}

const struct stet_enum *stet_enum_find(struct stet_view dialect, struct stet_view mnemonic)
{
    for (unsigned i = 0; i < ENUMS; i++)
        if (stet_view_eq(enums[i].name.mnemonic, mnemonic) &&
            stet_view_eq(enums[i].name.dialect, dialect))
            return &enums[i];
    return NULL;
}

const struct stet_enum *stet_enum_by_code(struct stet_view dialect, uint64_t code)
{
    for (unsigned i = 0; i < ENUMS; i++)
        if (enums[i].code >= 0 && (uint64_t)enums[i].code == code &&
            stet_view_eq(enums[i].name.dialect, dialect))
            return &enums[i];
    return NULL;
}

struct stet_view stet_enum_case(const struct stet_enum *e, uint64_t value)
{
    for (unsigned i = 0; i < STET_ENUM_CASES && e->cases[i].name.len; i++)
        if (e->cases[i].value == value)
            return e->cases[i].name;
    return (struct stet_view){0};
}
