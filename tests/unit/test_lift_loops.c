/* Lifting: which loops end whatever their values are. */
#include "lift_help.h"

/* Each %s is replaced: by the condition %c and by the next value %j of the counter i. The loop
 * carries also a number n that stays as it is, one that does not (m), and a flag. */
static const char loop[] =
    "module @m {\n"
    "func.func public @main(%i0: tensor<i32>, %n0: tensor<i32>, %f0: tensor<i1>) -> tensor<i32> {\n"
    "%out = stablehlo.constant dense<7> : tensor<i32>\n"
    "%0:4 = stablehlo.while(%i = %i0, %n = %n0, %m = %n0, %f = %f0) : tensor<i32>, tensor<i32>, "
    "tensor<i32>, tensor<i1>\n"
    "cond {\n%k = stablehlo.constant dense<9> : tensor<i32>\n%s\n"
    "stablehlo.return %c : tensor<i1>\n"
    "} do {\n%one = stablehlo.constant dense<1> : tensor<i32>\n"
    "%two = stablehlo.constant dense<2> : tensor<i32>\n%s\n"
    "%m2 = stablehlo.add %m, %two : tensor<i32>\n"
    "%g = stablehlo.compare EQ, %m, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "stablehlo.return %j, %n, %m2, %g : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>\n}\n"
    "return %0#0 : tensor<i32>\n}\n}\n";

#define COMPARE(name, how, x, y)                                                                   \
    "%" name " = stablehlo.compare " how ", %" x ", %" y                                           \
    ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
#define AND(name, x, y) "%" name " = stablehlo.and %" x ", %" y " : tensor<i1>\n"
#define UP              "%j = stablehlo.add %i, %one : tensor<i32>\n"
#define DOWN            "%j = stablehlo.subtract %i, %one : tensor<i32>\n"

static const struct {
    const char *what, *condition, *next;
    bool ends;
} rows[] = {
    {"a constant bound", COMPARE("c", "LT", "i", "k"), UP, true},
    {"a bound from outside", COMPARE("c", "LT", "i", "out"), UP, true},
    {"a bound that is carried", COMPARE("c", "LT", "i", "n"), UP, true},
    {"the bound first", COMPARE("c", "GT", "n", "i"), "%j = stablehlo.add %one, %i : tensor<i32>\n",
     true},
    {"downwards", COMPARE("c", "GT", "i", "k"), DOWN, true},
    {"a counter and a flag", COMPARE("d", "LT", "i", "k") AND("c", "f", "d"), UP, true},
    {"a counter and more", COMPARE("d", "LT", "i", "k") AND("e", "d", "f") AND("c", "e", "f"), UP,
     true},
    {"a counter and a flag, as JAX writes it",
     COMPARE("d", "LT", "i", "k") "%e = stablehlo.constant dense<false> : tensor<i1>\n"
                                  "%q = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<i1>) -> "
                                  "tensor<i1>\n"
                                  "%r = stablehlo.compare NE, %d, %q, UNSIGNED : (tensor<i1>, "
                                  "tensor<i1>) -> tensor<i1>\n"
                                  "%s = stablehlo.convert %r : tensor<i1>\n" AND("c", "s", "f"),
     UP, true},
    {"a counter that is not smaller",
     COMPARE("d", "LT", "i", "k") "%e = stablehlo.constant dense<true> : tensor<i1>\n"
                                  "%c = stablehlo.compare NE, %d, %e, UNSIGNED : (tensor<i1>, "
                                  "tensor<i1>) -> tensor<i1>\n",
     UP, false},
    {"a flag alone", AND("c", "f", "f"), UP, false},
    {"a counter or a flag", COMPARE("d", "LT", "i", "k") "%c = stablehlo.or %d, %f : tensor<i1>\n",
     UP, false},
    {"a bound that moves", COMPARE("c", "LT", "i", "m"), UP, false},
    {"away from the bound", COMPARE("c", "LT", "i", "k"), DOWN, false},
    {"a step that may jump over the last number", COMPARE("c", "LT", "i", "k"),
     "%j = stablehlo.add %i, %two : tensor<i32>\n", false},
    {"a bound that is the last number", COMPARE("c", "LE", "i", "k"), UP, false},
    {"another number", COMPARE("c", "NE", "i", "k"), UP, false},
    {"a counter that does not move", COMPARE("c", "LT", "i", "k"),
     "%j = stablehlo.maximum %i, %one : tensor<i32>\n", false},
    {"the next number of another", COMPARE("c", "LT", "i", "k"),
     "%j = stablehlo.add %m, %one : tensor<i32>\n", false},
};

TEST(loops_with_a_counter_and_a_bound_end)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stet_buf text = STET_BUF_INIT;
        struct stet_program p;
        const char *next = rows[i].condition;

        for (const char *c = loop; *c; c++) {
            if (c[0] == '%' && c[1] == 's' && c[2] == '\n') {
                stet_buf_str(&text, next);
                next = rows[i].next;
                c++;
            } else {
                stet_buf_char(&text, *c);
            }
        }
        EXPECT(read_program(&p, stet_buf_as_view(&text)));
        EXPECT_INT(rows[i].ends, stet_lift_loops_end(&p));
        if (rows[i].ends != stet_lift_loops_end(&p))
            fprintf(stderr, "%s\n", rows[i].what);
        stet_program_release(&p);
        stet_buf_release(&text);
    }
}
