"use strict";
// Compiles and steps over time, on a canvas: wheel, drag, pinch and keys move it.
(() => {
  const { el, seconds, count } = Stet;
  const ROW = 34, STEPS = 20, TOP = 8, AXIS = 22;

  const colours = () => {
    const style = getComputedStyle(document.documentElement), of = (n) => style.getPropertyValue(n).trim();
    return { fg: of("--fg"), muted: of("--muted"), line: of("--line"), first: of("--first"), good: of("--good"),
      bad: of("--bad"), card: of("--card"), k: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => of("--c" + i)) };
  };

  function ticks(from, to, most) {
    const raw = (to - from) / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw), out = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
    return out;
  }

  // Marks less than 0.1 s apart need more places than a time elsewhere.
  function markText(us, apart) {
    const places = -Math.floor(Math.log10(apart / 1e6));
    if (us === 0) return "0";
    return us >= 1e6 && us < 100e6 && places > 1 ? (us / 1e6).toFixed(places) + " s" : seconds(us / 1e6);
  }

  function label(p, run) {
    const many = run.processes.length > 1;
    return (p.rank !== null ? "rank " + p.rank : many ? "process " + p.pid : "") + (p.lane === "torch" ? " torch" : "");
  }

  // What one event is, in a line.
  function describe(run, i) {
    const e = run.events, cause = run.causes[e.cause[i]];
    const why = cause ? cause.class + (cause.benign ? " (harmless)" : "") : e.kind[i] === 1 ? "loaded" : "first of its kind";
    return run.functionOf(i) + ": " + why + ", waited " + seconds(e.wait_us[i] / 1e6) +
      (e.step[i] >= 0 ? ", at step " + e.step[i] : "") + (e.served[i] ? ", from " + Stet.served[e.served[i]] : "") +
      (e.kind[i] > 1 ? ", " + Stet.kinds[e.kind[i]] : "") + ", " + seconds(e.at_us[i] / 1e6) + " after the start";
  }

  Stet.timeline = (run, heading) => {
    const canvas = el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": "Timeline of compiles. Arrow keys move, plus and minus zoom, Home shows all, N and P go from compile to compile." });
    const tip = el("div", { class: "tip", hidden: true }), live = el("p", { class: "sr", "aria-live": "polite" });
    const rows = run.processes.map((p, i) => i).filter((i) => run.processes[i].steps_done.length ||
      run.events.process.includes(i)).sort((a, b) => run.processes[a].rank - run.processes[b].rank || a - b);
    const rowOf = new Map(rows.map((p, i) => [p, i]));
    const height = TOP + rows.length * (ROW + STEPS) + AXIS;
    // What comes before the first compile (imports, data) is a key away.
    const first = run.size && run.events.at_us[run.order[0]] > 0 ? run.events.at_us[run.order[0]] : 0;
    let from = Math.max(0, first - (run.end - first) * 0.06), to = run.end * 1.02, events = [], current = -1, queued = false, width = 0;

    const x = (us) => ((us - from) / (to - from)) * width;
    const y = (process) => TOP + rowOf.get(process) * (ROW + STEPS);

    function drawSteps(g, c, p, at) {
      const done = run.processes[p].steps_done;
      g.strokeStyle = c.muted;
      g.fillStyle = c.muted;
      let last = -9, lastText = -99;
      for (const [step, s] of done) {
        const px = x(s * 1e6);
        if (px < last + 3 || px < 0 || px > width) continue;
        g.fillRect(Math.round(px), at + ROW + 1, 1, 5);
        if (px > lastText + 60 && px < width - 40) {
          g.fillText(String(step), px - 2, at + ROW + 16);
          lastText = px;
        }
        last = px;
      }
    }
    // Events come in order of time: one that falls on the pixels of the last of its colour adds nothing.
    function drawEvents(g, c) {
      const e = run.events, lastX = new Map();
      for (const i of events) {
        if (e.at_us[i] < 0) continue;
        const a = x(e.at_us[i]), w = Math.max(3, x(e.at_us[i] + e.cost_us[i]) - a);
        if (a + w < 0 || a > width) continue;
        const k = run.colour(e.cause[i]), bad = e.kind[i] > 1;
        const fill = bad ? c.bad : k >= 0 ? c.k[k] : e.served[i] || e.kind[i] === 1 ? c.good : c.first;
        const key = e.process[i] + fill, seen = lastX.get(key);
        if (seen !== undefined && a + w <= seen + 0.5) continue;
        lastX.set(key, a + w);
        g.fillStyle = fill;
        const low = k < 0 && !bad ? ROW * 0.45 : 0; // first compiles stand lower than those that should not be
        g.fillRect(a, y(e.process[i]) + low, w, ROW - low - 1);
      }
    }
    function draw() {
      queued = false;
      const ratio = window.devicePixelRatio || 1, c = colours();
      width = canvas.clientWidth;
      if (!width) return;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      g.font = "11px system-ui, sans-serif";
      const marks = ticks(from, to, Math.max(2, width / 110));
      for (const t of marks) {
        g.fillStyle = c.line;
        g.fillRect(Math.round(x(t)), 0, 1, height - AXIS + 4);
        g.fillStyle = c.muted;
        g.fillText(markText(t, marks[1] - marks[0]), Math.round(x(t)) + 3, height - 7);
      }
      for (const p of rows) {
        g.fillStyle = c.line;
        g.fillRect(0, y(p) + ROW, width, 1);
        drawSteps(g, c, p, y(p));
      }
      drawEvents(g, c);
      for (const p of rows) {
        const text = label(run.processes[p], run);
        if (!text) continue;
        const w = g.measureText(text).width;
        g.globalAlpha = 0.8;
        g.fillStyle = c.card;
        g.fillRect(0, y(p), w + 8, 15);
        g.globalAlpha = 1;
        g.fillStyle = c.fg;
        g.fillText(text, 4, y(p) + 11);
      }
      if (current >= 0) {
        const e = run.events, a = x(e.at_us[current]), w = Math.max(2, x(e.at_us[current] + e.cost_us[current]) - a);
        g.strokeStyle = c.fg;
        g.lineWidth = 2;
        g.strokeRect(a - 2, y(e.process[current]) - 1, w + 4, ROW + 1);
      }
    }
    const redraw = () => {
      if (!queued) requestAnimationFrame(draw);
      queued = true;
    };
    function zoom(factor, centre) {
      const at = from + (to - from) * centre, span = Math.min(run.end * 1.02, Math.max(50, (to - from) * factor));
      move(at - span * centre, span);
    }
    function move(start, span) {
      const whole = run.end * 1.02;
      from = Math.min(Math.max(0, start), whole - span);
      to = from + span;
      redraw();
    }
    function nearest(px, py) {
      let best = -1, distance = 8;
      const e = run.events;
      for (const i of events) {
        if (e.at_us[i] < 0 || py < y(e.process[i]) - 2 || py > y(e.process[i]) + ROW + STEPS) continue;
        const a = x(e.at_us[i]), b = Math.max(a + 2, x(e.at_us[i] + e.cost_us[i]));
        const d = px < a ? a - px : px > b ? px - b : 0;
        if (d < distance || (d === 0 && distance === 0)) [best, distance] = [i, d];
      }
      return best;
    }
    function show(i, px, py) {
      tip.hidden = i < 0;
      if (i < 0) return;
      const cause = run.causes[run.events.cause[i]];
      tip.replaceChildren(el("div", { text: describe(run, i) }));
      if (cause && cause.source) tip.append(el("div", { class: "mono", text: Stet.place(cause.source) }));
      tip.style.left = Math.max(0, Math.min(px + 12, canvas.clientWidth - tip.offsetWidth - 4)) + "px";
      tip.style.top = py + 14 + "px";
    }
    // The next compile (or the one before) from the keyboard, in view and spoken.
    function go(direction) {
      if (!events.length) return;
      let at = events.indexOf(current);
      at = at < 0 ? (direction > 0 ? 0 : events.length - 1) : Math.min(events.length - 1, Math.max(0, at + direction));
      current = events[at];
      const t = run.events.at_us[current];
      if (t < from || t > to) move(t - (to - from) / 2, to - from);
      live.textContent = at + 1 + " of " + events.length + ": " + describe(run, current);
      show(current, x(t), y(run.events.process[current]) + ROW);
      redraw();
    }

    // ---- mouse and touch ----
    const held = new Map();
    let spread = 0, moved = 0;
    canvas.addEventListener("wheel", (ev) => {
      if (!(ev.ctrlKey || ev.metaKey || ev.shiftKey || document.activeElement === canvas)) return; // the page scrolls
      ev.preventDefault();
      if (ev.shiftKey || Math.abs(ev.deltaX) > Math.abs(ev.deltaY))
        move(from + ((to - from) * (ev.deltaX || ev.deltaY)) / width, to - from);
      else zoom(Math.exp(ev.deltaY * 0.0018), ev.offsetX / width);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (ev) => {
      held.set(ev.pointerId, ev.offsetX);
      spread = moved = 0;
      canvas.setPointerCapture(ev.pointerId);
      canvas.classList.add("drag");
    });
    canvas.addEventListener("pointermove", (ev) => {
      const was = held.get(ev.pointerId);
      if (was === undefined) {
        show(nearest(ev.offsetX, ev.offsetY), ev.offsetX, ev.offsetY);
        return;
      }
      held.set(ev.pointerId, ev.offsetX);
      moved += Math.abs(ev.offsetX - was);
      if (held.size === 1) {
        move(from - ((to - from) * (ev.offsetX - was)) / width, to - from);
      } else {
        const at = [...held.values()], now = Math.abs(at[0] - at[1]);
        if (spread > 0 && now > 0) zoom(spread / now, (at[0] + at[1]) / 2 / width);
        spread = now;
      }
      tip.hidden = true;
    });
    const drop = (ev) => {
      if (held.delete(ev.pointerId) && moved < 5 && ev.type === "pointerup") {
        current = nearest(ev.offsetX, ev.offsetY);
        show(current, ev.offsetX, ev.offsetY);
        redraw();
      }
      if (!held.size) canvas.classList.remove("drag");
    };
    canvas.addEventListener("pointerup", drop);
    canvas.addEventListener("pointercancel", drop);
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", (ev) => zoom(0.4, ev.offsetX / width));

    // ---- keys and buttons ----
    const acts = {
      ArrowLeft: () => move(from - (to - from) / 8, to - from), ArrowRight: () => move(from + (to - from) / 8, to - from),
      "+": () => zoom(0.6, 0.5), "=": () => zoom(0.6, 0.5), "-": () => zoom(1.6, 0.5),
      Home: () => move(0, run.end * 1.02), n: () => go(1), p: () => go(-1),
      Escape: () => { current = -1; tip.hidden = true; redraw(); },
    };
    canvas.addEventListener("keydown", (ev) => {
      const act = !ev.ctrlKey && !ev.metaKey && !ev.altKey && (acts[ev.key] || acts[ev.key.toLowerCase()]);
      if (!act) return;
      ev.preventDefault();
      act();
    });
    const button = (text, name, key) => el("button", { type: "button", "aria-label": name, title: name, text, onclick: acts[key] });
    canvas.style.height = height + "px";
    new ResizeObserver(redraw).observe(canvas);
    return {
      element: el("div", {},
        el("div", { class: "buttons" }, heading ? el("h3", { text: heading }) : null, button("+", "Zoom in", "+"), button("−", "Zoom out", "-"),
          button("◀", "Earlier", "ArrowLeft"), button("▶", "Later", "ArrowRight"), button("All", "Show all", "Home"),
          button("Next", "Next compile", "n"), button("Previous", "Previous compile", "p")),
        el("div", { class: "time" }, canvas, tip), live),
      canvas, redraw, view: () => [from, to],
      show: (list) => { events = list; current = -1; tip.hidden = true; redraw(); },
    };
  };
  Stet.describe = describe;
  Stet.processLabel = (run, i) => label(run.processes[i], run) || "process " + run.processes[i].pid;
  Stet.timelineTable = (run, events) => {
    const of = new Map();
    for (const i of events) {
      const t = of.get(run.events.process[i]) || [0, 0, 0];
      t[0]++;
      t[1] += run.events.cause[i] >= 0 ? 1 : 0;
      t[2] += run.events.wait_us[i] / 1e6;
      of.set(run.events.process[i], t);
    }
    return Stet.table("Compiles of each process", [{ text: "process" }, { text: "compiles", num: true },
      { text: "of them again", num: true }, { text: "waited", num: true }, { text: "steps", num: true }],
    [...of].map(([p, t]) => [Stet.processLabel(run, p), String(t[0]), String(t[1]), seconds(t[2]),
      run.processes[p].steps === null ? "not known" : String(run.processes[p].steps)]));
  };
})();
