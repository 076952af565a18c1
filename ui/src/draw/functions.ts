// Which colour a function has: one of sixteen by its name, the same in every view, every run and on every machine. Pure.

/** So many colours there are; they are `--f0` … in the style sheet. */
export const COLOURS = 16;

/** FNV-1a over the code units of the name, mixed as MurmurHash3 does at its end: names that differ in one digit shall not look alike. */
export function colourOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % COLOURS;
}
