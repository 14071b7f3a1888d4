import { h, fill } from "./dom.js";
import * as state from "./state.js";

// Two sliders. Untouched, each run stands at the thresholds that it was scored with.
export function drawThresholds(place, set) {
  const wanted = `${set.key} ${set.has_t} ${set.has_tau}`;
  if (place.dataset.of !== wanted) {
    place.dataset.of = wanted;
    fill(place,
      set.has_t ? slider("t", "t", "Score threshold: accepted is ≥ t", set.t_range) : null,
      set.has_tau ? slider("tau", "τ", "Overlap threshold: aligned is ≥ τ", [0, 1]) : null);
  }
  for (const [name, field] of [["t", "t"], ["tau", "tau"]]) {
    const input = place.querySelector(`#slide-${name}`);
    if (!input) continue;
    const chosen = state.one(name), own = [...new Set(set.runs.map((run) => run[field]))];
    if (input !== document.activeElement || !chosen) input.value = chosen || own[0] || 0.5;
    const shown = place.querySelector(`#shown-${name}`);
    shown.textContent = chosen ? Number(chosen).toFixed(2) : own.length === 1 && own[0] !== null ? Number(own[0]).toFixed(2) : "own";
    input.setAttribute("aria-valuetext", chosen ? shown.textContent : `as scored: ${own.join(", ")}`);
    place.querySelector(`#own-${name}`).hidden = !chosen;
  }
}

function slider(name, label, about, [low, high]) {
  let timer = 0;
  const step = high - low <= 1 ? 0.01 : (high - low) / 200;
  const input = h("input", { type: "range", id: `slide-${name}`, min: String(low), max: String(high), step: String(step) });
  const value = () => String(Math.round(Number(input.value) * 1e4) / 1e4);
  input.addEventListener("input", () => {
    const chosen = value();  // the slider may be drawn anew before the timer is over
    document.getElementById(`shown-${name}`).textContent = Number(chosen).toFixed(2);
    clearTimeout(timer);
    timer = setTimeout(() => state.change({ [name]: chosen }, { replace: true, keepPage: true }), 40);
  });
  const own = h("button", { type: "button", class: "plain", id: `own-${name}`, title: "Each run as it was scored", "aria-label": `${label} as scored`, hidden: true,
    onclick: () => state.change({ [name]: null }, { keepPage: true }) }, "as scored");
  return h("div", { class: "threshold" },
    h("label", { for: `slide-${name}`, title: about }, h("i", {}, label), " ", h("output", { id: `shown-${name}`, for: `slide-${name}` })), input, own);
}
