/* base: growable arrays, maps, interned texts, clocks and paths. */
#include "base/clock.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"

#include "test.h"

#include <stdlib.h>

/* ---- vec ---- */

struct pair {
    int a, b;
};

TEST(a_path_below_a_folder_is_named_from_there_on)
{
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("/a/b/c.py"), "/a/b"), "c.py"));
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("/a/b/c/d.py"), "/a/b"), "c/d.py"));
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("/a/bc/d.py"), "/a/b"), "/a/bc/d.py"));
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("/a/b/"), "/a/b"), "/a/b/"));
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("/c.py"), "/"), "/c.py"));
    EXPECT(stet_view_is(stet_path_below(STET_VIEW("c.py"), ""), "c.py"));
    EXPECT_INT(0, stet_path_below(STET_VIEW(""), "/a").len);
}

TEST(vec_keeps_its_items_while_it_grows)
{
    STET_VEC(int) v = {0};

    for (int i = 0; i < 1000; i++)
        STET_VEC_PUSH(&v, i);
    EXPECT(!v.failed);
    EXPECT_INT(1000, v.count);
    for (int i = 0; i < 1000; i++)
        EXPECT_INT(i, v.items[i]);
    STET_VEC_RELEASE(&v);
    EXPECT(!v.items && !v.count && !v.room);
}

TEST(vec_takes_literals_and_gives_zeroed_items)
{
    STET_VEC(struct pair) v = {0};
    struct pair *p;

    STET_VEC_PUSH(&v, (struct pair){1, 2});
    for (int i = 0; i < 40; i++) {
        p = STET_VEC_ADD(&v);
        EXPECT(p && p->a == 0 && p->b == 0);
        if (p)
            *p = (struct pair){7, 7};
    }
    EXPECT_INT(41, v.count);
    EXPECT_INT(2, v.items[0].b);
    STET_VEC_RELEASE(&v);
}

TEST(vec_stops_at_its_cap_and_stays_stopped)
{
    STET_VEC(int) v = {.cap = 20};

    for (int i = 0; i < 30; i++)
        STET_VEC_PUSH(&v, i);
    EXPECT(v.failed);
    EXPECT_INT(20, v.count);
    EXPECT_INT(20, v.room);
    EXPECT_INT(19, v.items[19]);
    EXPECT(!STET_VEC_ADD(&v));
    STET_VEC_RELEASE(&v);
    EXPECT(!v.failed);
    EXPECT_INT(20, v.cap);
}

#ifdef STET_FAULT_INJECTION
TEST(vec_without_memory_keeps_what_it_has)
{
    STET_VEC(int) v = {0};

    for (int i = 0; i < 16; i++)
        STET_VEC_PUSH(&v, i);
    stet_mem_fail_after(0, false);
    STET_VEC_PUSH(&v, 16);
    stet_mem_fail_after(-1, false);
    EXPECT(v.failed);
    EXPECT_INT(16, v.count);
    EXPECT_INT(15, v.items[15]);
    STET_VEC_PUSH(&v, 17); /* memory is there again; the failure sticks */
    EXPECT_INT(16, v.count);
    STET_VEC_RELEASE(&v);
}
#endif

TEST(vec_reserves_many_at_once_and_refuses_what_overflows)
{
    STET_VEC(uint64_t) v = {.cap = SIZE_MAX};
    uint64_t *items = NULL;
    size_t room = 0;

    EXPECT(STET_VEC_RESERVE(&v, 1000));
    EXPECT(v.room >= 1000 && v.count == 0);
    EXPECT(!STET_VEC_RESERVE(&v, SIZE_MAX / 4));
    EXPECT(v.failed);
    STET_VEC_RELEASE(&v);
    EXPECT(!stet_vec_grow(&items, &room, SIZE_MAX, 2, 8, SIZE_MAX));
    EXPECT(!stet_vec_grow(&items, &room, STET_VEC_DEFAULT_CAP, 1, 1, 0));
    EXPECT(!items && room == 0);
}

