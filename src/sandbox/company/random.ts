// Seeded random numbers. Every stream has a name, so that the same seed gives the same numbers for the same purpose, whatever other streams
// are drawn. Must never be used for secrets.

/** Draws uniformly from [0, 1); each call gives the next number of the stream. */
export type Draw = () => number

/** A stream that depends on `seed` and `name` only (mulberry32 over an FNV-1a hash of both). Choice. */
export function stream(seed: number, name: string): Draw {
  let state = fnv1a(`${seed}/${name}`)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole number from `low` to `high`, both included. */
export const between = (draw: Draw, low: number, high: number): number => low + Math.floor(draw() * (high - low + 1))

/** One element of a list that is not empty. */
export function pick<T>(draw: Draw, list: readonly [T, ...T[]]): T {
  return list[Math.floor(draw() * list.length)] ?? list[0]
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
