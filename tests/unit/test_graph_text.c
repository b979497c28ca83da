/* Graphs of torch.compile as text: what two ranks differ in. */
#include "ingest/graph_text.h"

#include "test.h"

#define HEAD                                                                                       \
    "class GraphModule(torch.nn.Module):\n"                                                        \
    "    def forward(self, L_x_: \"f32[4, 3][3, 1]cpu\"):\n        l_x_ = L_x_\n\n"
#define LINE(place, code) "        # File: " place " in step, code: " code "\n"
#define MUL(by)           "        y: \"f32[4, 3][3, 1]cpu\" = l_x_ * " by ";  l_x_ = None\n"
#define TANH              "        z: \"f32[4, 3][3, 1]cpu\" = torch.tanh(y);  y = None\n"
#define ADD               "        a: \"f32[4, 3][3, 1]cpu\" = y + 0.5;  y = None\n"

static bool differ(const char *a, const char *b, struct stet_graph_difference *out)
{
    static struct stet_buf plain_a, plain_b;

    plain_a.len = plain_b.len = 0;
    stet_graph_text_plain(&plain_a, stet_view_str(a));
    stet_graph_text_plain(&plain_b, stet_view_str(b));
    return stet_graph_text_compare(stet_buf_as_view(&plain_a), stet_buf_as_view(&plain_b), out);
}

TEST(another_number_is_a_constant)
{
    struct stet_graph_difference d;

    EXPECT(differ(HEAD LINE("/j/a.py:3", "x * b") MUL("1.25"),
                  HEAD LINE("/j/a.py:3", "x * b") MUL("1.5"), &d));
    EXPECT(d.numbers && d.line == 3);
    EXPECT(stet_view_is(d.a.text, "l_x_ * 1.25"));
    EXPECT(stet_view_is(d.b.text, "l_x_ * 1.5"));
}

TEST(the_first_operation_that_differs_is_named)
{
    struct stet_graph_difference d;

    EXPECT(differ(HEAD LINE("/one/b.py:6", "tanh(x * w)") MUL("2") TANH,
                  HEAD LINE("/two/b.py:6", "tanh(x * w + 0.5)") MUL("2") ADD TANH, &d));
    EXPECT(stet_view_is(d.a.text, "torch.tanh(y)"));
    EXPECT(stet_view_is(d.b.text, "y + 0.5"));
    EXPECT(stet_view_is(d.file, "/two/b.py") && d.line == 6);
}

TEST(the_same_code_in_another_place_does_not_differ)
{
    struct stet_graph_difference d;

    EXPECT(!differ(HEAD LINE("/one/b.py:6", "x * w") MUL("2") TANH,
                   HEAD LINE("/two/b.py:9", "x * w") MUL("2") TANH, &d));
}
