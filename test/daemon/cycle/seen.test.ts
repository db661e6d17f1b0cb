// Evidence about a deployment from the daemon's own writes and reads, on the sandbox's switches.
import { describe, expect, test } from 'vitest'
import { email } from '../../support/declare.ts'
import { answering, failingLedger, type Match, onLedger, reads } from '../../support/faults.ts'
import { later, MINUTE, worldUnder } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY: WorldOptions = { people: ['ada', 'bob', 'cleo'], groups: { a: ['ada', 'bob'] } }
const values = (one: Pick<World, 'ledger'>) =>
  Object.fromEntries(Object.entries(one.ledger.fact('seen') ?? {}).map(([aspect, { value }]) => [aspect, value]))

describe('a workspace', () => {
  test('that keeps layers shows it after a team write, with scope, from and to', async () => {
    const one = await worldUnder({ caps: { team: 500, ada: 4000 } }, COMPANY)
    await one.cycle({ caps: { team: 600, ada: 4000, bob: 'none' } })
    await one.cycle()
    const seen = one.ledger.fact('seen')
    expect(values(one)).toEqual({ caps: 'layered', reads: 'explicit' })
    expect(seen?.caps?.evidence).toBe(`after team was written (none to 500), ${email('ada')} kept its 4000`)
    expect(seen?.reads?.evidence).toBe(`${email('bob')} reads unset while the team has 500`)
  })

  test.each<readonly [string, WorldOptions, Readonly<Record<string, string>>]>([
    ['that copies', { switches: { capSemantics: 'fan-out' } }, { caps: 'copied' }],
    ['that copies, as is declared', { switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } }, { caps: 'copied' }],
    ['that keeps layers, where copies are declared', { config: { capSemantics: 'copied' } }, { caps: 'layered' }],
    ['whose reads show inherited caps', { switches: { capReads: 'inherited' } }, { caps: 'layered', reads: 'inherited' }],
  ])('%s shows it', async (_row, more, shown) => {
    const one = await worldUnder({ caps: { team: 500, bob: 'none', ada: 4000 } }, { ...COMPANY, ...more })
    await one.cycle({ caps: { team: 600, bob: 'none', ada: 4000 } })
    expect(values(one)).toMatchObject(shown)
  })

  test.each([
    ['keeps', 'stored', 'reads 0'],
    ['drops', 'omitted', 'was written (none to 0) and reads unset'],
    ['refuses', 'rejected', 'was written (none to 0) and is refused'],
  ] as const)('that %s a 0 shows it', async (_row, zeroCap, evidence) => {
    const one = await worldUnder({ caps: { team: 500, ada: 0 } }, { ...COMPANY, switches: { zeroCap } })
    expect(one.ledger.fact('seen')?.zero).toMatchObject({ value: zeroCap })
    expect(one.ledger.fact('seen')?.zero?.evidence).toContain(evidence)
  })

  test.each([
    ['explicit', { 'group:a': 900 }],
    ['inherited', { 'group:a': 900, ada: 900 }],
  ] as const)('whose reads are %s is asked again after a wide write, and once only', async (capReads, caps) => {
    const one = await testWorld({ ...COMPANY, caps: { ada: 900 }, switches: { capReads } })
    await one.cycle({ caps: { 'group:a': 900 } })
    await one.cycle({ caps: { 'group:a': 900, ada: 'none' } })
    expect(one.caps()).toEqual(caps)
    one.forget()
    await one.cycle()
    expect(one.reads()).not.toContain('bob')
  })

  test('is asked once a plan depends on it, also where none did since the wide write', async () => {
    const one = await testWorld({ ...COMPANY, caps: { ada: 900 } })
    for (let round = 0; round < 2; round += 1) await one.cycle({ caps: { team: 900 } })
    await one.cycle({ caps: { team: 900, ada: 'none' } })
    expect(one.caps()).toEqual({ team: 900 })
  })

  test('is not asked where a 0 reads as unset, because nobody can tell then', async () => {
    const one = await testWorld({ ...COMPANY, caps: { ada: 900 }, switches: { zeroCap: 'omitted' } })
    await one.cycle({ caps: { cleo: 0 } })
    await one.cycle({ caps: { team: 900, ada: 900, cleo: 0 } })
    await one.cycle()
    expect(one.reads()).not.toContain('bob')
  })

  test('is not taken for explicit because another client’s 0, which does not show, has replaced a number of ours', async () => {
    const one = await testWorld({ ...COMPANY, switches: { capReads: 'inherited', zeroCap: 'omitted' } })
    const policy = { caps: { team: 500, 'group:a': 400, ada: 1000, bob: 900, cleo: 700 } }
    await one.cycle(policy)
    one.foreign('ada', 0)
    await one.cycle()
    expect(values(one)).not.toHaveProperty('reads', 'explicit')
    expect(one.caps()).toMatchObject({ ada: 1000 })
  })

  test('that keeps layers is not taken for one that copies when one edit moves two groups of a person', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'], b: ['ada'] }, switches: { capReads: 'inherited' } })
    await one.cycle({ caps: { 'group:a': 100, 'group:b': 2000, ada: 'none' } })
    await one.cycle({ caps: { 'group:a': 800, 'group:b': 200, ada: 'none' } })
    expect(values(one)).not.toHaveProperty('caps', 'copied')
    expect(one.begun('CopyingSeen')).toEqual([])
  })
})