TEST(an_array_of_three_variables_grows_the_same_way)
{
    struct pair *items = NULL;
    size_t room = 0, count = 0;

    while (count < 100) {
        EXPECT(stet_vec_room(&items, &room, count, sizeof *items));
        items[count] = (struct pair){(int)count, 0};
        count++;
    }
    EXPECT_INT(99, items[99].a);
#ifdef STET_FAULT_INJECTION
    stet_mem_fail_after(0, false);
    EXPECT(!stet_vec_grow(&items, &room, count, 1000, sizeof *items, 0));
    stet_mem_fail_after(-1, false);
    EXPECT_INT(99, items[99].a);
#endif
    stet_mem_free(items);
}

/* ---- map ---- */

TEST(map_finds_what_was_put_under_any_key)
{
    struct stet_map m = {0};

    EXPECT_INT(STET_MAP_NONE, stet_map_get(&m, 0));
    for (uint32_t i = 0; i < 10000; i++) {
        EXPECT(stet_map_put(&m, i, i + 1));
        EXPECT(stet_map_put(&m, (uint64_t)i << 40 | 1u << 31, i));
    }
    EXPECT_INT(20000, m.count);
    for (uint32_t i = 0; i < 10000; i++) {
        EXPECT_INT(i + 1, stet_map_get(&m, i));
        EXPECT_INT(i, stet_map_get(&m, (uint64_t)i << 40 | 1u << 31));
    }
    EXPECT_INT(STET_MAP_NONE, stet_map_get(&m, 10000));
    stet_map_release(&m);
    EXPECT(!m.slots && !m.room);
}

TEST(map_put_replaces_and_add_keeps_in_order)
{
    struct stet_map m = {0};
    uint32_t at = 0;

    EXPECT(stet_map_put(&m, 5, 1));
    EXPECT(stet_map_put(&m, 5, 2));
    EXPECT_INT(1, m.count);
    EXPECT_INT(2, stet_map_get(&m, 5));
    for (uint32_t i = 0; i < 200; i++) /* grows several times */
        EXPECT(stet_map_add(&m, 9, i));
    for (uint32_t i = 0; i < 200; i++)
        EXPECT_INT(i, stet_map_next(&m, 9, &at));
    EXPECT_INT(STET_MAP_NONE, stet_map_next(&m, 9, &at));
    EXPECT_INT(2, stet_map_get(&m, 5));
    for (at = 0; stet_map_next(&m, 9, &at) != 150;)
        ;
    stet_map_replace(&m, 9, at, 999);
    EXPECT_INT(151, stet_map_next(&m, 9, &at));
    for (at = 0; stet_map_next(&m, 9, &at) != 149;)
        ;
    EXPECT_INT(999, stet_map_next(&m, 9, &at));
    stet_map_release(&m);
}

TEST(map_finds_texts_by_their_hash_and_a_comparison)
{
    static const char *const words[] = {"loss", "step", "rate", "loss"};
    struct stet_map m = {0};
    uint32_t at = 0, found;

    for (uint32_t i = 0; i < 4; i++)
        EXPECT(stet_map_add(&m, stet_map_text(stet_view_str(words[i])), i));
    while ((found = stet_map_next(&m, stet_map_text(STET_VIEW("rate")), &at)) != STET_MAP_NONE)
        EXPECT_STR("rate", words[found]);
    EXPECT_INT(2, stet_map_get(&m, stet_map_text(STET_VIEW("rate"))));
    at = 0;
    EXPECT_INT(0, stet_map_next(&m, stet_map_text(STET_VIEW("loss")), &at));
    EXPECT_INT(3, stet_map_next(&m, stet_map_text(STET_VIEW("loss")), &at));
    EXPECT_INT(STET_MAP_NONE, stet_map_get(&m, stet_map_text(STET_VIEW("los"))));
    stet_map_release(&m);
}

