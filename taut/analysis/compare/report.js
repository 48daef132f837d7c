"use strict";
// Data from Python: numbers of lines are little-endian 32-bit floats in base 64.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const hidden = new Set();
const looks = Object.fromEntries(D.methods.map((m) => [m.name, m]));

function numbers(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}
const unpacked = new Map();
function line(text) {
  if (!unpacked.has(text)) unpacked.set(text, numbers(text));
  return unpacked.get(text);
}
const show = (v) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(2) : String(+v.toPrecision(4)));

// The moving scene: a page of its own (taut/view), deflated, so that this file stays small and readable.
const packed = $("scene-page");
if (packed) {
  const bytes = Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  new Response(stream).text().then((text) => { document.querySelector("#scene iframe").srcdoc = text; });
}

// Scales

function ticks(low, high, log, room) {
  if (log) {
    const a = Math.ceil(low - 1e-9), b = Math.floor(high + 1e-9);
    const every = Math.max(1, Math.ceil((b - a + 1) / room));
    const found = [];
    for (let k = a; k <= b; k += every) found.push(k);
    if (found.length > 2) return found;
    const between = []; // less than three decades: 2 and 5 as well
    for (let k = a - 1; k <= b; k++) for (const n of [1, 2, 5]) between.push(k + Math.log10(n));
    const inside = between.filter((v) => v >= low && v <= high);
    return inside.length > 1 ? inside : [low, high].map((v) => Math.log10(+Math.pow(10, v).toPrecision(2)));
  }
  const rough = (high - low) / room, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const unit = power * [1, 2, 5, 10].find((n) => n * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / unit); k * unit <= high + 1e-12 * unit; k++) found.push(+(k * unit).toPrecision(12));
  return found;
}
const raised = (k) => String(k).replace(/[-\d]/g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻");
const named = (v, log) => (!log ? show(v) : Number.isInteger(v) ? "10" + raised(v) : show(Math.pow(10, v)));

// A plot: `content()` gives series and axes anew each time something was chosen.

class Plot {
  constructor(id, content) {
    this.box = $(id); this.content = content; this.view = null; this.drag = null;
    this.canvas = this.box.appendChild(document.createElement("canvas"));
    this.canvas.addEventListener("pointerdown", (e) => { this.drag = [this.at(e), this.at(e)]; this.canvas.setPointerCapture(e.pointerId); });
    this.canvas.addEventListener("pointermove", (e) => { if (this.drag) { this.drag[1] = this.at(e); this.draw(); } else this.read(e); });
    this.canvas.addEventListener("pointerup", () => this.zoom());
    this.canvas.addEventListener("pointerleave", () => { $("readout").hidden = true; if (this.mark) { this.mark = null; this.draw(); } });
    this.canvas.addEventListener("dblclick", () => { this.view = null; this.draw(); });
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
  at(e) { const r = this.canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; }
  reset() { this.view = null; this.draw(); }
  range(series, axis, log, wanted) {
    let low = Infinity, high = -Infinity;
    for (const s of series) for (const v of s[axis]) {
      const u = log ? Math.log10(v) : v;
      if (Number.isFinite(u) && !(log && v < 1e-16)) { if (u < low) low = u; if (u > high) high = u; }
    }
    if (wanted) [low, high] = wanted;
    if (!(low <= high)) [low, high] = log ? [-1, 1] : [0, 1];
    if (high - low < 1e-12 * Math.max(1, Math.abs(high))) { const w = 0.5 * Math.abs(high) || 1; low -= w; high += w; }
    const margin = axis === "x" && !log ? 0 : 0.05 * (high - low);
    return [low - margin, high + margin];
  }
  frame() {
    const c = this.c, w = this.box.clientWidth, h = this.box.clientHeight;
    const inner = [62, 10, w - 12, h - 40];
    let x, y;
    if (this.view) [x, y] = this.view;
    else {
      const seen = c.series.filter((s) => !hidden.has(s.name));
      x = this.range(seen, "x", c.xlog, c.xrange); y = this.range(seen, "y", c.ylog, c.yrange);
    }
    if (c.equal) { // the same metres per pixel both ways
      const sx = (x[1] - x[0]) / (inner[2] - inner[0]), sy = (y[1] - y[0]) / (inner[3] - inner[1]), s = Math.max(sx, sy);
      const mx = (x[0] + x[1]) / 2, my = (y[0] + y[1]) / 2, wx = s * (inner[2] - inner[0]) / 2, wy = s * (inner[3] - inner[1]) / 2;
      x = [mx - wx, mx + wx]; y = [my - wy, my + wy];
    }
    this.f = { inner, x, y };
  }
  px(v) { const { inner, x } = this.f; return inner[0] + ((this.c.xlog ? Math.log10(v) : v) - x[0]) / (x[1] - x[0]) * (inner[2] - inner[0]); }
  py(v) { const { inner, y } = this.f; return inner[3] - ((this.c.ylog ? Math.log10(Math.max(v, 1e-300)) : v) - y[0]) / (y[1] - y[0]) * (inner[3] - inner[1]); }
  draw() {
    const w = this.box.clientWidth, h = this.box.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!w) return;
    this.c = this.content(); this.frame();
    this.canvas.width = w * ratio; this.canvas.height = h * ratio;
    const g = this.g = this.canvas.getContext("2d"), { inner, x, y } = this.f, c = this.c;
    this.canvas.setAttribute("aria-label", `${c.ylabel} over ${c.xlabel}`);
    g.scale(ratio, ratio); g.font = "12px system-ui, sans-serif"; g.lineWidth = 1;
    g.strokeStyle = "#e7e7ea"; g.fillStyle = "#6b6b70";
    g.textAlign = "center"; g.textBaseline = "top";
    for (const k of ticks(x[0], x[1], c.xlog, (inner[2] - inner[0]) / 75)) {
      const p = inner[0] + (k - x[0]) / (x[1] - x[0]) * (inner[2] - inner[0]);
      this.stroke([[p, inner[1]], [p, inner[3]]]); g.fillText(named(k, c.xlog), Math.min(p, w - 16), inner[3] + 5);
    }
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const k of ticks(y[0], y[1], c.ylog, (inner[3] - inner[1]) / 38)) {
      const p = inner[3] - (k - y[0]) / (y[1] - y[0]) * (inner[3] - inner[1]);
      this.stroke([[inner[0], p], [inner[2], p]]); g.fillText(named(k, c.ylog), inner[0] - 6, p);
    }
    g.strokeStyle = "#b9b9be"; g.strokeRect(inner[0], inner[1], inner[2] - inner[0], inner[3] - inner[1]);
    g.fillStyle = "#1c1c1e"; g.textAlign = "center"; g.textBaseline = "bottom";
    g.fillText(c.xlabel, (inner[0] + inner[2]) / 2, h - 2);
    g.save(); g.translate(3, (inner[1] + inner[3]) / 2); g.rotate(-Math.PI / 2); g.textBaseline = "top"; g.fillText(c.ylabel, 0, 0); g.restore();
    g.save(); g.beginPath(); g.rect(inner[0], inner[1], inner[2] - inner[0], inner[3] - inner[1]); g.clip();
    for (const s of c.series) if (!hidden.has(s.name)) this.series(s);
    for (const guide of c.guides || []) { // its words have a pale edge, to be read across lines
      const p = this.py(guide.y), x0 = inner[0] + 24; g.lineWidth = 1; g.setLineDash([]); g.strokeStyle = "#8a8a90";
      this.stroke([[inner[0], p], [inner[2], p]]);
      const below = p - inner[1] < 16, at = below ? p + 2 : p - 2; // inside the plot, also where the line is near its top
      g.textAlign = "left"; g.textBaseline = below ? "top" : "bottom"; g.lineWidth = 4; g.strokeStyle = "#fffc";
      g.strokeText(guide.name, x0, at); g.fillStyle = "#4a4a50"; g.fillText(guide.name, x0, at);
    }
    const seen = (s) => !hidden.has(s.name) && s.y.some((v) => Number.isFinite(v) && !(c.ylog && v < 1e-16));
    if (!c.series.some(seen)) {
      g.fillStyle = "#6b6b70"; g.textAlign = "center"; g.textBaseline = "middle";
      g.fillText("nothing to show: all values are absent or below rounding", (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2);
    }
    if (this.mark) { g.setLineDash([]); g.lineWidth = 1; g.strokeStyle = "#0005"; this.stroke([[this.mark, inner[1]], [this.mark, inner[3]]]); }
    g.restore();
    if (this.drag) {
      const [[a, b], [d, e]] = this.drag; g.fillStyle = "#0072b220"; g.strokeStyle = "#0072b2"; g.setLineDash([]); g.lineWidth = 1;
      g.fillRect(a, b, d - a, e - b); g.strokeRect(a, b, d - a, e - b);
    }
  }
  stroke(points) { const g = this.g; g.beginPath(); points.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y))); g.stroke(); }
  series(s) {
    const g = this.g, wide = s.band ? 5 : 1.6, n = s.x.length;
    g.lineWidth = wide; g.strokeStyle = s.band ? "#00000030" : s.color; g.lineJoin = "round";
    g.setLineDash(s.band ? [] : s.dash.map((d) => d * wide));
    g.beginPath();
    let pen = false;
    for (let i = 0; i < n; i++) {
      if (!Number.isFinite(s.y[i]) || (this.c.ylog && s.y[i] < 1e-16)) { pen = false; continue; }
      const a = this.px(s.x[i]), b = Math.max(-1e4, Math.min(1e4, this.py(s.y[i])));
      if (pen) g.lineTo(a, b); else g.moveTo(a, b);
      pen = true;
    }
    g.stroke(); g.setLineDash([]);
    if (s.points) for (let i = 0; i < n; i++) { g.beginPath(); g.arc(this.px(s.x[i]), this.py(s.y[i]), 4.5, 0, 7); g.fillStyle = s.color; g.fill(); }
    if (s.broken && n) {
      const a = this.px(s.x[n - 1]), b = this.py(s.y[n - 1]); g.lineWidth = 2;
      this.stroke([[a - 5, b - 5], [a + 5, b + 5]]); this.stroke([[a - 5, b + 5], [a + 5, b - 5]]);
    }
  }
  zoom() {
    const drag = this.drag; this.drag = null;
    if (drag && Math.abs(drag[1][0] - drag[0][0]) > 8 && Math.abs(drag[1][1] - drag[0][1]) > 8) {
      const { inner, x, y } = this.f;
      const u = (p) => x[0] + (p - inner[0]) / (inner[2] - inner[0]) * (x[1] - x[0]);
      const v = (p) => y[0] + (inner[3] - p) / (inner[3] - inner[1]) * (y[1] - y[0]);
      const sorted = (a, b) => (a < b ? [a, b] : [b, a]);
      this.view = [sorted(u(drag[0][0]), u(drag[1][0])), sorted(v(drag[0][1]), v(drag[1][1]))];
    }
    this.draw();
  }
  read(e) {
    const [a, b] = this.at(e), { inner, x } = this.f, c = this.c, rows = [];
    if (a < inner[0] || a > inner[2] || b < inner[1] || b > inner[3]) { $("readout").hidden = true; return; }
    const seen = c.series.filter((s) => !hidden.has(s.name) && s.x.length);
    let title = "";
    if (c.overTime) { // what all lines say at this time
      const t = x[0] + (a - inner[0]) / (inner[2] - inner[0]) * (x[1] - x[0]);
      title = `t = ${show(t)} s`; this.mark = a;
      for (const s of seen) {
        let low = 0, high = s.x.length - 1;
        while (low < high) { const k = (low + high) >> 1; if (s.x[k] < t) low = k + 1; else high = k; }
        if (t <= s.x[s.x.length - 1] + 1e-9) rows.push([s, s.y[low]]);
      }
      rows.sort((p, q) => q[1] - p[1]);
    } else { // the nearest point
      let best = [900, null, 0];
      for (const s of seen) for (let i = 0; i < s.x.length; i++) {
        const d = (this.px(s.x[i]) - a) ** 2 + (this.py(s.y[i]) - b) ** 2;
        if (d < best[0]) best = [d, s, i];
      }
      if (best[1]) { title = c.point(best[1], best[2]); rows.push([best[1], best[1].y[best[2]]]); }
    }
    const out = $("readout");
    out.hidden = !rows.length; out.replaceChildren();
    const head = out.appendChild(document.createElement("b")); head.textContent = title;
    for (const [s, v] of rows) {
      const row = out.appendChild(document.createElement("div")), name = row.appendChild(document.createElement("span"));
      name.textContent = s.label || s.name; name.style.color = s.color;
      row.appendChild(document.createElement("span")).textContent = show(v);
    }
    const left = e.clientX + 18 + out.offsetWidth < innerWidth ? e.clientX + 18 : e.clientX - 18 - out.offsetWidth;
    out.style.left = `${left}px`; out.style.top = `${Math.min(e.clientY + 12, innerHeight - out.offsetHeight - 8)}px`;
    if (c.overTime) this.draw();
  }
}

