"""Facts about the report: its data, and the page in a real browser.

usage: test_page.py BUILD_DIR [unittest arguments]
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

BUILD = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
MAKE_RUN = os.path.join(BUILD, "bin", "make_run")
FIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "fit", "exceeds.json")
TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch")
# What a name, a path and a line of source may hold: ends of scripts, tags, quotes, comments, bytes that are no text.
HOSTILE = """</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><!--'"&amp;\u2028{{data}}"""
A, B, EVIL, LAZY = "20260101-000000-aaaaaa", "20260102-000000-bbbbbb", "20260103-000000-cccccc", "20260104-000000-dddddd"
SHOWN = "Number(document.getElementById('status').textContent.split(' ')[0].replace(',', ''))"


def setUpModule():
    global DIR, ENV, browser
    DIR = tempfile.mkdtemp(prefix="stet-report-")
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE=os.path.join(DIR, "store"), NO_COLOR="1")
    ENV.pop("STET_LEDGER", None)
    source = os.path.join(DIR, "train.py")
    with open(source, "w", encoding="utf-8") as f:
        f.write("import jax\ndef train_step(batch):\n    return batch * batch\ndef main():\n    train_step(1)\n")
    evil = os.path.join(DIR, HOSTILE.replace("/", "_") + ".py")
    with open(evil, "wb") as f:
        f.write(f"# {HOSTILE}\n\n    x = '{HOSTILE}' \n".encode() + b"    y = '\xff\xfe\x00\x1b[31m'\n\n")
    for run, compiles, ranks, path, *name in ((A, 40, 2, source), (B, 24, 1, source), (EVIL, 12, 1, evil, "f" + HOSTILE),
                                               (LAZY, 12, 1, source, "step.")):
        subprocess.run([MAKE_RUN, ENV["STET_STATE_DIR"], run, str(compiles), str(ranks), path, *name], check=True, timeout=60)
    browser = Browser()


def tearDownModule():
    browser.__exit__()
    shutil.rmtree(DIR, ignore_errors=True)


def stet(*args):
    return subprocess.run([STET, *args], cwd=DIR, env=ENV, capture_output=True, text=True, timeout=120)


def page_of(*runs, **how):
    path = os.path.join(DIR, "-".join(runs) + ".html")
    out = stet("report", *runs, "-o", path)
    assert out.returncode == 0, out.stderr
    page = browser.page(**how)
    page.open("file://" + path)
    return page


def ingest():
    out = stet("torch", "ingest", os.path.join(TRACES, "train.log.zst"), os.path.join(TRACES, "inductor.log.zst"))
    assert out.returncode == 0, out.stderr
    return re.search(r"kept as run (\S+)", out.stdout)[1]


