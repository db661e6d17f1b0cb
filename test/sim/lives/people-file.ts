// The people file of some lives, with a unit for each person. In a storm people move, are added and removed, and the file breaks or is wrong as a whole
// for a while, so that no cap may follow from it; in a calm time it lists everybody whom it has ever listed.
import { between, type Draw, pick, stream } from '../../../src/sandbox/company/company.ts'
import { MINUTE_MS, oneOf, type Scenario } from './scenario.ts'

/** The content of a file at an instant: units by e-mail, '' for an empty cell. */
export interface FileVersion {
  readonly digest: string
  readonly units: ReadonlyMap<string, string>
}

export const DIRECTORY = { file: '/people.csv', id: 'email', columns: ['unit'] } as const
const UNITS = ['A', 'B', 'C'] as const

/** Values or people are missing, or it is soon changed back. */
const DAMAGES = ['unreadable', 'half', 'blank', 'blank', 'short-lived'] as const

export function createPeopleFile(scenario: Scenario, people: ReadonlyMap<string, unknown>, elapsed: () => number) {
  const draw = stream(scenario.seed, 'people-file/rows')
  const units = new Map([...people.keys()].flatMap((email) => (draw() < 0.85 ? [[email, pick<string>(draw, UNITS)]] : [])))
  const full = new Map(units)
  const numbers = new Map<string, number>()
  let [changedMs, spoilt] = [Number.NEGATIVE_INFINITY, 0]
  const versionOf = (content: ReadonlyMap<string, string>, copy = 0): FileVersion => {
    const text = JSON.stringify([...content, copy])
    numbers.set(text, numbers.get(text) ?? numbers.size)
    return { digest: `v${numbers.get(text)}`, units: new Map(content) }
  }
  let present: FileVersion | undefined = versionOf(units)
  const publish = (next: FileVersion | undefined): void => {
    if (next?.digest !== present?.digest) changedMs = elapsed()
    present = next
  }
  return {
    /** Undefined while it cannot be read. */
    version: (): FileVersion | undefined => present,
    /** What counts for a person; `open` while a change may not count yet. */
    unitOf: (email: string): string | undefined =>
      elapsed() - changedMs < 3.3 * scenario.usageIntervalMs + 25 * MINUTE_MS ? 'open' : units.get(email),
    edit(by: Draw): void {
      for (let left = between(by, 1, 3); left > 0; left -= 1) {
        const email = oneOf(by, [...people.keys()]) ?? ''
        const unit = by() < 0.15 ? '' : pick(by, UNITS)
        if (by() < 0.15) units.delete(email)
        else units.set(email, unit)
        if (unit !== '' || !full.has(email)) full.set(email, unit)
      }
      publish(versionOf(units))
    },
    /** Returns for how long it is so at most. */
    spoil(by: Draw): number {
      const damage = pick(by, DAMAGES)
      const wrong = { blank: () => '', 'short-lived': (unit: string) => (unit === 'A' ? 'B' : 'A'), half: (unit: string) => unit }
      // No wrong content occurs twice: it would seem to have stayed the same in between.
      spoilt += 1
      if (damage === 'unreadable') publish(undefined)
      else {
        const kept = [...units].filter((_, index) => damage !== 'half' || index % 2 === 0)
        publish(versionOf(new Map(kept.map(([email, unit]) => [email, wrong[damage](unit)])), spoilt))
      }
      return (damage === 'short-lived' ? 9.9 : between(by, 1, 600)) * MINUTE_MS
    },
    /** `complete`: with everybody whom it has ever listed, also without a value, since who vanishes keeps what the file said last. */
    repair(complete = false): void {
      if (complete) for (const [email, unit] of full) if (people.has(email) && !units.get(email)) units.set(email, unit)
      publish(versionOf(units))
    },
  }
}