// What the plots show

const dt = () => $("step").value;
const runs = () => D.runs.filter((r) => r.dt === dt());
const exact = () => D.reference[dt()];
const styled = (name, rest) => ({ name, color: looks[name].color, dash: looks[name].dash, ...rest });
const band = (x, y) => ({ name: "reference", color: "#000", dash: [], band: true, x, y });
const column = (text, k) => line(text).filter((_, i) => i % 3 === k);

function overTime(pick, ylabel, more = {}) {
  const series = runs().filter((r) => pick(r)).map((r) => styled(r.method, { x: line(r.time), y: pick(r), broken: r.broken }));
  return { series, xlabel: "time [s]", ylabel, overTime: true, xrange: [0, D.duration], ...more };
}
function around(values) { // linear axes are scaled to the reference, or to runs that came to their end
  let low = Infinity, high = -Infinity;
  for (const list of values) for (const v of list) { if (v < low) low = v; if (v > high) high = v; }
  const margin = 0.1 * (high - low);
  return Number.isFinite(low) ? [low - margin, high + margin] : undefined;
}
function trusted(pick) {
  if (exact()) return around([pick(exact())]);
  const ended = runs().filter((r) => !r.broken);
  return around((ended.length ? ended : runs()).map(pick));
}
const plots = [
  new Plot("plot-drift", () => {
    const what = $("drift-what").value, unit = what === "rate" ? D.units.rate : D.units.drift;
    return overTime((r) => line(r[what]), `${$("drift-what").selectedOptions[0].text} [${unit}]`, { ylog: true });
  }),
  new Plot("plot-system", () => overTime((r) => r.system && line(r.system), "unknowns of the linear system")),
  new Plot("plot-elongation", () => overTime((r) => r.elongation && line(r.elongation), "(l − L)/L of the longest edge", { ylog: true })),
  new Plot("plot-energy", () => overTime((r) => line(r.energy), "|E − E(0) − work of drivers| [J]", { ylog: true })),
  new Plot("plot-path", () => {
    const body = $("body").value, [a, b] = $("plane").value.split(" ").map((n) => "xyz".indexOf(n));
    if (!body) return { series: [], xlabel: "", ylabel: "" };
    const of = (r) => ({ x: column(r.places[body], a), y: column(r.places[body], b) });
    const series = runs().map((r) => styled(r.method, { ...of(r), time: line(r.time), broken: r.broken }));
    if (exact()) series.unshift({ ...band(of(exact()).x, of(exact()).y), time: line(exact().time) });
    return { series, equal: true, xlabel: `${"xyz"[a]} [${D.lengthUnit}]`, ylabel: `${"xyz"[b]} [${D.lengthUnit}]`, xrange: trusted((r) => of(r).x),
      yrange: trusted((r) => of(r).y), point: (s, i) => `t = ${show(s.time[i])} s, ${"xyz"[a]} = ${show(s.x[i])}` };
  }),
  new Plot("plot-component", () => {
    const body = $("body").value, k = +$("component").value, pick = (r) => column(r.places[body], k);
    if (!body) return { series: [], xlabel: "", ylabel: "" };
    const c = overTime(pick, D.places ? `${"xyz"[k]} of ${body} [m]` : body, { yrange: trusted(pick) });
    if (exact()) c.series.unshift(band(line(exact().time), pick(exact())));
    return c;
  }),
  new Plot("plot-error", () => {
    const c = overTime((r) => r.error && line(r.error), `largest error of a body [${D.lengthUnit}]`, { ylog: true });
    if (exact()) {
      c.series.push({ name: "reference", label: "the reference's own error", color: "#000", dash: [4, 3], x: line(exact().time), y: line(exact().error) });
      c.guides = [{ y: D.horizon, name: "tracking horizon: a tenth of the scene's size" }];
    }
    return c;
  }),
  new Plot("plot-multiplier", () => {
    const row = $("row").value, pick = (r) => line(r.multipliers[row]);
    if (!row) return { series: [], xlabel: "", ylabel: "" };
    const c = overTime(pick, `λ of ${row} [${D.forceUnits[row]}]`, { yrange: trusted(pick) });
    // λ of some methods flips from step to step; they are drawn first, so as not to hide the others.
    const swing = (s) => s.y.reduce((sum, v, i) => sum + (i ? Math.abs(v - s.y[i - 1]) : 0), 0);
    c.series = c.series.map((s) => [swing(s), s]).sort((p, q) => q[0] - p[0]).map((p) => p[1]);
    if (exact()) c.series.unshift(band(line(exact().time), pick(exact())));
    return c;
  }),
  new Plot("plot-precision", () => {
    const key = $("precision-what").value, field = D.precision.find((f) => f.name === key);
    const series = D.methods.filter((m) => m.name !== "reference").map((m) => {
      const rows = D.rows.filter((r) => r.method === m.name && r.status === "finished" && r[key] > 0);
      return styled(m.name, { x: rows.map((r) => 1e3 * r.wall_time), y: rows.map((r) => r[key]), at: rows.map((r) => r.dt), points: true });
    });
    return { series, xlog: true, ylog: true, xlabel: "computing time of the whole run [ms]", ylabel: `${field.doc} [${field.unit}]`,
      point: (s, i) => `dt ${s.at[i]} s: ${show(s.x[i])} ms` };
  }),
];
const redraw = () => plots.forEach((p) => p.draw());
const anew = () => plots.forEach((p) => p.reset());

