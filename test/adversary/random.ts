// Seeded random numbers for the adversary's cases: the same seed gives the same case. There is no other source of chance.

/** A small seeded generator (mulberry32) and the draws that cases need. */
export type Random = ReturnType<typeof randomOf>

export function randomOf(seed: number) {
  let a = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  const next = (): number => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  /** A whole number from lo to hi, both included. */
  const int = (lo: number, hi: number): number => lo + Math.floor(next() * (hi - lo + 1))
  const pick = <T>(items: readonly T[]): T => {
    const item = items[int(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  /** At most `count` different items, in random order. */
  const sample = <T>(items: readonly T[], count: number): T[] => {
    const rest = [...items]
    const taken: T[] = []
    while (taken.length < count && rest.length > 0) taken.push(...rest.splice(int(0, rest.length - 1), 1))
    return taken
  }
  return { next, int, chance: (probability: number) => next() < probability, pick, sample }
}
