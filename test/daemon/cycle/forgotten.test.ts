// `ledger forget` beside a running daemon: nothing of the person comes back from the daemon's memory.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { worldClock } from '../../support/clock.ts'
import { DAY, email, HOUR } from '../../support/declare.ts'
import { live, MINUTE } from '../../support/living.ts'
import { temporaryFolder } from '../../support/temporary.ts'
import { midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld } from '../../support/world.ts'

const ADA = email('ada')
const POOL = { name: 'all', members: { kind: 'when', when: { email: '*' } } as const, credits: 5000 }

test.each([
  ['last cycle’s figures of theirs still count', { turn: true }],
  ['the journal has changes at their scope', { foreign: true }],
  ['a pool still counts them', { pool: true }],
  ['they were in the people file', { listed: true }],
])(
  'a person who left is forgotten for good where %s',
  async (_what, { turn, foreign, pool, listed }: Readonly<Record<string, boolean>>) => {
    const clock = worldClock(turn ? midnight(30) + 20 * HOUR : midnight(20))
    const file = join(temporaryFolder(), 'capkeeper.db')
    const one = await testWorld({
      people: ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'],
      clock,
      ledger: file,
      config: { intervalMs: 30 * MINUTE, ...(listed && { directory: { file: 'people.csv', id: 'email', columns: ['unit'] } }) },
      parts: { readPeopleFile: async () => ({ digest: 'd', people: new Map([[ADA, { unit: 'Research' }]]), others: [] }) },
    })
    recordPast(
      one,
      ['ada', 'bob'].map((who) => ({ who, at: noon(10), credits: 100 })),
    )
    const life = live(one)
    life.set({ caps: { team: 500, ...(foreign && { ada: 700 }) }, ...(pool && { pools: [POOL] }) })
    await clock.pass(5 * HOUR)
    if (foreign) one.foreign('ada', 900)
    await clock.pass(5 * HOUR)
    life.set({ caps: { team: 500 }, ...(pool && { pools: [POOL] }) })
    await clock.pass(MINUTE)
    one.removePerson('ada')
    await clock.pass(pool ? DAY + HOUR : HOUR)
    const remembering = (): readonly unknown[] => {
      const sqlite = new DatabaseSync(file, { readOnly: true })
      const facts = sqlite.prepare('SELECT name FROM fact WHERE instr(data, ?) > 0').all(ADA)
      sqlite.close()
      return facts
    }
    expect(remembering()).not.toEqual([])
    const beside = await openLedger({ file, mode: 'note', clock })
    await (await beside.workspace('acme', undefined)).forget(ADA)
    await beside.close()
    await clock.pass(2 * HOUR)
    await life.stop()
    expect(remembering()).toEqual([])
    expect(one.ledger.fact('forgotten')).toBeUndefined()
    expect((await one.ledger.highestUse()).has(ADA)).toBe(false)
    const { usage, directory, measured, conditions, pools } = one.workspace.state ?? {}
    expect(JSON.stringify([usage, directory, measured, conditions, pools, one.workspace.chronicle?.journal()])).not.toContain(ADA)
  },
)