class Data(unittest.TestCase):
    def data(self, *args):
        out = stet("report", "--format=json", *args)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def test_every_compile_is_there_with_its_cause(self):
        d = self.data(A)
        self.assertEqual(d["schema"], "stet.report/1")
        run = d["runs"][0]
        columns = run["events"]
        self.assertEqual({len(c) for c in columns.values()}, {40})
        self.assertEqual({p["rank"] for p in run["processes"]}, {0, 1})
        # One of each rank is the first of its kind; the others were a size each.
        self.assertEqual(columns["cause"].count(-1), 2)
        self.assertEqual({run["causes"][c]["class"] for c in columns["cause"] if c >= 0}, {"shape-drift"})
        explained = json.loads(stet("explain", "--format=json", A).stdout)
        self.assertEqual(run["totals"]["recompiles"], len(explained["recompiles"]))
        self.assertAlmostEqual(run["totals"]["lost_s"], explained["lost_s"])
        self.assertAlmostEqual(run["totals"]["wait_s"], explained["wait_s"])
        self.assertEqual(sum(c["times"] for c in run["causes"]), len(explained["recompiles"]))

    def test_shapes_families_and_memory_come_from_the_programs(self):
        run = self.data(A)["runs"][0]
        grid, names = run["shapes"][0], run["names"]
        self.assertEqual([names[r["name"]] for r in grid["rows"]], ["batch['x']"])
        self.assertEqual([names[c] for c in grid["rows"][0]["cells"]][:3], ["f32[8,4]", "f32[16,4]", "f32[24,4]"])
        self.assertEqual(grid["steady"], 1)
        self.assertEqual(len(run["families"]), 1)  # one skeleton
        self.assertEqual(len(run["programs"]["hash"]), 20)
        self.assertEqual(max(run["events"]["temp_bytes"]), 20000)
        self.assertEqual({d["device"] for d in run["devices"]}, {0, 1})

    def test_graphs_of_one_traced_function_are_one_family(self):
        run = self.data(LAZY)["runs"][0]
        self.assertEqual([run["names"][f["function"]] for f in run["families"]], ["step"])  # not step.0, step.1 …
        self.assertEqual([run["names"][g["function"]] for g in run["shapes"]], ["step"])
        self.assertEqual({c["function"] for c in run["causes"]}, {"step"})

    def test_a_run_explained_by_another_version_is_explained_again(self):
        run, version = ingest(), json.loads(stet("version", "--format=json").stdout)["version"]
        with contextlib.closing(sqlite3.connect(os.path.join(ENV["STET_STATE_DIR"], "ledger.db"))) as ledger:
            for run in (run, B):
                wanted = self.data(run)["runs"][0]["causes"]
                ledger.execute("UPDATE recompile SET class = 'stale' WHERE run = ?", (run,))
                ledger.commit()
                kept = self.data(run)["runs"][0]["causes"]  # as it was kept: a cause that this stet does not know
                self.assertEqual({c["class"] for c in kept}, {"unknown"})
                self.assertTrue(all(c["evidence"].startswith('the ledger names the cause "stale", which this version') for c in kept))
                self.assertTrue(all(s[0].startswith(version) for s in ledger.execute("SELECT stamp FROM fed WHERE run = ?", (run,))))
                ledger.execute("UPDATE fed SET stamp = '0.0.0' || substr(stamp, ?) WHERE run = ?", (len(version) + 1, run))
                ledger.commit()
                self.assertEqual(self.data(run)["runs"][0]["causes"], wanted)

    def test_paths_below_the_working_folder_are_relative(self):
        self.assertIn("\n       train.py:5 in main\n", stet("show", A).stdout)
        self.assertIn("  trigger  train.py:5 in main\n", stet("explain", A).stdout)

    def test_the_offending_line_is_shown_in_its_excerpt(self):
        cause = self.data(A)["runs"][0]["causes"][0]
        self.assertEqual(cause["source"]["line"], 3)
        self.assertIn([3, "    return batch * batch"], cause["source"]["excerpt"])
        self.assertTrue(cause["fix"])

    def test_torch_frames_breaks_and_guards_are_there(self):
        run = self.data(ingest())["runs"][0]
        self.assertEqual(run["totals"]["torch_compiles"], 22)
        self.assertEqual(len(run["torch"]["frames"]), 9)
        self.assertEqual(len(run["torch"]["breaks"]), 2)
        self.assertIn("python-counter", {c["class"] for c in run["causes"]})
        # The logs were named in another order than their folder's: the compiles have their own causes all the same.
        events, causes = run["events"], run["causes"]
        of = {run["names"][run["families"][f]["function"]]: causes[c]["class"] for f, c in zip(events["family"], events["cause"]) if c >= 0}
        self.assertEqual(of["torch_dynamo_resume_in_g_at_19"], "graph-break")
        self.assertEqual(of["torch_dynamo_resume_in_br_at_27"], "value-branch")
        counter = next(g for g in run["shapes"] if run["names"][g["rows"][0]["name"]] == "s.c")
        self.assertEqual([run["names"][c] for c in counter["rows"][0]["cells"][:4]], ["0", "1", "2", "3"])
        self.assertIsNone(run["settled"]["step"])

    def test_the_page_of_two_runs_lists_what_changed(self):
        d = self.data(A, B)
        self.assertEqual([r["run"] for r in d["runs"]], [A, B])
        self.assertEqual(d["diff"]["schema"], "stet.rundiff/1")

    def test_usage_errors_have_messages(self):
        self.assertEqual(stet("report", "no-such-run").returncode, 3)
        self.assertEqual(stet("report", A, B, EVIL).returncode, 2)
        self.assertEqual(stet("report", "--format=json", "-o", "x").returncode, 2)
        self.assertEqual(stet("report", A, "-o", "/nowhere/x.html").returncode, 3)


