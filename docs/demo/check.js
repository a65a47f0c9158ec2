/* Full checks of results, on the processor. */

const ARRAYS = { u32: Uint32Array, i32: Int32Array, f32: Float32Array };

export const array = (key) => ARRAYS[key];

/* The unsigned integer that orders a key of 32 bits, given by its bits. */
function ordered(word, key) {
  if (key === "u32") return word;
  if (key === "f32" && word >>> 31) return ~word >>> 0;
  return (word ^ 0x80000000) >>> 0;
}

/** What is wrong with sorted keys (as 32-bit words), or null: they must be `before`, in order. */
export function keysWrong(key, before, after) {
  const right = Uint32Array.from(before, (word) => ordered(word, key)).sort();
  for (let i = 0; i < right.length; i++) if (ordered(after[i], key) !== right[i]) return `key ${i} is wrong`;
  return null;
}

/** What is wrong with sorted keys and the indices that moved along, or null. */
export function pairsWrong(key, order, before, after, indices) {
  const seen = new Uint8Array(before.length);
  const sign = order === "descending" ? -1 : 1;
  for (let i = 0; i < before.length; i++) {
    const index = indices[i];
    if (index >= before.length || seen[index]++) return `index ${i} is missing or there twice`;
    if (before[index] !== after[i]) return `key ${i} lost its index`;
    const gap = i ? sign * (ordered(after[i], key) - ordered(after[i - 1], key)) : 1;
    if (gap < 0) return `keys ${i - 1} and ${i} are out of order`;
    if (gap === 0 && index < indices[i - 1]) return `equal keys ${i - 1} and ${i} changed places`;
  }
  return null;
}

/** Keys of a kind, as a typed array. */
export function keysOf(key, kind, n) {
  const at = {
    random: () => Math.random(),
    "few different": () => Math.floor(Math.random() * 6) / 6 + 1 / 12,
    "nearly sorted": (i) => Math.min(1, Math.max(0, i / n + (Math.random() < 0.02 ? Math.random() - 0.5 : 0))),
    waves: (i) => 0.5 + 0.45 * Math.sin((i / n) * 40) * (0.4 + 0.6 * (i / n)),
  }[kind];
  const made = new ARRAYS[key](n);
  for (let i = 0; i < n; i++) {
    const x = at(i);
    made[i] = key === "u32" ? x * 4294967295 : key === "i32" ? (x - 0.5) * 4294967294 : x * 2 - 1;
  }
  return made;
}
