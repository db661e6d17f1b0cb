// Writes that the service refuses: all, because of the key; most, because of the address; or one.
import { describe, expect, test } from 'vitest'
import { email, HOUR, SETTINGS } from '../../support/declare.ts'
import { answering, answerOf, either, type Fault, instead, listings, reads, whenAsked, writes } from '../../support/faults.ts'
import { capsOf, later, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

const REFUSALS: Readonly<Record<number, string>> = { 403: 'permission denied', 404: 'invalid user e-mail' }

/** Writes are answered with this status while the fault lasts, all of them or one person's. */
const turningDown = (fault: Fault, status: number, name?: string) =>
  answering(writes(name), status, fault, JSON.stringify({ error: REFUSALS[status] ?? 'no' }))

test('a key that may not write costs one line of history and one error a cycle, and is reported once', async () => {
  const fault = { broken: true }
  const one = await testWorld({ people: 200, rate: 20, wrapTransport: turningDown(fault, 403) })
  for (let round = 0; round < 5; round += 1) {
    const { result, message, applied } = await one.cycle({ caps: capsOf(150, 100) })
    expect({ result, interrupted: applied?.interrupted }).toEqual({ result: 'error', interrupted: 'refused' })
    expect(message).toContain('Billing Write')
    await one.clock.pass(300_000)
  }
  expect((await one.ledger.history()).length).toBeLessThanOrEqual(5)
  expect(one.told('change-finished').length).toBeLessThanOrEqual(5)
  expect(one.begun('KeyRefused')).toMatchObject([{ reason: 'WRITES_REFUSED' }])
  expect(one.ledger.openIntents()).toEqual([])
  fault.broken = false
  await later(one, HOUR)
  expect(Object.keys(one.caps())).toHaveLength(150)
})

describe('a write that is turned down for itself', () => {
  test.each([
    ['leaves the team alone for a day as well', 400, 90_000],
    ['does not quarantine the team as unknown: it has no id, so the answer is not the service’s', 404, 500],
  ])('%s', async (_name, status, soon) => {
    const fault = { broken: false }
    const one = await worldUnder({ caps: { team: 500 } }, { people: 20, wrapTransport: turningDown(fault, status) })
    one.foreign('team', 90_000)
    fault.broken = true
    await one.cycle()
    expect(one.ledger.quarantined().map(({ scope }) => scope.kind)).toEqual(status === 400 ? ['team'] : [])
    fault.broken = false
    await later(one, 300_000)
    expect(one.caps()).toEqual({ team: soon })
    await later(one, 24 * HOUR)
    expect(one.caps()).toEqual({ team: 500 })
  })

  test.each([400, 404])('leaves that one scope alone for a day, also when it is all that was tried: %i', async (status) => {
    const one = await testWorld({ people: 20, wrapTransport: turningDown({ broken: true }, status, 'p001') })
    await one.cycle({ caps: { team: 500, p001: 1000 } })
    await one.cycle()
    expect((await one.ledger.history()).map(({ result }) => result).sort()).toEqual(['applied', 'failed'])
    expect(one.ledger.quarantined()).toMatchObject([{ code: 'CAP_REFUSED', scope: { email: email('p001') } }])
  })
})

test('a group that could not be set before the team is lowered defers the changes that depend on it', async () => {
  const wrapTransport = answering(writes('group:a'), 400)
  const inherited = { switches: { capReads: 'inherited' }, config: { capReads: 'inherited' } } as const
  const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] }, ...inherited, wrapTransport })
  await one.cycle({ caps: { team: 300, ada: 1500 } })
  // The group shows the team's 300 still, read before the team fell.
  await one.cycle({ caps: { team: 100, 'group:a': 300 } })
  expect(one.inForce()).toEqual({ ada: 1500, bob: 100 })
})

test('a member keeps a cap of their own while the team is refused, though their group was cleared and shows what the team has', async () => {
  const fault = { broken: false }
  const guards = { ...SETTINGS.guards, maxAffected: 'off', maxCleared: 'off' } as const
  const inherited = { switches: { capReads: 'inherited' }, config: { capReads: 'inherited', guards } } as const
  const wrapTransport = answering(writes('team'), 400, fault)
  const one = await testWorld({ people: 20, groups: { a: ['p001'] }, ...inherited, wrapTransport })
  await one.cycle({ caps: { team: 800, 'group:a': 5000, p001: 1000 } })
  fault.broken = true
  await one.cycle({ caps: { team: 'none', p001: 'none' } })
  expect(one.inForce()).toMatchObject({ p001: 1000, p002: 800 })
})

