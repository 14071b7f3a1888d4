import { h, s } from "./dom.js";

// Pictures with outlines over them. All pictures of a case share zoom and place, so that the same spot is seen in each.
export class Stage {
  constructor() { this.views = []; this.zoom = 1; this.x = 0.5; this.y = 0.5; }

  picture({ src, width, height, target, said, label }) {
    const masks = said.flatMap((each) => each.masks.map((mask) => s("path", {
      d: mask.path, class: `mask${mask.accepted ? "" : " low"}`, "data-run": each.run, "data-series": each.run % 8,
    }, s("title", {}, `${mask.accepted ? "" : "below t: "}score ${mask.score === null ? "none" : mask.score.toFixed(3)}`))));
    const view = s("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, tabindex: "0" },
      s("image", { href: src, width, height, preserveAspectRatio: "none" }),
      target ? [s("path", { d: target, class: "target halo" }), s("path", { d: target, class: "target" })] : null,
      s("g", { class: "masks" }, masks));
    this.#listen(view, width, height);
    this.views.push({ view, width, height });
    this.#show();
    return view;
  }

  reset() { this.zoom = 1; this.x = this.y = 0.5; this.#show(); }

  by(factor, at = null) {
    const zoom = Math.min(12, Math.max(1, this.zoom * factor));
    if (at) {  // the spot under the pointer stays there
      this.x = at.x + (this.x - at.x) * this.zoom / zoom;
      this.y = at.y + (this.y - at.y) * this.zoom / zoom;
    }
    this.zoom = zoom;
    this.#show();
  }

  #show() {
    const half = 0.5 / this.zoom;
    this.x = Math.min(1 - half, Math.max(half, this.x));
    this.y = Math.min(1 - half, Math.max(half, this.y));
    for (const { view, width, height } of this.views) {
      view.setAttribute("viewBox", `${(this.x - half) * width} ${(this.y - half) * height} ${width / this.zoom} ${height / this.zoom}`);
    }
  }

  #spot(view, event) {
    const box = view.getBoundingClientRect(), half = 0.5 / this.zoom;
    return { x: this.x - half + (event.clientX - box.left) / box.width / this.zoom, y: this.y - half + (event.clientY - box.top) / box.height / this.zoom };
  }

  #listen(view) {
    let from = null;
    view.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && this.zoom === 1 && event.deltaY > 0) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? 1.25 : 0.8, this.#spot(view, event));
    }, { passive: false });
    view.addEventListener("dblclick", (event) => this.zoom > 1 ? this.reset() : this.by(2.5, this.#spot(view, event)));
    view.addEventListener("pointerdown", (event) => { if (this.zoom > 1) { from = event; view.setPointerCapture(event.pointerId); } });
    view.addEventListener("pointermove", (event) => {
      if (!from) return;
      const box = view.getBoundingClientRect();
      this.x -= (event.clientX - from.clientX) / box.width / this.zoom;
      this.y -= (event.clientY - from.clientY) / box.height / this.zoom;
      from = event;
      this.#show();
    });
    for (const name of ["pointerup", "pointercancel"]) view.addEventListener(name, () => { from = null; });
    view.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") this.by(1.25);
      else if (event.key === "-") this.by(0.8);
      else if (event.key === "0") this.reset();
    });
  }
}

export function noPicture() { return h("p", { class: "picture none" }, "no picture"); }
