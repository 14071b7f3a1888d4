// Pictures and masks of items, decoded before they are needed.
import { boundary, decode } from "../rle.js";

const MOST = 10;

export class Pictures {
  constructor() { this.ready = new Map(); this.coming = new Map(); }

  // What can be drawn at once, or undefined.
  get(entry) { return this.ready.get(keyOf(entry)); }

  load(entry) {
    const key = keyOf(entry);
    if (!this.coming.has(key)) {
      const loading = read(entry).then(found => { if (this.coming.has(key)) this.ready.set(key, found); return found; });
      loading.catch(() => this.coming.delete(key));
      this.coming.set(key, loading);
    }
    return this.coming.get(key);
  }

  // Forget what is neither shown nor next.
  keep(entries) {
    const wanted = new Set(entries.map(keyOf));
    for (const key of [...this.coming.keys()]) {
      if (wanted.has(key) || this.coming.size <= MOST) continue;
      const found = this.ready.get(key);
      found?.before.close();
      found?.after.close();
      this.ready.delete(key);
      this.coming.delete(key);
    }
  }
}

const keyOf = entry => `${entry.item.id}\n${entry.stage}`;

async function read(entry) {
  const { item, place } = entry;
  const size = (item.mask ?? item.mask_after)?.size;
  const [before, after] = await Promise.all(["before", "after"].map(side => picture(`/picture/${place}/${side}`, size)));
  return { before, after, target: outlined(item.mask), fresh: outlined(item.mask_after) };
}

async function picture(address, size) {
  const response = await fetch(address);
  if (!response.ok) throw new Error("a picture cannot be read");
  const content = await response.blob();
  const upright = await createImageBitmap(content);
  if (!size || (upright.height === size[0] && upright.width === size[1])) return upright;
  const stored = await createImageBitmap(content, { imageOrientation: "none" });   // masks may be about pixels as they are stored
  return stored.height === size[0] && stored.width === size[1] ? stored : upright;
}

// A mask with its outline; null where there is none or it cannot be read.
export function outlined(rle) {
  if (!rle) return null;
  try {
    const [height, width] = rle.size, mask = decode(rle);
    return { mask, height, width, path: boundary(mask, height, width) };
  } catch (problem) { return null; }
}
