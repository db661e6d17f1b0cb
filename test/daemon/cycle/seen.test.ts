// Evidence about a deployment from the daemon's own writes and reads, on the sandbox's switches.
import { describe, expect, test } from 'vitest'
import { LISTED_MS } from '../../../src/core/interpret/evidence.ts'
import { noteSeen, seenKeeper } from '../../../src/daemon/cycle/read.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { fakeClock } from '../../support/clock.ts'
import { email, NOW } from '../../support/declare.ts'
import { answering, reads } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY: WorldOptions = { people: ['ada', 'bob', 'cleo'], groups: { a: ['ada', 'bob'] } }
const memoryLedger = async () => {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock: fakeClock() })
  return store.workspace('acme', 'https://service.example')
}
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
    [
      'that copies, where that is declared',
      { switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied' } },
      { caps: 'copied' },
    ],
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

  test('that shows nothing new is not written to the ledger again', async () => {
    const one = await worldUnder({ caps: { team: 500, ada: 4000, bob: 'none' } }, COMPANY)
    await one.cycle()
    const before = one.ledger.fact('seen')
    const ledger = { fact: one.ledger.fact, saveFact: () => expect.unreachable() }
    noteSeen(ledger, [{ aspect: 'reads', value: 'explicit', evidence: 'again' }], one.clock)
    await one.cycle()
    expect(one.ledger.fact('seen')).toEqual(before)
  })
})

test('copying that was seen stays seen: a stale reading looks like a cap that was kept', async () => {
  const ledger = await memoryLedger()
  ledger.saveFact('seen', { caps: { value: 'copied', at: NOW, evidence: 'ada changed' } })
  noteSeen(ledger, [{ aspect: 'caps', value: 'layered', evidence: 'bob kept 700' }], { now: () => NOW + 5 })
  expect(ledger.fact('seen')?.caps).toMatchObject({ value: 'copied' })
})

test('an observation of the client is recorded once, however often it comes', async () => {
  const ledger = await memoryLedger()
  const keeper = seenKeeper(ledger, { now: () => NOW })
  for (let told = 0; told < 3; told += 1) keeper.onSeen({ aspect: 'spelling', value: 'snake', evidence: 'an answer' })
  keeper.keep()
  expect(values({ ledger })).toEqual({ spelling: 'snake' })
  const counting = { fact: () => expect.unreachable(), saveFact: () => expect.unreachable() }
  const idle = seenKeeper(counting, { now: () => NOW })
  idle.keep()
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

describe('a person who has left a group since it was listed proves nothing about the group', () => {
  test.each([
    ['of reads, by what a sweep shows', 'layered', 400, 'none'],
    ['of reads, beneath a write', 'layered', 'none', 'none'],
    ['of layers, beneath a write', 'fan-out', 'none', 900],
  ] as const)('%s', async (_row, capSemantics, had, ada) => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] }, switches: { capSemantics, capReads: 'inherited' } })
    if (had !== 'none') one.foreign('group:a', had)
    await one.cycle({ caps: { 'group:a': had, ada } })
    one.setMembers('a', [])
    await later(one, LISTED_MS, { caps: { 'group:a': 400, ada } }, { usage: false })
    expect(one.caps()).toMatchObject({ 'group:a': 400 })
    expect(values(one)).not.toHaveProperty(ada === 'none' ? 'reads' : 'caps')
  })
})