describe('what the client sees and learns', () => {
  const POLICY = { caps: { ada: 100 } }

  test('is recorded once, however often it comes', async () => {
    let saved = 0
    const wrapLedger = onLedger((method, [name]) => {
      if (method === 'saveFact' && (name === 'seen' || name === 'pace')) saved += 1
    })
    const one = await testWorld({ ...COMPANY, learns: true, wrapLedger })
    for (let cycles = 0; cycles < 3; cycles += 1) await one.cycle(POLICY)
    expect([values(one), saved]).toEqual([{ errors: 'error', spelling: 'camel' }, 1])
  })

  test('fails no cycle while the ledger cannot record it, and is recorded once it can', async () => {
    const [asked, failed] = [{ times: 0 }, { times: 0 }]
    const isOver = (): boolean => failed.times === 0 && one.told('cycle-finished').length === 1
    const wrapLedger = failingLedger((method) => {
      const isFull = method === 'commit' && isOver()
      failed.times += isFull ? 1 : 0
      return isFull
    })
    const isFirst: Match = (operation) => operation === 'GetUsageConfig' && ++asked.times === 1
    const one: World = await testWorld({ ...COMPANY, learns: true, wrapLedger, wrapTransport: answering(isFirst, 429) })
    await one.cycle(POLICY)
    await one.cycle()
    expect([one.ledger.fact('pace'), failed.times]).toEqual([{ default: expect.objectContaining({ limited: true }) }, 1])
  })
})

test('a stale reading of a value that our own write has just replaced proves no copying', async () => {
  const stale = { broken: false }
  const wrapTransport = answering(reads('ada'), 200, stale, '{"addOnCreditCap":500}')
  const one = await worldUnder({ caps: { ada: 4000 } }, { people: ['ada', 'bob'], wrapTransport })
  one.foreign('ada', 500)
  one.onCall = ({ operation }) => {
    stale.broken = operation === 'GetUsageConfig' && one.writes().includes('team 500')
  }
  one.forget()
  await one.cycle({ caps: { ada: 4000, team: 500 } })
  expect(one.writes().slice(0, 2)).toEqual(['ada 4000', 'team 500'])
  expect(one.ledger.fact('seen')?.caps?.value).not.toBe('copied')
})

test.each([
  ['of reads, by what a sweep shows', 'layered', 400, 'none'],
  ['of reads, beneath a write', 'layered', 'none', 'none'],
  ['of layers, beneath a write', 'fan-out', 'none', 900],
] as const)(
  'a person who has left a group since it was listed proves nothing about the group: %s',
  async (_row, capSemantics, had, ada) => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] }, switches: { capSemantics, capReads: 'inherited' } })
    if (had !== 'none') one.foreign('group:a', had)
    await one.cycle({ caps: { 'group:a': had, ada } })
    one.setMembers('a', [])
    await later(one, 15 * MINUTE, { caps: { 'group:a': 400, ada } }, { alone: false })
    expect(one.caps()).toMatchObject({ 'group:a': 400 })
    expect(values(one)).not.toHaveProperty(ada === 'none' ? 'reads' : 'caps')
  },
)