test('a group of ours that the service does not know any more is skipped once no policy declares it, without a failure', async () => {
  const gone = { broken: false }
  const isOfGroup = either(reads('group:a'), writes('group:a'), listings('A'))
  const one = await testWorld({ groups: { a: ['ada'] }, wrapTransport: answering(isOfGroup, 404, gone, '{"error":"unknown group"}') })
  await one.cycle({ caps: { team: 500, 'group:a': 900 } })
  gone.broken = true
  one.restart()
  for (let round = 0; round < 3; round += 1) {
    const { result, after } = await one.cycle({ caps: { team: 500 } })
    expect(result).toBe('noop')
    expect(after.plan.problems).toMatchObject([{ severity: 'warning', code: 'SCOPE_SKIPPED', scope: { id: 'a' } }])
    expect(after.plan.counts).toMatchObject({ skipped: 1, rejected: 0 })
  }
  expect(one.ledger.owned().map(({ scope }) => scope.kind)).toEqual(['group', 'team'])
})

test('a member of a pool whom the service does not know, and to whom nothing was dealt is left alone while the service does not know them: the sweep of the others is whole', async () => {
  const isOfAda = either(reads('ada'), writes('ada'))
  const one = await testWorld({ wrapTransport: answering(isOfAda, 404, undefined, '{"error":"invalid user e-mail"}') })
  const members = { kind: 'emails', emails: ['ada', 'bob', 'cleo'].map(email) } as const
  await one.cycle({ caps: { team: 500 }, pools: [{ name: 'research', credits: 900, members, share: 'equal' }] })
  expect((await one.cycle()).result).toBe('noop')
})

describe('a person whose cap is answered with a 404', () => {
  test.each([
    ['of a proxy', 'default backend - 404', 'unknown'],
    ['without a word', '', 'unknown'],
    ['in a page', '<html><title>404 Not Found</title></html>', 'unknown'],
    ['in the words of the service', '{"error":"invalid user e-mail"}', 'rejected'],
  ])('%s: a later good reading is the last word', async (_name, body, state) => {
    const fault = { broken: false }
    const one = await worldUnder({ caps: { team: 500, ada: 4000 } }, { wrapTransport: answering(reads('ada'), 404, fault, body) })
    fault.broken = true
    const { after } = await one.cycle()
    expect(after.scopes.find(({ scope }) => scope.kind === 'user')).toMatchObject({ state })
    one.foreign('ada', 99_999)
    fault.broken = false
    await later(one, 300_000)
    expect(one.caps()).toMatchObject({ ada: 4000 })
  })
})

test('drift lasts on over a reading that failed', async () => {
  const fault = { broken: false }
  const wrapTransport = answering(reads('ada'), 400, fault)
  const one = await testWorld({ people: ['ada'], caps: { ada: 900 }, config: { mode: 'audit' }, wrapTransport })
  await one.cycle({ caps: { ada: 500 } })
  const since = one.ledger.fact('driftSince')
  for (const broken of [true, false]) {
    fault.broken = broken
    await later(one, HOUR)
    expect(one.ledger.fact('driftSince')).toEqual(since)
  }
  expect(Object.keys(since ?? {})).toHaveLength(1)
})

describe('a write that the service accepts and does not keep', () => {
  test('is quarantined for a day after the third time in a row, as an undeclared cap of an ancestor may show there', async () => {
    const config = { capReads: 'explicit' } as const
    const one = await testWorld({ groups: { core: ['ada'] }, caps: { 'group:core': 2000 }, switches: { capReads: 'inherited' }, config })
    for (let round = 0; round < 5; round += 1) {
      await one.cycle({ caps: { ada: 'none' } })
      await one.clock.pass(300_000)
    }
    expect(one.writes()).toEqual(['ada none', 'ada none', 'ada none'])
    expect(one.ledger.quarantined()).toMatchObject([{ code: 'WRITE_NOT_KEPT', message: expect.stringContaining('no policy declares') }])
    await later(one, 24 * HOUR)
    expect(one.writes()).toHaveLength(4)
  })

  test('never is one for a group that shows the undeclared team cap, nor for a group that is to have a cap', async () => {
    const caps = { team: 2000 }
    const shown = await testWorld({ groups: { core: ['ada'] }, caps, switches: { capReads: 'inherited' } })
    const lost = await testWorld({ groups: { core: ['ada'] }, wrapTransport: answering(writes(), 200) })
    for (let round = 0; round < 5; round += 1) {
      await shown.cycle({ caps: { 'group:core': 'none' } })
      await lost.cycle({ caps: { 'group:core': 1000 } })
      await Promise.all([shown, lost].map((one) => one.clock.pass(300_000)))
    }
    expect(shown.writes()).toEqual([])
    expect(shown.ledger.quarantined()).toEqual([])
    expect(lost.ledger.quarantined()).toEqual([])
  })
})