TEST(map_keys_of_one_slot_are_distinguished_when_the_table_wraps)
{
    struct stet_map m = {0};
    uint64_t keys[31];
    size_t n = 0;

    /* Keys whose place is the last one of the first table. */
    for (uint64_t k = 0; n < 31; k++)
        if ((k * UINT64_C(0x9e3779b97f4a7c15) >> 32 & 63) == 63)
            keys[n++] = k;
    for (size_t i = 0; i < n; i++)
        EXPECT(stet_map_put(&m, keys[i], (uint32_t)i));
    EXPECT_INT(64, m.room);
    for (size_t i = 0; i < n; i++)
        EXPECT_INT(i, stet_map_get(&m, keys[i]));
    for (uint32_t i = 0; i < 40; i++)
        EXPECT(stet_map_put(&m, UINT64_MAX - i, 1));
    EXPECT(m.room > 64);
    for (size_t i = 0; i < n; i++)
        EXPECT_INT(i, stet_map_get(&m, keys[i]));
    stet_map_release(&m);
}

#ifdef STET_FAULT_INJECTION
TEST(map_without_memory_fails_and_keeps_what_it_has)
{
    struct stet_map m = {0};

    stet_mem_fail_after(0, false);
    EXPECT(!stet_map_put(&m, 1, 1));
    stet_mem_fail_after(-1, false);
    EXPECT(m.failed);
    stet_map_release(&m);
    EXPECT(!m.failed);
    for (uint32_t i = 0; i < 32; i++)
        EXPECT(stet_map_put(&m, i, i));
    stet_mem_fail_after(0, false);
    EXPECT(!stet_map_put(&m, 32, 32));
    EXPECT(stet_map_put(&m, 31, 7)); /* a key that is there needs no memory */
    stet_mem_fail_after(-1, false);
    EXPECT(m.failed);
    EXPECT_INT(7, stet_map_get(&m, 31));
    EXPECT_INT(STET_MAP_NONE, stet_map_get(&m, 32));
    EXPECT(!stet_map_put(&m, 1, STET_MAP_NONE));
    stet_map_release(&m);
}
#endif

TEST(map_at_its_cap_fails)
{
    struct stet_map capped = {.cap = 3};

    for (uint32_t i = 0; i < 3; i++)
        EXPECT(stet_map_add(&capped, i, i));
    EXPECT(!stet_map_add(&capped, 3, 3));
    EXPECT(capped.failed);
    stet_map_release(&capped);
}

/* ---- intern ---- */

TEST(equal_texts_have_one_number_and_one_copy)
{
    struct stet_intern t;
    char text[16];

    stet_intern_init(&t, 1 << 20);
    EXPECT_INT(STET_INTERN_NONE, stet_intern_find(&t, STET_VIEW("a")));
    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "n%d", i % 1000);
        EXPECT_INT(i % 1000, stet_intern_add(&t, stet_view_str(text)));
    }
    EXPECT_INT(1000, t.count);
    EXPECT_STR("n999", t.items[999].ptr);
    EXPECT_INT(7, stet_intern_find(&t, STET_VIEW("n7")));
    EXPECT(stet_intern_view(&t, STET_VIEW("n7")).ptr == t.items[7].ptr);
    EXPECT_INT(1000, stet_intern_add(&t, (struct stet_view){0}));
    EXPECT_INT(1000, stet_intern_add(&t, STET_VIEW("")));
    EXPECT_INT(0, stet_intern_view(&t, STET_VIEW("")).len);
    EXPECT(!t.failed);
    stet_intern_release(&t);
}

TEST(borrowed_texts_are_not_copied)
{
    static const char text[] = "one two one";
    struct stet_intern t;

    stet_intern_borrow(&t);
    EXPECT_INT(0, stet_intern_add(&t, stet_view_of(text, 3)));
    EXPECT_INT(1, stet_intern_add(&t, stet_view_of(text + 4, 3)));
    EXPECT_INT(0, stet_intern_add(&t, stet_view_of(text + 8, 3)));
    EXPECT(t.items[0].ptr == text && t.items[1].ptr == text + 4);
    stet_intern_release(&t);
}

#ifdef STET_FAULT_INJECTION
TEST(interning_fails_once_for_each_allocation_and_keeps_what_it_has)
{
    int reached = 0;

    for (long n = 0; n < 12; n++) {
        struct stet_intern t;
        char text[16];

        stet_intern_init(&t, 1 << 20);
        stet_mem_fail_after(n, true);
        for (int i = 0; i < 100; i++) {
            snprintf(text, sizeof text, "n%d", i);
            stet_intern_add(&t, stet_view_str(text));
        }
        stet_mem_fail_after(-1, false);
        reached += t.failed;
        for (uint32_t i = 0; i < t.count; i++)
            EXPECT_INT(i, stet_intern_find(&t, t.items[i]));
        EXPECT(t.failed == (t.count < 100));
        stet_intern_release(&t);
    }
    EXPECT(reached >= 5);
}
#endif

