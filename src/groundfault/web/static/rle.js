// COCO's run-length masks: column by column, first the zeros, packed as pycocotools packs them. Masks are Uint8Array(height * width) of
// 0 and 1, row by row.
const BIAS = 48, CONTINUES = 32, NEGATIVE = 16, BITS = 31;

export function encode(mask, height, width) {
  return { size: [height, width], counts: pack(runsOf(mask, height, width)) };
}

export function decode(rle) {
  const [height, width] = rle.size;
  return maskOf(unpack(rle.counts), height, width);
}

export function runsOf(mask, height, width) {
  const runs = [];
  let value = 0, length = 0;
  for (let x = 0; x < width; x++) {
    for (let y = 0, i = x; y < height; y++, i += width) {
      if (mask[i] === value) { length++; continue; }
      runs.push(length);
      length = 1;
      value = mask[i];
    }
  }
  runs.push(length);
  return runs;
}

export function maskOf(runs, height, width) {
  const mask = new Uint8Array(height * width);
  let x = 0, y = 0, value = 0;
  for (const run of runs) {
    let left = run;
    while (left > 0) {                        // a run goes on at the head of the next column
      if (x >= width) throw new RangeError("the runs are longer than the mask");
      const here = Math.min(left, height - y);
      if (value) for (let i = y * width + x, end = i + here * width; i < end; i += width) mask[i] = 1;
      left -= here;
      y += here;
      if (y === height) { y = 0; x++; }
    }
    value ^= 1;
  }
  if (x !== width || y !== 0) throw new RangeError("the runs are shorter than the mask");
  return mask;
}

export function pack(runs) {
  const letters = [];
  for (let k = 0; k < runs.length; k++) {
    let rest = k > 2 ? runs[k] - runs[k - 2] : runs[k];
    for (;;) {
      const bits = rest & BITS;
      rest >>= 5;
      const more = bits & NEGATIVE ? rest !== -1 : rest !== 0;
      letters.push(String.fromCharCode((more ? bits | CONTINUES : bits) + BIAS));
      if (!more) break;
    }
  }
  return letters.join("");
}

export function unpack(counts) {
  const runs = [];
  for (let at = 0; at < counts.length;) {
    let value = 0, shift = 0, letter;
    do {
      letter = counts.charCodeAt(at++) - BIAS;
      if (!(letter >= 0 && letter < 64)) throw new RangeError("no run-length mask");
      value |= (letter & BITS) << shift;
      shift += 5;
    } while (letter & CONTINUES);
    if (letter & NEGATIVE && shift < 32) value |= -1 << shift;
    if (runs.length > 2) value += runs[runs.length - 2];
    if (value < 0) throw new RangeError("a run is negative");
    runs.push(value);
  }
  return runs;
}

// The mask's boundary as straight pieces between pixels, for a line that is sharp at every zoom.
export function boundary(mask, height, width) {
  const path = new Path2D();
  const at = (x, y) => x >= 0 && y >= 0 && x < width && y < height ? mask[y * width + x] : 0;
  for (let y = 0; y <= height; y++) {
    for (let x = 0; x < width;) {
      if (at(x, y) === at(x, y - 1)) { x++; continue; }
      const start = x;
      while (x < width && at(x, y) !== at(x, y - 1)) x++;
      path.moveTo(start, y);
      path.lineTo(x, y);
    }
  }
  for (let x = 0; x <= width; x++) {
    for (let y = 0; y < height;) {
      if (at(x, y) === at(x - 1, y)) { y++; continue; }
      const start = y;
      while (y < height && at(x, y) !== at(x - 1, y)) y++;
      path.moveTo(x, start);
      path.lineTo(x, y);
    }
  }
  return path;
}
