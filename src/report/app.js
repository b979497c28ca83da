"use strict";
// Puts the page together: theme, filters, sections in their order.
(() => {
  const { el, state, filters, runs, section } = Stet, root = document.documentElement;
  const main = document.getElementById("main"), status = document.getElementById("status");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let timelines = [];

  // ---- theme: the system's, until somebody says otherwise ----
  const stored = () => { try { return localStorage.getItem("stet-theme"); } catch (e) { return null; } };
  const themeButton = el("button", { type: "button", onclick: () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("stet-theme", next); } catch (e) { /* a file of its own may keep nothing */ }
    theme(next);
  } });
  function theme(name) {
    root.dataset.theme = name || (dark.matches ? "dark" : "light");
    themeButton.textContent = root.dataset.theme === "dark" ? "☀ Light" : "☾ Dark";
    themeButton.setAttribute("aria-label", "Switch to " + (root.dataset.theme === "dark" ? "light" : "dark") + " colours");
    timelines.forEach((t) => t.redraw());
  }
  dark.addEventListener("change", () => theme(stored()));

  // ---- sections ----
  const parts = [["ranks", "Ranks", Stet.ranks], ["causes", "Causes and fixes", Stet.causes], ["lines", "Lines", Stet.lines], ["families", "Families", Stet.families], ["shapes", "Shapes", Stet.shapes], ["buckets", "Buckets", Stet.buckets],
    ["memory", "Memory", Stet.memory], ["fit", "Fit", Stet.fit], ["startup", "Start", Stet.startup], ["saved", "Saved", Stet.saved], ["torch", "torch.compile", Stet.torch], ["compiles", "Every compile", Stet.compiles], ["processes", "Processes", Stet.bundle]];

  function legend(run) {
    const item = (cls, text) => el("li", {}, el("span", { class: "swatch " + cls, "aria-hidden": "true" }), text);
    return el("ul", { class: "legend", "aria-label": "Colours" }, [...run.classes].map(([name, k]) => item("k" + k, name)), item("", "first of its kind, or harmless"),
      item("sw-saved", "served or loaded"), run.processes.some((p) => p.steps_done.length) ? item("sw-step", "a step done, with its number") : null);
  }
  function timelineSection() {
    timelines = (runs.length > 1 ? runs : [state.run]).map((run) => ({ run, ...Stet.timeline(run, runs.length > 1 ? (run === runs[0] ? "A" : "B") : "") }));
    const note = "drag to move, pinch or wheel (when focused, or with Ctrl) to zoom";
    const holder = el("div", { id: "timeline-table" });
    return section("timeline", "Timeline", note, timelines.map((t) => t.element), legend(state.run), holder);
  }
  function fill() {
    Stet.apply();
    const run = state.run;
    for (const t of timelines) t.show(t.run === run ? state.events : [...t.run.order]);
    document.getElementById("timeline-table").replaceChildren(Stet.asTable("The timeline as a table", Stet.timelineTable(run, state.events)));
    const there = [];
    for (const [id, name, make] of parts) {
      const now = make(run) || el("section", { id, hidden: true });
      const was = document.getElementById(id);
      if (was) was.replaceWith(now);
      else if (id === "ranks") main.prepend(now); // before everything else
      else main.append(now);
      if (!now.hidden) there.push([id, name]);
    }
    const first = there.filter(([id]) => id === "ranks"), rest = there.filter(([id]) => id !== "ranks");
    document.getElementById("nav").replaceChildren(...[].concat(first, runs.length > 1 ? [["two", "Side by side"]] : [], [["timeline", "Timeline"]], rest)
      .map(([id, name]) => el("a", { href: "#" + id, text: name })));
    status.textContent = Stet.count(state.events.length, "compile") + " of " + run.size.toLocaleString("en") + " shown, " + Stet.count(state.causes.length, "cause");
  }

  // ---- filters ----
  function choice(key, label, options) {
    if (options.length < 2) return null;
    return el("label", {}, label, el("select", { id: "filter-" + key, onchange: (ev) => { filters[key] = ev.target.value; fill(); } },
      el("option", { value: "", text: "all" }), options.map(([value, text]) => el("option", { value, text }))));
  }
  function filterBar() {
    const run = state.run, e = run.events, costs = new Map(), has = new Set(e.process);
    for (let i = 0; i < run.size; i++) costs.set(e.family[i], (costs.get(e.family[i]) || 0) + e.wait_us[i]);
    const families = [...costs].sort((a, b) => b[1] - a[1]).slice(0, 200).map(([f]) => [String(f), run.familyName(f)]);
    const classes = [...new Set(run.causes.map((c) => c.class))].sort().map((c) => [c, c]).concat([["first", "first of its kind"]]);
    const ranks = run.processes.map((p, i) => [String(i), Stet.processLabel(run, i)]).filter(([i]) => has.has(Number(i)));
    Object.assign(filters, { cause: "", family: "", rank: "", text: "", harmless: false });
    let wait = 0;
    document.getElementById("filters").replaceChildren(...[
      runs.length > 1 ? el("label", {}, "Run", el("select", { id: "filter-run", onchange: (ev) => { state.run = runs[Number(ev.target.value)]; start(); } },
        runs.map((r, i) => el("option", { value: i, selected: r === run, text: "AB"[i] + " " + r.run })))) : null,
      choice("cause", "Cause", classes), choice("family", "Family", families), choice("rank", "Rank or process", ranks),
      el("label", {}, "Text", el("input", { type: "search", id: "filter-text", placeholder: "name, file, guard…", oninput: (ev) => {
        filters.text = ev.target.value;
        clearTimeout(wait);
        wait = setTimeout(fill, 120);
      } })),
      run.causes.some((c) => c.benign) ? el("label", { class: "check" }, el("input", { type: "checkbox", id: "filter-harmless", checked: filters.harmless, onchange: (ev) => { filters.harmless = ev.target.checked; fill(); } }), "harmless ones too") : null,
      el("button", { type: "button", id: "filter-reset", text: "Reset", onclick: () => { filterBar(); fill(); } }),
    ].filter(Boolean));
  }

  function start() {
    main.replaceChildren();
    filterBar();
    if (runs.length > 1) main.append(Stet.sideBySide());
    main.append(timelineSection());
    fill();
  }

  theme(stored());
  document.getElementById("tools").append(themeButton, el("button", { type: "button", text: "Print", onclick: () => window.print() }));
  // Ink shows what a click would: folded parts open while printing.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".cause details:not([open])")];
    opened.forEach((d) => { d.open = true; });
    theme("light");
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((d) => { d.open = false; });
    theme(stored());
  });
  // The headline is painted before the rest is made.
  requestAnimationFrame(() => setTimeout(() => {
    start();
    document.documentElement.dataset.ready = "yes";
    performance.mark("drawn");
  }));
  Stet.timelines = () => timelines;
})();
