/* Lint: hostile files, imports between files, configuration, baseline, fixes, cache. */
#include "test.h"

#include "base/fs.h"
#include "base/mem.h"
#include "lint/baseline.h"
#include "lint/config.h"
#include "lint/fix.h"
#include "lint/lint.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/stet-lint-XXXXXX";

/* A path inside a folder of this process; the last eight stay valid. */
static char *in_folder(const char *name)
{
    static char paths[8][128];
    static int next;
    static bool made;

    if (!made)
        made = mkdtemp(folder) != NULL;
    snprintf(paths[next % 8], sizeof paths[0], "%s/%s", folder, name);
    return paths[next++ % 8];
}

static void write_file(const char *path, const char *text)
{
    EXPECT_INT(STET_OK, stet_fs_write(path, stet_view_str(text), NULL));
}

static struct stet_lint_result run(char **paths, int count, const char *cache)
{
    struct stet_lint_options o = {.paths = paths, .path_count = count, .cache_folder = cache};
    struct stet_err err = STET_ERR_INIT;
    struct stet_lint_result r = {0};

    EXPECT_INT(STET_OK, stet_lint_run(&r, &o, &err));
    return r;
}

static size_t count_text(struct stet_view text)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_lint_result r;
    size_t count;

    if (stet_lint_text(&r, "x.py", text, &err) != STET_OK)
        return SIZE_MAX;
    count = r.finding_count;
    stet_lint_release(&r);
    return count;
}

TEST(a_line_of_ten_megabytes_is_read)
{
    static const char head[] = "import jax\n@jax.jit\ndef f(x):\n    if x.sum() > 0: y = ['";
    size_t size = 10 << 20, list = 100000;
    char *text = stet_mem_alloc(size + 1);

    memset(text, 'a', size);
    memcpy(text, head, sizeof head - 1);
    text[size - list - 1] = '\'';
    for (size_t i = size - list; i < size; i++)
        text[i] = i & 1 ? '1' : ',';
    memcpy(text + size - 2, "]\n", 2);
    EXPECT_INT(1, count_text(stet_view_of(text, size)));
    stet_mem_free(text);
}

/* Every finding's column is told without walking back to the start of its line. */
TEST(thirty_thousand_findings_in_a_line_have_their_columns)
{
    enum { FINDINGS = 30000 };
    struct stet_buf text = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lint_result r;

    stet_buf_str(&text, "import jax\n@jax.jit\ndef f(x):\n ");
    for (int i = 0; i < FINDINGS; i++)
        stet_buf_str(&text, "x.item();");
    EXPECT_INT(STET_OK, stet_lint_text(&r, "x.py", stet_buf_as_view(&text), &err));
    EXPECT_INT(FINDINGS, r.finding_count);
    for (size_t i = 0; i < r.finding_count; i++) {
        if (r.findings[i].line != 4 || r.findings[i].column != 2 + 9 * i)
            EXPECT_INT(2 + 9 * i, r.findings[i].column);
    }
    stet_lint_release(&r);
    stet_buf_release(&text);
}

/* Shapes of files in which a rule, looking through a function, a class or a loop for each place in
 * it, would take time that grows with the square of the file. */
static void write_shape(struct stet_buf *out, int shape, int n)
{
    static const char *const heads[] = {
        "import jax\ng = jax.jit(lambda x: x, donate_argnums=0)\ndef m(x):\n",
        "import jax\n@jax.jit\ndef f(x):\n",
        "import torch\nimport torch_xla\ndef m(o):\n for i in range(3):\n",
        "import jax\nclass A:\n @jax.jit\n def g(self, x):\n",
        "import jax\n@jax.jit\ndef f(x):\n if x > 0: pass\n",
        "import jax\nfor i in range(9):\n",
    };
    static const char *const lines[] = {
        "  g(x)\n  y = %d\n",           "  x.item() # stet: ignore[no-rule-%d]\n",
        "  o.zero_grad()\n  o.y(%d)\n", "  x = x * self.a%d\n  self.b = 1\n",
        " elif x > %d: pass\n",         " a%d.rate = i\n b = C()\n",
    };

    stet_buf_str(out, heads[shape]);
    for (int i = 0; i < n; i++)
        stet_buf_printf(out, lines[shape], i);
}

