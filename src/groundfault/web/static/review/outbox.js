// What was decided and not yet acknowledged, in order. It is kept in the browser's storage, so that a reload or a crash sends it again, and
// sent again until the server has it: every piece of work has a key, and the server counts a key once. Each tab has a place of its own there; a tab that
// opens takes over what others have left, be they gone or not.
import { send } from "../net.js";

const FIRST_WAIT_MS = 400, LONGEST_WAIT_MS = 10_000, AT_ONCE = 50;

export class Outbox {
  constructor(owner, { answered, changed, refused, have }) {
    this.places = `groundfault outbox ${owner} `;
    this.place = this.places + Array.from(crypto.getRandomValues(new Uint8Array(8)), byte => byte.toString(16).padStart(2, "0")).join("");
    this.answered = answered;        // (the server's answer, the work that it is about)
    this.changed = changed;          // (how many wait, what is wrong or "")
    this.refused = refused;          // (an Error: nothing more can be sent)
    this.have = have;                // () → what need not be sent again
    this.work = this.#stored();
    this.sending = false;
    addEventListener("online", () => this.#wake?.());
  }

  get size() { return this.work.length; }
  has(item) { return this.work.some(work => work.item_id === item); }

  push(work) {
    this.work.push(work);
    this.#keep();
    this.changed(this.size, "");
    this.flush();
  }

  async flush() {
    if (this.sending) return;
    this.sending = true;
    let wait = FIRST_WAIT_MS;
    while (this.work.length) {
      const batch = this.work.slice(0, AT_ONCE);
      try {
        const answer = await send("/api/work", { work: batch, have: this.have() });
        this.work.splice(0, batch.length);
        this.#keep();
        this.changed(this.size, "");
        this.answered(answer, batch);
        wait = FIRST_WAIT_MS;
      } catch (problem) {
        if (problem.status && problem.status < 500 && problem.status !== 429) { this.sending = false; this.refused(problem); return; }
        this.changed(this.size, problem.status ? problem.message : "no connection");
        await this.#pause(wait);
        wait = Math.min(2 * wait, LONGEST_WAIT_MS);
      }
    }
    this.sending = false;
  }

  #wake = null;
  #pause(ms) { return new Promise(done => { const timer = setTimeout(done, ms); this.#wake = () => { clearTimeout(timer); done(); }; }); }
  #keep() { try { if (this.work.length) localStorage.setItem(this.place, JSON.stringify(this.work)); else localStorage.removeItem(this.place); } catch { /* full or forbidden: what waits is still in memory */ } }
  #stored() {
    try {
      const left = Object.keys(localStorage).filter(place => place.startsWith(this.places));
      const work = left.flatMap(place => JSON.parse(localStorage.getItem(place)) ?? []);
      if (work.length) localStorage.setItem(this.place, JSON.stringify(work));
      left.forEach(place => localStorage.removeItem(place));
      return work;
    } catch { return []; }
  }
}
