// Both pictures on one canvas: side by side, blinking, with a slider, as a difference, or as four corners. Zoom and pan are shared by all panes.
const LINE = "#ffe14d", HALO = "rgb(0 0 0 / .75)", FRESH = "#5ce1ff", GAP = 8, MOST_ZOOM = 16, NAMES = ["original", "edited"];
const BESIDE = 1.15;         // pictures stand one below the other where that makes them so much larger

export const MODES = ["side", "blink", "slider", "difference", "corners"];

// Where a picture of any size lies inside w × h: a twin may be another photograph.
function within(picture, w, h) {
  const scale = Math.min(w / picture.width, h / picture.height), width = picture.width * scale, height = picture.height * scale;
  return [(w - width) / 2, (h - height) / 2, width, height];
}

export class View {
  constructor(canvas, captions) {
    this.canvas = canvas;
    this.captions = captions;
    this.pen = canvas.getContext("2d", { alpha: false });
    this.mode = "side";
    this.original = false;           // which picture blinks up
    this.outline = true;
    this.slider = 0.5;
    this.zoom = 1;
    this.centre = null;              // in pixels of the picture; null for its middle
    this.shown = null;
    this.layer = null;               // a mask that is being touched up
    this.texts = {};
    this.names = NAMES;              // of the two pictures
    this.zoomed = () => {};          // (how much), whenever it is drawn
    this.#frame = 0;
    new ResizeObserver(() => { this.#fit(); this.draw(); }).observe(canvas.parentElement);
    this.#fit();
  }

  show(shown, texts, names = NAMES) {
    this.shown = shown;
    this.texts = texts;
    this.names = names;
    this.original = false;
    this.zoom = 1;
    this.centre = null;
    this.draw();
  }

  set(mode) { this.mode = mode; this.draw(); }
  get size() { return [this.shown.after.width, this.shown.after.height]; }

  redraw() { cancelAnimationFrame(this.#frame); this.#frame = requestAnimationFrame(() => this.draw()); }

  draw() {
    const { pen, canvas } = this;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = getComputedStyle(canvas).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    if (!this.shown) return;
    this.zoomed(this.zoom);
    const panes = this.#panes();
    panes.forEach((pane, k) => this.#paint(pane, this.#rectangle(k, panes.length)));
    this.#caption(panes.map((pane, k) => [pane.words, this.#rectangle(k, panes.length)]));
  }

  // ── where things are ──

  // Around a point of the canvas, or around the middle of what is shown.
  zoomBy(factor, x = null, y = null) {
    if (!this.shown) return;
    const before = x === null ? null : this.toPicture(x, y);
    this.zoom = Math.min(MOST_ZOOM, Math.max(1, this.zoom * factor));
    this.centre = this.#middle();
    if (before) {
      const after = this.toPicture(x, y);
      this.centre = this.centre.map((c, k) => c + before[k] - after[k]);
    }
    this.#hold();
    this.redraw();
  }

  panBy(dx, dy) {
    const { scale } = this.#transform(this.#rectangle(0, this.#panes().length)), [cx, cy] = this.#middle();
    this.centre = [cx - dx * devicePixelRatio / scale, cy - dy * devicePixelRatio / scale];
    this.#hold();
    this.redraw();
  }

  reset() { this.zoom = 1; this.centre = null; this.redraw(); }

  // CSS pixels of the canvas → pixels of the picture, in whichever pane they lie.
  toPicture(x, y) {
    const px = x * devicePixelRatio, py = y * devicePixelRatio, n = this.#panes().length;
    for (let k = 0; k < n; k++) {
      const r = this.#rectangle(k, n);
      if (k < n - 1 && (px > r.x + r.width + GAP / 2 * devicePixelRatio || py > r.y + r.height + GAP / 2 * devicePixelRatio)) continue;
      const t = this.#transform(r);
      return [(px - t.x) / t.scale, (py - t.y) / t.scale];
    }
  }

  slideTo(x) {
    const r = this.#rectangle(0, 1), t = this.#transform(r), [width] = this.size;
    const left = Math.max(r.x, t.x), right = Math.min(r.x + r.width, t.x + width * t.scale);
    this.slider = Math.min(1, Math.max(0, (x * devicePixelRatio - left) / (right - left)));
    this.redraw();
  }

  // ── painting ──

  #panes() {
    const { shown: s, texts } = this;
    if (!s) return [];
    const [first, second] = this.names;
    const before = { picture: s.before, outline: s.target, words: first };
    const after = { picture: s.after, outline: s.fresh ?? s.target, fresh: !!s.fresh, editable: true, words: second };
    if (this.layer) return [after];
    switch (this.mode) {
      case "blink": return [this.original ? before : after];
      case "slider": return [{ ...after, over: s.before, words: `${first} | ${second}` }];
      case "difference": return [{ ...after, picture: this.#difference(), words: "difference × 4" }];
      case "corners": return [
        { ...before, words: `original: “${texts.positive ?? "c"}” is here` },
        { ...before, outline: null, words: `original: no “${texts.negative ?? "c′"}”` },
        { ...after, outline: null, words: `edited: no “${texts.positive ?? "c"}”` },
        { ...after, words: `edited: “${texts.negative ?? "c′"}” is here` }];
      default: return [before, after];
    }
  }

  #rectangle(k, n) {
    const { width, height } = this.canvas, gap = GAP * devicePixelRatio;
    if (n === 1) return { x: 0, y: 0, width, height };
    const columns = n === 4 || BESIDE * this.#scaleOf(2) >= this.#scaleOf(1) ? 2 : 1, rows = n / columns;
    const w = (width - gap * (columns - 1)) / columns, h = (height - gap * (rows - 1)) / rows;
    return { x: (k % columns) * (w + gap), y: Math.floor(k / columns) * (h + gap), width: w, height: h };
  }

  // How large two pictures get in so many columns.
  #scaleOf(columns) {
    const [w, h] = this.size, { width, height } = this.canvas;
    return Math.min(width / columns / w, height * columns / 2 / h);
  }

  #transform(r) {
    const [w, h] = this.size, scale = Math.min(r.width / w, r.height / h) * this.zoom, [cx, cy] = this.#middle();
    return { scale, x: r.x + r.width / 2 - cx * scale, y: r.y + r.height / 2 - cy * scale };
  }

  #middle() { return this.centre ?? this.size.map(side => side / 2); }

  #hold() {          // the picture stays in sight
    const size = this.size, reach = 0.5 / this.zoom;
    this.centre = this.centre.map((c, k) => Math.min(size[k] * (1 - reach), Math.max(size[k] * reach, c)));
  }

  #paint(pane, r) {
    const { pen } = this, t = this.#transform(r), [w, h] = this.size;
    pen.save();
    pen.beginPath();
    pen.rect(r.x, r.y, r.width, r.height);
    pen.clip();
    pen.setTransform(t.scale, 0, 0, t.scale, t.x, t.y);
    pen.imageSmoothingEnabled = t.scale < 3;
    pen.drawImage(pane.picture, ...within(pane.picture, w, h));
    if (pane.over) this.#cover(pane.over, w, h, r, t);
    if (this.layer && pane.editable) this.#tint(w, h, t.scale);
    else if (this.outline && pane.outline) this.#line(pane.outline.path, pane.fresh ? FRESH : LINE, t.scale);
    pen.restore();
  }

  #line(path, colour, scale) {
    const { pen } = this;
    pen.lineJoin = pen.lineCap = "round";
    for (const [style, width] of [[HALO, 4], [colour, 2]]) {
      pen.strokeStyle = style;
      pen.lineWidth = width * devicePixelRatio / scale;
      pen.stroke(path);
    }
  }