// Choices, legend, table

function choices(id, values, chosen) {
  for (const v of values) $(id).add(new Option(v.text ?? v, v.value ?? v, false, (v.value ?? v) === chosen));
  $(id).addEventListener("change", anew);
}
choices("step", D.steps.map((v) => ({ value: v, text: `${v} s` })));
choices("body", D.bodies, D.bodies[D.bodies.length - 1]);
choices("row", D.multipliers);
choices("precision-what", D.precision.map((f) => ({ value: f.name, text: f.doc })));
["drift-what", "plane", "component"].forEach((id) => $(id).addEventListener("change", anew));
$("plane").value = D.plane;
if (!D.places) { // only coordinates: a value over time, and no plane
  $("component").value = "0"; $("plot-path").hidden = true;
  for (const id of ["plane", "component"]) $(id).parentElement.hidden = true;
  document.querySelector(".pair").style.display = "block";
}
for (const part of document.querySelectorAll(".of-constraints")) part.hidden = !D.multipliers.length;
$("system-part").hidden = !D.runs.some((r) => r.system);
$("elongation-part").hidden = !D.runs.some((r) => r.elongation);
$("error-part").hidden = !Object.keys(D.reference).length;

function chip(m) {
  const c = document.createElement("canvas"); c.width = 52; c.height = 16; c.style.width = "26px"; c.style.height = "8px"; c.className = "chip";
  const g = c.getContext("2d"); g.lineWidth = m.band ? 10 : 4; g.strokeStyle = m.band ? "#00000030" : m.color;
  g.setLineDash(m.band ? [] : m.dash.map((d) => 3.2 * d)); g.beginPath(); g.moveTo(0, 8); g.lineTo(52, 8); g.stroke();
  return c;
}
for (const m of D.methods) {
  const b = $("legend").appendChild(document.createElement("button"));
  b.append(chip(m), m.name); b.title = m.doc; b.dataset.name = m.name; b.setAttribute("aria-pressed", "true");
  b.addEventListener("click", (e) => {
    const others = D.methods.map((o) => o.name).filter((n) => n !== m.name && n !== "reference");
    if (e.shiftKey) { const alone = others.every((n) => hidden.has(n)); hidden.clear(); if (!alone) others.forEach((n) => hidden.add(n)); }
    else if (!hidden.delete(m.name)) hidden.add(m.name);
    for (const o of $("legend").children) o.setAttribute("aria-pressed", String(!hidden.has(o.dataset.name)));
    redraw();
  });
}
for (const cell of document.querySelectorAll("td[data-method]")) cell.prepend(chip(looks[cell.dataset.method]));
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentElement, k = [...head.parentElement.children].indexOf(head), body = document.querySelector("tbody");
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => row.children[k].dataset.sort, number = (row) => (key(row) === "" ? NaN : Number(key(row)));
  const words = [...body.rows].some((row) => key(row) !== "" && Number.isNaN(number(row)));
  const order = (p, q) => {
    if (words) return (down ? -1 : 1) * key(p).localeCompare(key(q));
    const a = number(p), b = number(q);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // what is missing stays below
    return (down ? -1 : 1) * (a < b ? -1 : a > b ? 1 : 0);
  };
  [...body.rows].sort(order).forEach((row) => body.append(row));
});