TEST(searching_grows_with_the_text_and_no_faster)
{
    for (int shape = 0; shape < 6; shape++) {
        struct stet_buf text = STET_BUF_INIT;
        struct stet_err err = STET_ERR_INIT;
        struct stet_lint_result r;

        write_shape(&text, shape, 8000);
        EXPECT_INT(STET_OK, stet_lint_text(&r, "x.py", stet_buf_as_view(&text), &err));
        EXPECT(r.steps <= 1 << 20 || r.steps / 300 <= text.len);
        stet_lint_release(&r);
        stet_buf_release(&text);
    }
}

/* The shapes above, which use up what a file may take, and before them a line put aside. */
TEST(a_comment_is_honoured_however_much_the_file_took)
{
    for (int shape = 0; shape < 6; shape++) {
        struct stet_buf text = STET_BUF_INIT;
        struct stet_err err = STET_ERR_INIT;
        struct stet_lint_result r;

        stet_buf_str(&text, "import jax\n@jax.jit\ndef first(x):\n  x.item() # stet: ignore\n");
        write_shape(&text, shape, 8000);
        EXPECT_INT(STET_OK, stet_lint_text(&r, "x.py", stet_buf_as_view(&text), &err));
        EXPECT(r.ignored > 0);
        EXPECT(!r.finding_count || r.findings[0].line > 4);
        stet_lint_release(&r);
        stet_buf_release(&text);
    }
}

TEST(base_classes_of_any_number_and_depth_are_handled)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lint_result r;

    stet_buf_str(&text, "import torch\n");
    for (int i = 0; i < 100000; i++)
        stet_buf_printf(&text, "class A%d(A%d): pass\n", i, i + 1);
    stet_buf_str(&text, "class B(A0):\n def forward(self, x): return x.item()\n");
    EXPECT_INT(0, count_text(stet_buf_as_view(&text)));
    stet_buf_release(&text);
    /* Twenty classes a level, each derived from all of the next: 20^8 ways down. */
    stet_buf_str(&text, "import jax\n");
    for (int i = 0; i < 180; i++) {
        stet_buf_printf(&text, "class L%dN%d(", i / 20, i % 20);
        for (int b = 0; b < 20; b++)
            stet_buf_printf(&text, "L%dN%d,", i / 20 + 1, b);
        stet_buf_str(&text, "): pass\n");
    }
    stet_buf_str(&text, "class C(L0N0):\n @jax.jit\n def f(self, x): return self.missing(x)\n");
    EXPECT_INT(STET_OK, stet_lint_text(&r, "x.py", stet_buf_as_view(&text), &err));
    EXPECT(r.steps < 100000);
    stet_lint_release(&r);
    stet_buf_release(&text);
}

TEST(nesting_of_any_depth_is_handled)
{
    size_t depth = 200000;
    char *text = stet_mem_alloc(4 * depth);

    memset(text, '(', depth);
    memset(text + depth, ')', depth);
    EXPECT_INT(0, count_text(stet_view_of(text, 2 * depth)));
    for (size_t i = 0; i < depth; i++)
        memcpy(text + 4 * i, "not ", 4);
    EXPECT_INT(0, count_text(stet_view_of(text, 4 * depth)));
    stet_mem_free(text);
}

TEST(nuls_and_wrong_encodings_hide_nothing_after_them)
{
    static const char nul[] = "s = 'a\0b'\nimport jax\n@jax.jit\ndef f(x):\n    return x.item()\n";
    static const char latin[] =
        "# \xe9\xff\nimport jax\n@jax.jit\ndef f(x):\n    return x.item()\n";

    EXPECT_INT(1, count_text(stet_view_of(nul, sizeof nul - 1)));
    EXPECT_INT(1, count_text(stet_view_of(latin, sizeof latin - 1)));
    EXPECT_INT(0, count_text(stet_view_of("", 0)));
}

