import { send } from "/static/net.js";
import { h, fill } from "./dom.js";

export function drawNotes(set, found, noted, changed) {
  const place = h("section", { class: "notes", "aria-labelledby": "notes-title" });
  const change = async (given) => {
    try {
      draw(await send("/explore/api/note", { set: set.key, case: found.name, ...given }));
      changed();
    } catch (problem) { problemLine.textContent = problem.message; }
  };
  const problemLine = h("p", { class: "problem", role: "alert" });
  const draw = (now) => {
    problemLine.textContent = "";
    const tag = h("input", { id: "new-tag", maxlength: "60", placeholder: "new tag", autocomplete: "off" });
    const text = h("textarea", { id: "new-note", rows: "2", maxlength: "4000", placeholder: "What do you see?" });
    fill(place, h("h3", { id: "notes-title" }, "Notes and tags"),
      h("form", { class: "tags", onsubmit: (event) => { event.preventDefault(); if (tag.value.trim()) change({ tag: tag.value }).then(() => document.getElementById("new-tag")?.focus()); } },
        now.tags.map((name) => h("span", { class: "chip" }, name, h("button", { type: "button", class: "plain", "aria-label": `take off ${name}`, onclick: () => change({ tag: name, on: false }) }, "✕"))),
        h("label", { class: "visually-hidden", for: "new-tag" }, "New tag"), tag, h("button", {}, "Tag")),
      h("ul", { class: "note-list" }, now.notes.map((note) => h("li", {}, h("p", {}, note.text), h("p", { class: "small soft" }, new Date(note.at).toLocaleString(), " ", h("button", { type: "button", class: "plain", onclick: () => change({ id: note.id, on: false }) }, "take back"))))),
      h("form", { class: "new-note", onsubmit: (event) => { event.preventDefault(); if (text.value.trim()) change({ text: text.value }); } },
        h("label", { class: "visually-hidden", for: "new-note" }, "New note"), text, h("button", {}, "Note")),
      problemLine);
  };
  draw(noted);
  return place;
}
