// Questions of an exam, corrected in place. A question and its twin are one: the same words, a key for each picture. The server says what is wrong with
// them: one set of rules for browsers and builds.
import { send } from "../net.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", TYPES = { YN: "yes or no", SA: "short answer", MC: "multiple choice" };
const ABOUT = { counting: ["this one", "its twin"], tracing: ["changed", "the same twice"], "": ["edited", "original"] };

export class Questions {
  constructor(box) { this.box = box; this.list = []; this.problems = {}; }

  show(questions, kind) {
    this.first = JSON.stringify(questions);
    this.list = structuredClone(questions);
    this.about = ABOUT[kind] ?? ABOUT[""];
    this.rows = pairs(this.list);            // [[place, place of the twin], …]
    this.box.replaceChildren(...this.rows.map(places => this.#row(places)));
    this.problems = {};
  }

  get changed() { return JSON.stringify(this.list) !== this.first; }

  // Whether everything is in order; what is not is said beside its question.
  async check() {
    const { problems } = await send("/api/questions", { questions: this.list });
    this.problems = problems;
    const said = this.rows.map(places => [...new Set(places.map(place => problems[place]).filter(Boolean))].join("; "));
    [...this.box.children].forEach((row, k) => {
      row.querySelector(".problem").textContent = said[k];
      row.classList.toggle("wrong", !!said[k]);
    });
    const first = said.findIndex(Boolean);
    if (first >= 0) this.box.children[first].querySelector("textarea, input").focus();
    return first < 0;
  }

  #row(places) {
    const asked = places.map(place => this.list[place]), [question] = asked, name = `Q${question.number}${question.variant ?? ""}`;
    const row = element("fieldset"), problem = element("p");
    row.append(element("legend", `${name} · ${TYPES[question.type]}`));
    row.append(text(asked, "query", `${name}: question`));
    if (question.type === "MC") row.append(this.#options(asked, places, name));
    else row.append(this.#keys(asked, name));
    problem.className = "problem";
    problem.setAttribute("role", "status");
    row.append(problem);
    return row;
  }

  #keys(asked, name) {
    const row = element("div");
    row.className = `keys ${asked[0].type}`;
    row.append(...asked.map((each, k) => this.#key(each, name, asked.length > 1 ? this.about[k] : "")));
    return row;
  }

  #key(question, name, about) {
    const row = element("div"), label = `${name}: answer${about ? `, ${about}` : ""}`;
    row.className = "key";
    if (about) row.append(element("span", about));
    if (question.type === "YN") { row.append(yesNo(question, label)); return row; }
    const judged = text([question], "rubric", `${name}: how it is judged${about ? `, ${about}` : ""}`);
    judged.className = "rubric";
    row.append(text([question], "reference", label), judged);
    return row;
  }

  #options(asked, places, name) {
    const list = element("div"), two = asked.length > 1;
    list.className = two ? "options two" : "options";
    if (two) { const head = element("div"); head.className = "head"; head.append(...this.about.map(words => element("span", words))); list.append(head); }
    asked[0].options.forEach((_, place) => {
      const row = element("div"), letter = LETTERS[place];
      asked.forEach((question, k) => row.append(radio(question, letter, `key-${places[k]}`, `${name}: ${letter} is right${two ? `, ${this.about[k]}` : ""}`)));
      row.append(element("b", letter), text(asked.map(each => each.options), place, `${name}: option ${letter}`, "input"));
      list.append(row);
    });
    return list;
  }
}

// Each question with its twin where that is asked in the same words, else alone.
function pairs(list) {
  const twins = new Map(list.map((each, place) => [each.twin ? nameOf(each) : null, place])), taken = new Set();
  const found = list.map((each, place) => {
    const twin = each.twin ? undefined : twins.get(nameOf(each));
    if (twin === undefined) return [place];
    taken.add(twin);
    return [place, twin];
  });
  return found.filter(([place]) => !taken.has(place));
}
const nameOf = ({ number, variant, query, options }) => JSON.stringify([number, variant, query, options]);

// A field of one or several owners, who all get what is typed.
function text(owners, field, label, tag = "textarea") {
  const input = element(tag);
  input.value = owners[0][field];
  input.setAttribute("aria-label", label);
  if (tag === "textarea") input.rows = owners[0][field].length > 60 ? 2 : 1;
  input.addEventListener("input", () => owners.forEach(owner => { owner[field] = input.value; }));
  return input;
}

function yesNo(question, label) {
  const select = element("select");
  select.setAttribute("aria-label", label);
  for (const word of ["yes", "no"]) select.append(new Option(word, word, false, question.reference === word));
  select.addEventListener("change", () => { question.reference = select.value; });
  return select;
}

function radio(question, letter, name, label) {
  const key = element("input");
  Object.assign(key, { type: "radio", name, checked: question.reference === letter });
  key.setAttribute("aria-label", label);
  key.addEventListener("change", () => { question.reference = letter; });
  return key;
}

function element(tag, words = "") {
  const made = document.createElement(tag);
  if (words) made.textContent = words;       // foreign words are text, never markup
  return made;
}