TEST(tracing_crosses_files)
{
    char *package = in_folder("pkg"), *all[] = {package};
    struct stet_lint_result r;

    EXPECT_INT(STET_OK, stet_fs_mkdirs(package, NULL));
    write_file(in_folder("pkg/__init__.py"), "from .ops import scale\n");
    write_file(in_folder("pkg/ops.py"), "def scale(v, flag):\n    if v > 0 and flag:\n"
                                        "        return v\n    return -v\n");
    write_file(in_folder("pkg/main.py"), "import jax\nfrom pkg import scale\n@jax.jit\n"
                                         "def step(x):\n    return scale(x, True)\n");
    r = run(all, 1, NULL);
    EXPECT_INT(1, r.finding_count);
    if (r.finding_count == 1) {
        EXPECT_INT(2, r.findings[0].line);
        EXPECT(stet_view_ends(stet_view_str(r.findings[0].path), "pkg/ops.py"));
        EXPECT(memmem(r.findings[0].traced.ptr, r.findings[0].traced.len, "main.py:3", 9) != NULL);
    }
    stet_lint_release(&r);
    /* Without the caller nothing is compiled. */
    write_file(in_folder("pkg/main.py"), "import jax\nfrom pkg import scale\n"
                                         "def step(x):\n    return scale(x, True)\n");
    r = run(all, 1, NULL);
    EXPECT_INT(0, r.finding_count);
    stet_lint_release(&r);
}

TEST(a_method_of_an_imported_module_class_is_traced)
{
    char *package = in_folder("net"), *all[] = {package};
    struct stet_lint_result r;

    EXPECT_INT(STET_OK, stet_fs_mkdirs(package, NULL));
    write_file(in_folder("net/__init__.py"), "");
    write_file(in_folder("net/base.py"), "import torch\nfrom torch import nn\n"
                                         "class Base(nn.Module):\n    def pool(self, x):\n"
                                         "        return x[x > 0]\n");
    write_file(in_folder("net/model.py"), "import torch\nfrom .base import Base\n"
                                          "class Model(Base):\n"
                                          "    def forward(self, x: torch.Tensor):\n"
                                          "        return self.pool(x)\n");
    r = run(all, 1, NULL);
    EXPECT_INT(1, r.finding_count);
    if (r.finding_count == 1)
        EXPECT_INT(5, r.findings[0].line);
    stet_lint_release(&r);
}

TEST(the_cache_gives_the_same_findings_and_notices_edits)
{
    char *file = in_folder("c.py"), *cache = in_folder("cache"), *all[] = {file};
    struct stet_lint_result cold, warm;

    write_file(file, "import jax\n@jax.jit\ndef f(x):\n    return x.item()\n");
    cold = run(all, 1, cache);
    warm = run(all, 1, cache);
    EXPECT_INT(0, cold.cached);
    EXPECT_INT(1, warm.cached);
    EXPECT_INT(1, cold.finding_count);
    EXPECT_INT(1, warm.finding_count);
    if (cold.finding_count == 1 && warm.finding_count == 1)
        EXPECT_STR(cold.findings[0].id, warm.findings[0].id);
    stet_lint_release(&cold);
    stet_lint_release(&warm);
    write_file(file, "import jax\n@jax.jit\ndef f(x):\n    return x\n");
    warm = run(all, 1, cache);
    EXPECT_INT(0, warm.cached);
    EXPECT_INT(0, warm.finding_count);
    stet_lint_release(&warm);
}