class InTheBrowser(unittest.TestCase):
    def quiet(self, page):
        self.assertEqual(page.problems(), [])

    def test_the_headline_is_there_without_the_script(self):
        page_of(A)
        with open(os.path.join(DIR, A + ".html"), encoding="utf-8") as f:
            head = f.read().split('<script type="application/json"')[0]
        self.assertIn("Did input shapes change?", head)
        words = " ".join(re.sub(r"<[^>]*>", " ", head.split("<body>")[1]).split())
        for part in ("38× shape-drift in train_step, train.py:3 , waited", "return batch * batch", "Fix: Pad this dimension", "stet help shape-drift",
                     "recompiles in all 38 waited for them"):
            self.assertIn(part, words)

    def test_the_first_screen_names_the_cause_its_line_and_its_fix(self):  # 1440 x 900, the most common screen
        page = page_of(A, width=1440, height=900)
        for selector in (".head h1", ".head h1 code", ".culprit .source", ".culprit .fix", ".tiles"):
            self.assertLess(page.js(f"document.querySelector('{selector}').getBoundingClientRect().bottom"), 600, selector)
        self.quiet(page)

    def test_every_section_is_drawn_and_nothing_is_asked_of_the_network(self):
        page = page_of(A)
        there = page.js("[...document.querySelectorAll('main > section:not([hidden])')].map(s => s.id)")
        self.assertEqual(there, ["timeline", "causes", "lines", "families", "shapes", "buckets", "memory", "saved", "compiles", "processes"])
        self.assertEqual(page.js("document.querySelector('.code mark').textContent.trim()"), "3    return batch * batch")
        for fix in (".culprit .fix", ".cause .fix"):
            self.assertRegex(page.js(f"document.querySelector('{fix}').textContent"), r"^Fix: Pad this dimension.* stet help shape-drift$")
        self.assertTrue(page.js("(() => { const c = document.querySelector('canvas');"
                                " return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size > 8; })()"))
        self.quiet(page)

    def test_the_content_policy_blocks_foreign_scripts(self):
        page = page_of(A)
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(1)
            page.js("(() => { const at = 'http://127.0.0.1:%d/';" % server.getsockname()[1] +
                    " const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s);"
                    " const i = new Image(); i.src = at + 'x.png'; document.body.append(i);"
                    " return fetch(at).catch(() => 0); })()")
            with self.assertRaises(TimeoutError):
                server.accept()
        self.assertFalse(page.js("'hacked' in window"))
        self.assertTrue(any("Content Security Policy" in p for p in page.problems()))

    def test_filters_narrow_and_reset_widens(self):
        page = page_of(A)
        self.assertEqual(page.js(SHOWN), 40)
        choose = ("(() => {{ const s = document.getElementById('filter-{0}'); s.value = [...s.options].find(o => o.text.includes('{1}')).value;"
                  " s.dispatchEvent(new Event('change')); }})()")
        page.js(choose.format("rank", "rank 1"))
        self.assertEqual(page.js(SHOWN), 20)
        page.js(choose.format("cause", "first"))
        self.assertEqual(page.js(SHOWN), 1)
        page.click("#filter-reset")
        self.assertEqual(page.js(SHOWN), 40)
        page.js(choose.format("cause", "shape-drift"))
        self.assertEqual(page.js(SHOWN), 38)
        page.click("#filter-reset")
        page.click("#filter-text")
        page.send("Input.insertText", {"text": "no such thing"})
        page.wait(SHOWN + " === 0")
        self.assertIn("No cause passes", page.js("document.getElementById('causes').textContent"))
        self.quiet(page)

    def test_the_timeline_answers_keys_wheel_and_drag(self):
        page = page_of(A)
        view = "(() => { const [a, b] = Stet.timelines()[0].view(); return b - a; })()"
        start = "Stet.timelines()[0].view()[0]"
        whole = page.js(view)
        page.js("document.querySelector('canvas').focus()")
        page.key("+", "Equal", 187, "+")
        self.assertLess(page.js(view), whole)
        before = page.js(start)
        page.key("ArrowRight", number=39)
        self.assertGreater(page.js(start), before)
        page.key("Home", number=36)
        self.assertEqual(page.js(start), 0)
        whole = page.js(view)
        page.key("n", "KeyN", 78, "n")
        self.assertTrue(page.js("document.querySelector('.sr[aria-live]').textContent").startswith("1 of 40: train_step"))
        self.assertFalse(page.js("document.querySelector('.tip').hidden"))
        box = page.js("(() => { const r = document.querySelector('canvas').getBoundingClientRect(); return [r.x + r.width / 2, r.y + 20]; })()")
        page.send("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": box[0], "y": box[1], "deltaX": 0, "deltaY": -400})
        page.wait(f"{view} < {whole}")
        at = page.js(start)
        for kind, dx in (("mousePressed", 0), ("mouseMoved", -80), ("mouseReleased", -80)):
            page.send("Input.dispatchMouseEvent", {"type": kind, "x": box[0] + dx, "y": box[1], "button": "left", "buttons": 1, "clickCount": 1})
        self.assertGreater(page.js(start), at)
        self.quiet(page)

    def test_fingers_drag_and_pinch_the_timeline(self):
        page = page_of(A, width=390, height=800, mobile=True)
        page.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
        view = "(() => { const [a, b] = Stet.timelines()[0].view(); return b - a; })()"
        start = "Stet.timelines()[0].view()[0]"
        page.js("document.querySelector('canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
        x, y = page.js("(() => { const r = document.querySelector('canvas').getBoundingClientRect(); return [r.x + r.width / 2, r.y + 20]; })()")

        def touch(kind, *at):
            page.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x + dx, "y": y, "id": i} for i, dx in enumerate(at)]})

        def pinch(near, far):
            touch("touchStart", -near)
            touch("touchStart", -near, near)
            for step in range(1, 9):
                d = near + (far - near) * step / 8
                touch("touchMove", -d, d)
            touch("touchEnd")

        whole = page.js(view)
        pinch(30, 120)
        page.wait(f"{view} < {whole} * 0.6")
        near = page.js(view)
        at = page.js(start)
        touch("touchStart", 60)
        for d in (40, 10, -20, -60):
            touch("touchMove", d)
        touch("touchEnd")
        page.wait(f"{start} > {at}")
        self.assertAlmostEqual(page.js(view), near, delta=near / 1000)  # moved, not zoomed
        pinch(120, 30)
        page.wait(f"{view} > {near} * 1.5")
        self.assertEqual(page.js("visualViewport.scale"), 1)  # the page itself was not zoomed
        self.quiet(page)

    def test_a_screen_reader_finds_landmarks_headings_and_names(self):
        page = page_of(A)
        nodes = [n for n in page.send("Accessibility.getFullAXTree")["nodes"] if not n.get("ignored")]
        said = [(n.get("role", {}).get("value"), n.get("name", {}).get("value", "")) for n in nodes]
        roles = {role for role, _ in said}
        self.assertTrue({"main", "navigation", "banner", "table", "columnheader", "list"} <= roles, sorted(map(str, roles)))
        headings = [name for role, name in said if role == "heading"]
        for title in ("Timeline", "Causes and fixes", "Cost by line", "Program families", "Memory", "Every compile"):
            self.assertIn(title, headings)
        named = ("button", "link", "combobox", "searchbox", "textbox", "checkbox", "table", "img", "application", "DisclosureTriangle")
        self.assertEqual([(role, name) for role, name in said if role in named and not name.strip()], [])
        self.assertTrue(any("Timeline of compiles" in name for _, name in said))
        self.assertTrue(any(role == "status" or role == "StatusIndicator" for role, _ in said) or
                        page.js("document.querySelectorAll('[aria-live]').length") > 0)

    def test_tables_sort_and_turn_pages_and_the_keyboard_reaches_all(self):
        page = page_of(A)
        page.click("#compiles button[data-key=step]")
        page.click("#compiles button[data-key=wait]")
        self.assertEqual(page.js("document.querySelector('#compiles th[aria-sort]').textContent.trim()"), "waited ▼")
        page.js("document.body.focus()")
        seen = set()
        for _ in range(120):
            page.key("Tab", number=9)
            seen.add(page.js("(() => { const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.textContent.slice(0, 30); })()"))
        self.assertTrue({"filter-cause", "filter-text", "filter-reset", "Zoom in"} <= seen, seen)
        self.assertTrue(any("Timeline of compiles" in s for s in seen))
        self.quiet(page)

    def test_hostile_names_paths_and_lines_stay_text(self):
        page = page_of(EVIL)
        self.assertFalse(page.js("'hacked' in window"))
        self.assertEqual(page.js("document.querySelectorAll('img').length"), 0)
        self.assertEqual(page.js("document.querySelectorAll('script').length"), 6)
        text = page.js("document.getElementById('causes').textContent")
        self.assertIn("</script><script>window.hacked=1</script>", text)
        self.assertIn("</script>", page.js("document.querySelector('.head code').textContent.replaceAll('<_', '</')"))
        self.quiet(page)

    def test_the_first_lines_of_a_fit_are_read_and_another_form_is_ignored(self):
        with open(FIT) as f:
            fit = json.load(f)
        evil = json.loads(json.dumps(fit).replace("jit_step", "j" + json.dumps(HOSTILE)[1:-1]))
        forms = (fit, evil, {"schema": "stet.fit/1"}, [1], {"programs": {"length": "many"}}, "no", {"topology": None})
        for n, form in enumerate(forms):
            with open(f"{ENV['STET_STATE_DIR']}/runs/{LAZY}/fit-{n}.json", "w") as f:
                json.dump(form, f)
        page = page_of(LAZY)
        first = page.js("document.querySelector('#fit article').innerText")
        for words in ("v6e:1x1", "does not fit: 1.3 GB too much", "32.5 GB at the peak, in jit_step; a device has 31.2 GB",
                      "24.0 GB of temporaries from user/step.py:22", "Try: compute activations again"):
            self.assertIn(words, first)
        self.assertFalse(page.js("'hacked' in window"))
        self.assertEqual(page.js("document.querySelectorAll('#fit article').length"), 2)
        self.assertIn("A fit of this run cannot be shown.", page.js("document.getElementById('fit').textContent"))
        self.quiet(page)
        page = page_of(LAZY, width=360, height=740, mobile=True)
        self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 360)

    def test_the_page_follows_the_system_and_its_switch(self):
        page = page_of(A, dark=True)
        colour = "getComputedStyle(document.body).backgroundColor"
        self.assertEqual(page.js(colour), "rgb(14, 17, 22)")
        page.click("#tools button")
        self.assertEqual(page.js(colour), "rgb(246, 247, 249)")
        self.quiet(page)

    def test_a_phone_needs_no_sideways_scrolling(self):
        for run in (A, EVIL, ingest()):
            page = page_of(run, width=360, height=740, mobile=True)
            self.assertLessEqual(page.js("document.documentElement.scrollWidth"), 360)
            self.quiet(page)

    def test_print_shows_what_is_folded(self):
        page = page_of(A)
        page.send("Emulation.setEmulatedMedia", {"media": "print"})
        page.js("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.js("document.querySelectorAll('.cause details:not([open])').length"), 0)
        self.assertEqual(page.js("getComputedStyle(document.getElementById('filters')).display"), "none")
        self.assertGreater(len(page.send("Page.printToPDF")["data"]), 10000)

    def test_text_has_enough_contrast_and_controls_have_names(self):
        for dark in (False, True):
            page = page_of(A, dark=dark)
            weak = page.js(CONTRAST)
            self.assertEqual(weak, [])
            self.assertEqual(page.js("[...document.querySelectorAll('button, select, input, canvas, svg')].filter(e => !(e.getAttribute('aria-label')"
                                     " || e.textContent.trim() || e.closest('label'))).length"), 0)

    def test_torch_and_two_runs_are_drawn(self):
        page = page_of(ingest())
        self.assertIn("guard", page.js("document.getElementById('main').textContent"))
        self.assertEqual(page.js("document.querySelectorAll('#torch details').length"), 9)
        self.quiet(page)
        page = page_of(A, B)
        self.assertEqual(page.js("document.querySelectorAll('.head').length"), 2)
        self.assertEqual(page.js("document.querySelectorAll('canvas').length"), 2)
        self.assertIn("recompiles", page.js("document.getElementById('two').textContent"))
        page.js("(() => { const s = document.getElementById('filter-run'); s.value = '0'; s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(page.js(SHOWN), 40)
        self.quiet(page)

    def test_more_executions_are_not_marked_as_worse(self):
        page = page_of(B, A)
        rows = "[...Stet.sideBySide().querySelectorAll('tr')].filter(r => /^(compiles|executions)/.test(r.textContent))"
        page.js("Stet.runs.forEach((run, i) => { run.totals.executions = 1 + 638 * i; })")
        self.assertEqual(page.js(rows + ".map(r => r.querySelector('span').className)"), ["bad", "muted"])

    def test_a_load_that_took_longer_than_compiling_saved_nothing(self):
        page = page_of(A)
        slow = "{totals: {}, saved: [{served: 'disk', times: 1, known: 1, load_s: 2, compile_s: 1}], not_compiled: {avoided: {lines: []}}}"
        self.assertEqual(page.js(f"[...Stet.saved({slow}).querySelectorAll('tbody td')].map(c => c.textContent)"),
                         ["disk", "1", "2.0 s", "1.0 s", "nothing"])

    def test_compiles_that_lifting_makes_itself_are_reported(self):
        page = page_of(A)
        run = ("{totals: {}, saved: [], not_compiled: {unlifted: [{function: 'f', file: 'a.py', line: 3, why: 'a callback'}],"
               " lifting: {compared: 2, in_background: 1, in_background_s: 2, plain: 2, plain_s: 3, plain_waited_s: 1, different: []}}}")
        self.assertEqual(page.js(f"[...Stet.saved({run}).querySelectorAll('p')].map(p => p.textContent).slice(1)"),
                         ["f (a.py:3) is not lifted, so each of its programs is compiled: a callback",
                          "1 lifted program compiled in the background: 2.0 s",
                          "2 lifted programs compiled as written too, to compare results: 3.0 s, of which 1.0 s were waited for"])


# Pairs of colours below 4.5 (3 for large text), by WCAG's formula, of every text on the page.
CONTRAST = """(() => {
  const rgb = (c) => c.match(/[0-9.]+/g).map(Number);
  const light = (c) => { const f = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const below = (e) => { const stack = []; for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
      const a = c.length > 3 ? c[3] : 1; if (a > 0) stack.push([c, a]); if (a === 1) break; }
    return stack.reverse().reduce((under, [c, a]) => c.slice(0, 3).map((v, i) => v * a + under[i] * (1 - a)), [255, 255, 255]); };
  const weak = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest('script, style, svg, .skip')) continue;
    const s = getComputedStyle(e), a = light(rgb(s.color)), b = light(below(e)), size = parseFloat(s.fontSize);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (size >= 24 || (size >= 18.6 && s.fontWeight >= 700) ? 3 : 4.5)) weak.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 20));
  }
  return [...weak];
})()"""

if __name__ == "__main__":
    unittest.main()
