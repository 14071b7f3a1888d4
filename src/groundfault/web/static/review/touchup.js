// A mask under the brush. It is a layer of the picture's own size that is drawn over it; strokes are kept, so that each can be taken back.
import { encode } from "../rle.js";

const COLOUR = "#ffe14d", THRESHOLD = 128;

export class Touchup {
  constructor(mask, height, width) {
    this.width = width;
    this.height = height;
    this.first = mask;
    this.strokes = [];
    this.tool = "brush";
    this.radius = Math.max(3, Math.round(Math.max(width, height) / 50));
    this.corners = [];               // of a polygon in the making
    this.cursor = null;
    this.canvas = new OffscreenCanvas(width, height);
    this.pen = this.canvas.getContext("2d", { willReadFrequently: true });
    this.#paintFirst();
  }

  get touched() { return this.strokes.length > 0; }

  begin(x, y) {
    if (this.tool === "polygon") { this.#corner(x, y); return; }
    this.strokes.push({ tool: this.tool, radius: this.radius, points: [[x, y]] });
    this.#draw(this.strokes.at(-1), 0);
  }

  extend(x, y) {
    const stroke = this.strokes.at(-1);
    stroke.points.push([x, y]);
    this.#draw(stroke, stroke.points.length - 2);
  }

  #corner(x, y) {
    const [first] = this.corners;
    if (this.corners.length > 2 && Math.hypot(x - first[0], y - first[1]) < this.radius) this.close();
    else this.corners.push([x, y]);
  }

  // A polygon with at least three corners becomes part of the mask.
  close() {
    if (this.corners.length > 2) {
      this.strokes.push({ tool: "polygon", points: this.corners });
      this.#draw(this.strokes.at(-1), 0);
    }
    this.corners = [];
  }

  undo() {
    if (this.corners.length) this.corners.pop();
    else if (this.strokes.length) {
      this.strokes.pop();
      this.#paintFirst();
      this.strokes.forEach(stroke => this.#draw(stroke, 0));
    } else return false;
    return true;
  }

  grow(factor) { this.radius = Math.min(Math.max(this.width, this.height) / 3, Math.max(1, this.radius * factor)); }

  // What is drawn over the layer: the brush's ring, the corners of a polygon. `unit` is one pixel of the screen.
  decorate(pen, unit) {
    pen.lineWidth = 1.5 * unit;
    for (const style of ["rgb(0 0 0 / .8)", "#fff"]) {
      pen.strokeStyle = style;
      pen.setLineDash(style === "#fff" ? [4 * unit, 4 * unit] : []);
      pen.beginPath();
      this.corners.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
      if (this.tool === "polygon" && this.cursor && this.corners.length) pen.lineTo(...this.cursor);
      if (this.tool !== "polygon" && this.cursor) pen.arc(...this.cursor, this.radius, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  // The mask as it is now.
  pixels() {
    const { data } = this.pen.getImageData(0, 0, this.width, this.height), alpha = new Uint32Array(data.buffer), mask = new Uint8Array(alpha.length);
    for (let i = 0; i < alpha.length; i++) mask[i] = alpha[i] >>> 24 >= THRESHOLD ? 1 : 0;
    return mask;
  }

  rle() { return encode(this.pixels(), this.height, this.width); }

  #paintFirst() {
    const image = new ImageData(this.width, this.height), pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) if (this.first[i]) pixels[i] = 0xff4de1ff;          // COLOUR, as bytes lie in memory
    this.pen.putImageData(image, 0, 0);
  }

  #draw({ tool, radius, points }, from) {
    const { pen } = this;
    pen.globalCompositeOperation = tool === "eraser" ? "destination-out" : "source-over";
    pen.fillStyle = pen.strokeStyle = COLOUR;
    pen.beginPath();
    if (tool === "polygon") {
      points.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
      pen.closePath();
      pen.fill("evenodd");
      return;
    }
    pen.lineWidth = 2 * radius;
    pen.lineCap = pen.lineJoin = "round";
    pen.moveTo(...points[from]);
    if (points.length === 1) pen.lineTo(...points[0]);
    for (const point of points.slice(from + 1)) pen.lineTo(...point);
    pen.stroke();
  }
}