TEST(a_baseline_knows_a_finding_whose_line_moved)
{
    char *file = in_folder("b.py"), *baseline = in_folder("baseline"), *all[] = {file};
    struct stet_lint_result r;
    struct stet_err err = STET_ERR_INIT;
    size_t known, gone;

    write_file(file, "import jax\n@jax.jit\ndef f(x):\n    return x.item()\n");
    r = run(all, 1, NULL);
    EXPECT_INT(STET_OK, stet_lint_baseline_write(&r, baseline, &err));
    stet_lint_release(&r);
    write_file(file,
               "import jax\n\n\n@jax.jit\ndef f(x):\n    y = float(x)\n    return x.item()\n");
    r = run(all, 1, NULL);
    EXPECT_INT(2, r.finding_count);
    EXPECT_INT(STET_OK, stet_lint_baseline_apply(&r, baseline, &known, &gone, &err));
    EXPECT_INT(1, known);
    EXPECT_INT(0, gone);
    EXPECT_INT(1, r.finding_count);
    if (r.finding_count == 1)
        EXPECT_INT(6, r.findings[0].line);
    stet_lint_release(&r);
    write_file(baseline, "something else\n");
    r = run(all, 1, NULL);
    EXPECT_INT(STET_BAD_INPUT, stet_lint_baseline_apply(&r, baseline, &known, &gone, &err));
    stet_lint_release(&r);
}

TEST(configuration_reads_its_keys_and_refuses_others)
{
    static const char good[] = "[project]\nname = 'x'\nselect = 3\n[tool.stet]\n"
                               "select = [\"value-branch\", # why\n  'host-sync',]\n"
                               "baseline = \"lint.txt\"\n[tool.other]\nunknown = [1]\n";
    static const char bad[] = "[tool.stet]\nselcet = ['a']\n";
    static const char open_string[] = "[tool.stet]\nselect = [\"a]\n";
    struct stet_lint_config c;
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_lint_config_text(&c, stet_view_str(good), "p", &err));
    EXPECT_INT(2, c.select_count);
    EXPECT_STR("host-sync", c.select[1]);
    EXPECT_STR("lint.txt", c.baseline);
    stet_lint_config_release(&c);
    EXPECT_INT(STET_USAGE, stet_lint_config_text(&c, stet_view_str(bad), "p", &err));
    stet_lint_config_release(&c);
    EXPECT_INT(STET_USAGE, stet_lint_config_text(&c, stet_view_str(open_string), "p", NULL));
    stet_lint_config_release(&c);
}

TEST(fixes_are_made_and_shown)
{
    static const char old[] = "import torch_xla\ndef train(opt, loader):\n"
                              "    for b in loader:\n        opt.zero_grad()\n"
                              "        for x in b:\n            x.backward()\n";
    struct stet_lint_result r;
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf text = STET_BUF_INIT, diff = STET_BUF_INIT;
    size_t count = 0;

    EXPECT_INT(STET_OK, stet_lint_text(&r, "x.py", stet_view_str(old), &err));
    stet_lint_fix_text(&r, "x.py", stet_view_str(old), &text, &count);
    stet_lint_fix_diff("x.py", stet_view_str(old), stet_buf_as_view(&text), &diff);
    EXPECT_INT(1, count);
    EXPECT_STR("--- a/x.py\n+++ b/x.py\n@@ -1,6 +1,6 @@\n import torch_xla\n"
               " def train(opt, loader):\n     for b in loader:\n"
               "-        opt.zero_grad()\n+        opt.zero_grad(set_to_none=False)\n"
               "         for x in b:\n             x.backward()\n",
               diff.ptr);
    stet_buf_release(&text);
    stet_buf_release(&diff);
    stet_lint_release(&r);
}

TEST(memory_that_runs_out_is_an_error_and_leaks_nothing)
{
    static const char text[] = "import jax\nfrom a import b\nclass A:\n    def f(self, x):\n"
                               "        return jax.jit(lambda v: v)(x)\n@jax.jit\ndef g(x):\n"
                               "    return x.item() if x > 0 else print(x)\n";
    struct stet_lint_result r;

    for (long n = 0; n < 400; n++) {
        enum stet_rc rc;

        stet_mem_fail_after(n, false);
        rc = stet_lint_text(&r, "x.py", stet_view_str(text), NULL);
        stet_mem_fail_after(-1, false);
        EXPECT(rc == STET_OK || rc == STET_NO_MEMORY || rc == STET_LIMIT);
        if (rc == STET_OK)
            stet_lint_release(&r);
    }
}