describe('a clear after which a cap shows that the person inherits by now', () => {
  const inherited = { groups: { core: ['ada'] }, switches: { capReads: 'inherited' } } as const

  describe.each(['inherited', 'auto'] as const)('from a group that no policy names, where capReads is %s', (capReads) => {
    const unnamed = { ...inherited, config: { capReads } } as const

    test.each<readonly [string, Readonly<Record<string, number>>]>([
      ['over a cap of their own', { ada: 50 }],
      ['over nothing', {}],
    ])('has landed %s once it was sent twice, and nothing is sent after it', async (_name, own) => {
      const one = await testWorld({ ...unnamed, caps: { team: 1000, 'group:core': 1500, ...own } })
      const { result } = await one.cycle({ caps: { team: 1000, ada: 'none' } })
      expect({ result, caps: one.caps(), writes: one.writes() }).toEqual({
        result: 'success',
        caps: { team: 1000, 'group:core': 1500 },
        writes: ['ada none', 'ada none'],
      })
      for (let round = 0; round < 2; round += 1) {
        one.forget()
        one.restart()
        expect((await one.cycle()).result).toBe('noop')
        expect(one.writes()).toEqual([])
      }
    })

    test.each([
      ['is undone at once by another client', 500],
      ['is overtaken by another client', 100],
      ['is dropped, though it was accepted', undefined],
    ])('that %s is sent again', async (_how, theirs) => {
      let times = 0
      const wrapTransport = instead(async (operation, body, ask) => {
        if (operation !== 'UsageConfig' || !body['clear_add_on_credit_cap']) return undefined
        times += 1
        if (times === 1 && theirs === undefined) return answerOf(200)
        const answer = await ask()
        if (times === 1) one.foreign('ada', theirs)
        return answer
      })
      const one = await testWorld({ ...unnamed, caps: { team: 1000, ada: 500 }, wrapTransport })
      expect((await one.cycle({ caps: { team: 1000, ada: 'none' } })).result).toBe('success')
      expect(one.caps()).toEqual({ team: 1000 })
    })

    test('is sent once more when another cap shows, and then no more', async () => {
      const one = await worldUnder({ caps: { ada: 'none' } }, { ...unnamed, caps: { 'group:core': 1500, ada: 50 } })
      one.foreign('ada', 700)
      await one.cycle()
      one.foreign('group:core', 2000)
      await one.cycle()
      await one.cycle()
      expect(one.writes()).toEqual(Array(5).fill('ada none'))
      expect(one.caps()).toEqual({ 'group:core': 2000 })
    })

    test('is forgotten once another cap explains the reading: then that value is a cap of their own', async () => {
      const one = await worldUnder({ caps: { team: 1000, ada: 'none' } }, { ...unnamed, caps: { team: 1000, 'group:core': 1500 } })
      one.foreign('group:core', undefined)
      await one.cycle()
      one.foreign('ada', 1500)
      await one.cycle()
      expect(one.caps()).toEqual({ team: 1000 })
    })

    test('is not sent again where no policy asks for it and another client has set a cap meanwhile', async () => {
      const wrapTransport = instead(async (operation, body, ask) => {
        if (operation !== 'UsageConfig' || !body['clear_add_on_credit_cap']) return undefined
        const answer = await ask()
        one.foreign('ada', 100)
        return answer
      })
      const one = await testWorld({ ...unnamed, wrapTransport })
      await one.cycle({ caps: { ada: 1500, bob: 10 } })
      await one.cycle({ caps: { bob: 10 } })
      await one.cycle()
      expect(one.caps()).toEqual({ ada: 100, bob: 10 })
      expect(one.writes().filter((write) => write.startsWith('ada'))).toEqual(['ada 1500', 'ada none'])
    })

    test('has landed, also where no policy declares the cap any more that went', async () => {
      const one = await worldUnder({ caps: { ada: 1500, bob: 10 } }, { ...unnamed, caps: { 'group:core': 1500 } })
      expect((await one.cycle({ caps: { bob: 10 } })).result).toBe('success')
      expect((await one.cycle()).result).toBe('noop')
      expect(one.writes()).toEqual(['bob 10', 'ada none', 'ada none'])
    })
  })

  test.each(['inherited', 'auto'] as const)(
    'has landed, also through a group that follows the team, where capReads is %s',
    async (capReads) => {
      const one = await testWorld({ people: ['ada', 'bob'], ...inherited, caps: { team: 1000, ada: 50 }, config: { capReads } })
      const { result } = await one.cycle({ caps: { team: 800, 'group:core': 'none', ada: 'none' } })
      expect({ result, caps: one.caps() }).toEqual({ result: 'success', caps: { team: 800 } })
      expect(one.begun('ForeignChange')).toEqual([])
    },
  )

  test('has landed, also when another client changed that cap since it was read', async () => {
    const one = await testWorld({
      people: ['ada', 'bob'],
      ...inherited,
      caps: { team: 1000, 'group:core': 400, ada: 50 },
      config: { capReads: 'inherited' },
    })
    whenAsked(one, writes(), () => one.foreign('group:core', 450))
    const { result } = await one.cycle({ caps: { team: 1000, ada: 'none' }, bare: ['core'] })
    expect({ result, caps: one.caps() }).toEqual({ result: 'success', caps: { team: 1000, 'group:core': 450 } })
    expect(one.begun('ForeignChange')).toEqual([])
  })
})
