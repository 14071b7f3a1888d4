// Questions of an exam, corrected in place. The server says what is wrong with them: one set of rules for browsers and builds.
import { send } from "../net.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export class Questions {
  constructor(box) { this.box = box; this.list = []; this.problems = {}; }

  show(questions) {
    this.first = JSON.stringify(questions);
    this.list = structuredClone(questions);
    this.box.replaceChildren(...this.list.map((question, k) => this.#row(question, k)));
    this.problems = {};
  }

  get changed() { return JSON.stringify(this.list) !== this.first; }

  // Whether everything is in order; what is not is said beside its question.
  async check() {
    const { problems } = await send("/api/questions", { questions: this.list });
    this.problems = problems;
    [...this.box.children].forEach((row, k) => {
      const said = row.querySelector(".problem");
      said.textContent = problems[k] ?? "";
      row.classList.toggle("wrong", k in problems);
    });
    const [first] = Object.keys(problems);
    if (first !== undefined) this.box.children[first].querySelector("textarea, input").focus();
    return first === undefined;
  }

  #row(question, k) {
    const row = element("fieldset"), name = `Q${question.number}${question.variant ?? ""}`;
    row.append(element("legend", `${name} · ${{ YN: "yes or no", SA: "short answer", MC: "multiple choice" }[question.type]}${question.twin ? " · about the original" : ""}`));
    row.append(this.#text(question, "query", `${name}: question`));
    if (question.type === "MC") row.append(this.#options(question, k));
    else if (question.type === "YN") row.append(this.#yesNo(question, name));
    else row.append(this.#text(question, "reference", `${name}: answer`));
    const problem = element("p");
    problem.className = "problem";
    problem.setAttribute("role", "status");
    row.append(problem);
    return row;
  }

  #text(owner, field, label, tag = "textarea") {
    const input = element(tag);
    input.value = owner[field];
    input.setAttribute("aria-label", label);
    if (tag === "textarea") input.rows = owner[field].length > 60 ? 2 : 1;
    input.addEventListener("input", () => { owner[field] = input.value; });
    return input;
  }

  #yesNo(question, name) {
    const select = element("select");
    select.setAttribute("aria-label", `${name}: answer`);
    for (const word of ["yes", "no"]) select.append(new Option(word, word, false, question.reference.toLowerCase() === word));
    select.addEventListener("change", () => { question.reference = select.value; });
    return select;
  }

  #options(question, k) {
    const list = element("div");
    list.className = "options";
    question.options.forEach((_, place) => {
      const row = element("div"), key = element("input"), letter = LETTERS[place];
      Object.assign(key, { type: "radio", name: `key-${k}`, checked: question.reference === letter });
      key.setAttribute("aria-label", `Q${question.number}: ${letter} is right`);
      key.addEventListener("change", () => { question.reference = letter; });
      row.append(key, element("b", letter), this.#text(question.options, place, `Q${question.number}: option ${letter}`, "input"));
      list.append(row);
    });
    return list;
  }
}

function element(tag, words = "") {
  const made = document.createElement(tag);
  if (words) made.textContent = words;       // foreign words are text, never markup
  return made;
}