TEST(interning_stops_at_the_cap_of_its_copies)
{
    struct stet_intern t;
    char text[100];

    stet_intern_init(&t, 8192);
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "%099d", i);
        stet_intern_add(&t, stet_view_str(text));
    }
    EXPECT(t.failed);
    EXPECT(t.count > 20 && t.count < 200);
    EXPECT_INT(0, stet_intern_find(&t, t.items[0]));
    stet_intern_release(&t);
}

/* ---- clock ---- */

TEST(clocks_run)
{
    uint64_t before = stet_clock_ns();

    EXPECT(stet_clock_ns() >= before);
    EXPECT(stet_clock_wall_ns() > UINT64_C(1600000000) * 1000000000);
}

#ifdef STET_FAULT_INJECTION
TEST(clocks_can_be_stopped)
{
    uint64_t before = stet_clock_ns();

    stet_clock_stop(5000000, 7);
    EXPECT_INT(5000000, stet_clock_ns());
    EXPECT_INT(5, stet_clock_ms());
    EXPECT_INT(7, stet_clock_wall_ns());
    stet_clock_advance(1000000);
    EXPECT_INT(6, stet_clock_ms());
    EXPECT_INT(1000007, stet_clock_wall_ns());
    stet_clock_resume();
    EXPECT(stet_clock_ns() >= before);
}
#endif

/* ---- path ---- */

TEST(paths_are_taken_apart_by_their_slashes)
{
    EXPECT_STR("c.py", stet_path_base_str("a/b/c.py"));
    EXPECT_STR("c.py", stet_path_base_str("c.py"));
    EXPECT_STR("", stet_path_base_str("a/"));
    EXPECT(stet_view_is(stet_path_base(STET_VIEW("a/b")), "b"));
    EXPECT_INT(0, stet_path_base((struct stet_view){0}).len);
    EXPECT(stet_view_is(stet_path_folder(STET_VIEW("a/b/c.py")), "a/b"));
    EXPECT(stet_view_is(stet_path_folder(STET_VIEW("/c.py")), "/"));
    EXPECT(stet_view_is(stet_path_folder(STET_VIEW("c.py")), "."));
}

TEST(a_file_of_python_is_installed_or_the_users_own)
{
    static const char *const installed[] = {"/opt/env/lib/python3.11/site-packages/jax/_src/api.py",
                                            "/usr/lib/python3/dist-packages/numpy/core.py",
                                            "site-packages/torch/nn/functional.py",
                                            "/usr/lib/python3.12/functools.py",
                                            "/opt/lib64/python3.13t/functools.py",
                                            "/opt/pypy/lib/pypy3.10/functools.py",
                                            "<frozen importlib._bootstrap>",
                                            "/opt/lib/stet/python/stet_cpu/callbacks.py",
                                            "",
                                            NULL};
    static const char *const own[] = {"/home/me/train.py",
                                      "/home/me/lib/python3-tools/train.py",
                                      "/home/me/lib/python3.11-env/train.py",
                                      "/home/me/my-packages/train.py",
                                      "/src/flax/flax/linen/module.py", /* an editable install */
                                      "<stdin>",
                                      NULL};

    for (const char *const *f = installed; *f; f++)
        EXPECT(stet_path_is_installed(stet_view_str(*f)));
    for (const char *const *f = own; *f; f++)
        EXPECT(!stet_path_is_installed(stet_view_str(*f)));
}

/* ---- views ---- */

TEST(views_lose_the_blanks_around_them)
{
    EXPECT(stet_view_is(stet_view_trim(STET_VIEW(" \t\r\na b\r\n ")), "a b"));
    EXPECT_INT(0, stet_view_trim(STET_VIEW(" \n")).len);
    EXPECT(stet_is_word('_') && stet_is_word('9') && !stet_is_word('.') && !stet_is_word('\xc3'));
}