  // Made once per item, in the pictures' own pixels: scaling each of them first would leave traces along every edge.
  #difference() {
    const { shown } = this;
    if (shown.difference) return shown.difference;
    const [w, h] = this.size, canvas = new OffscreenCanvas(w, h), pen = canvas.getContext("2d", { alpha: false });
    pen.drawImage(shown.after, 0, 0, w, h);
    pen.globalCompositeOperation = "difference";
    pen.drawImage(shown.before, ...within(shown.before, w, h));
    pen.globalCompositeOperation = "color-dodge";         // × 4: small changes must be seen
    pen.fillStyle = "rgb(191 191 191)";
    pen.fillRect(0, 0, w, h);
    return shown.difference = canvas;
  }

  #cover(other, w, h, r, t) {
    const { pen } = this, left = Math.max(0, (r.x - t.x) / t.scale), right = Math.min(w, (r.x + r.width - t.x) / t.scale);
    const x = left + (right - left) * this.slider, line = 2 * devicePixelRatio / t.scale;
    pen.save();
    pen.beginPath();
    pen.rect(0, 0, x, h);
    pen.clip();
    pen.drawImage(other, ...within(other, w, h));
    pen.restore();
    pen.fillStyle = HALO;
    pen.fillRect(x - line, 0, 2 * line, h);
    pen.fillStyle = "#fff";
    pen.fillRect(x - line / 2, 0, line, h);
  }

  #tint(w, h, scale) {
    const { pen } = this;
    pen.globalAlpha = 0.5;
    pen.drawImage(this.layer.canvas, 0, 0, w, h);
    pen.globalAlpha = 1;
    this.layer.decorate(pen, devicePixelRatio / scale);
  }

  #caption(panes) {
    const { children } = this.captions;
    while (children.length < panes.length) this.captions.append(document.createElement("span"));
    [...children].forEach((span, k) => {
      span.hidden = k >= panes.length;
      if (span.hidden) return;
      const [words, r] = panes[k], t = this.#transform(r), x = Math.max(r.x, t.x), y = Math.max(r.y, t.y);
      if (span.textContent !== words) span.textContent = words;
      span.style.translate = `${x / devicePixelRatio}px ${y / devicePixelRatio}px`;
      span.style.maxWidth = `${Math.max(60, (r.x + r.width - x) / devicePixelRatio - 16)}px`;
    });
  }

  #fit() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(box.width * devicePixelRatio));
    this.canvas.height = Math.max(1, Math.round(box.height * devicePixelRatio));
  }

  #frame;
}
