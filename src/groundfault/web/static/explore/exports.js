import { send } from "/static/net.js";
import { h, fill } from "./dom.js";
import * as state from "./state.js";

export function startExports(place, about, current) {
  const menu = document.getElementById("exports");
  const link = (kind, words, note) => h("a", { class: "choice", href: "#", download: "", data: { kind } }, words, h("small", { class: "soft" }, note));
  const button = (kind, words, note) => h("button", { type: "button", class: "choice", data: { kind }, onclick: () => { menu.open = false; asking(kind, words, about); } }, words, h("small", { class: "soft" }, note));
  fill(place,
    link("ids.txt", "Ids", "one per line, in this order"), link("table.csv", "CSV", "how every run ended, at these thresholds"),
    link("figure.svg", "Figure (SVG)", "the open case, or the first six"), link("figure.png", "Figure (PNG)", "the same"),
    button("benchmark", "Benchmark folder …", "these cases with their pictures, for eval"), button("training", "Training list …", "items with masks and hashes; guarded against leaks"));
  const renew = () => { for (const each of place.querySelectorAll("a")) each.href = `/explore/export/${each.dataset.kind}?${state.query()}`; };
  state.onChange(renew);
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); event.stopPropagation(); } });
}

function asking(kind, words, about) {
  const dialog = document.getElementById("asking");
  const name = h("input", { id: "export-name", required: true, maxlength: "80", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*", value: kind === "training" ? "hard-cases" : "selection" });
  const said = h("div", { class: "export-said", role: "status", "aria-live": "polite" });
  const write = async (allow) => {
    fill(said, h("p", { class: "soft" }, "writing …"));
    try {
      const found = await send("/explore/api/export", { kind, name: name.value, view: state.query([...state.OF_CASE, "tab", "page"]), allow });
      fill(said, done(kind, found));
    } catch (problem) {
      const leaks = problem.said?.leaks;
      fill(said, h("p", { class: "problem" }, problem.message), leaks ? h("button", { type: "button", id: "allow", onclick: () => write(true) }, "Allow it, and write what is held out") : null);
    }
  };
  fill(dialog, h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); if (name.reportValidity()) write(false); } },
    h("h2", {}, words.replace(" …", "")), h("label", { for: "export-name" }, `Name of the folder, in ${about.exports}`), name, said,
    h("div", { class: "dialog-bar" }, h("button", { type: "button", onclick: () => dialog.close() }, "Close"), h("button", { class: "primary" }, "Write"))));
  dialog.showModal();
  name.select();
}

function done(kind, found) {
  if (kind === "benchmark") return [h("p", {}, "Written: ", h("code", {}, found.path)), h("p", { class: "small soft" }, "Ask a model: ", h("code", {}, `groundfault eval ${found.path} --model NAME`))];
  const { cases, items, held_out_cases: held } = found.about;
  return [h("p", {}, "Written: ", h("code", {}, found.path)), h("p", { class: "small" }, `${items} items of ${cases} cases. ${held} cases share no picture and no origin with them: evaluate on those only (held-out.txt). data.toml has both for a recipe.`)];
}
