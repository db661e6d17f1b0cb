import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey, userScope } from '../../../src/core/model/scope.ts'
import { ledgerPieces, readShared, sharedLedger } from '../../../src/daemon/ledger/share.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { NOW } from '../../support/declare.ts'
import { capsOf, person } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'
import { validatorOf } from './values.ts'

const KEY = 'a new key'
const emailOf = (name: string): string => `${name}@example.com`

async function share(world: World, key = KEY) {
  const pieces = ledgerPieces({
    workspaces: [{ workspace: 'acme', baseUrl: 'http://service', ledger: world.ledger }],
    now: world.clock.now(),
    key,
    digest: sha256,
  })
  return sharedLedger(JSON.parse((await Array.fromAsync(pieces)).join('')))
}

/** A workspace with every kind of record: caps of ours, a shown hold, a grant, an approval, a quarantined person. */
async function usedWorld(): Promise<World> {
  const world = await testWorld({ people: 40, groups: { core: [person(1), person(2)] }, switches: { zeroCap: 'omitted' } })
  const caps = capsOf(30)
  await world.cycle({ caps: { team: 500, 'group:core': 700, ...caps, [person(31)]: 0 } })
  await world.cycle({ caps: { team: 500, 'group:core': 700, ...capsOf(30, 10) } })
  return world
}

describe('a shared ledger', () => {
  test('contains no address and no display name', async () => {
    const world = await usedWorld()
    const text = JSON.stringify(await share(world))
    expect(text).not.toContain('example.com')
    for (const { name } of world.ledger.fact('usage')?.roster.people ?? []) expect(text).not.toContain(`"${name}"`)
  })

  test('leaves out values that no plan needs: the salt of the labels, the policy, the learned pace', async () => {
    const world = await usedWorld()
    world.ledger.saveFact('peopleSalt', 'the salt of /status')
    world.ledger.saveFact('pace', { default: 'learned' })
    const text = JSON.stringify(await share(world))
    for (const word of ['the salt of /status', 'learned', '"policy":{']) expect(text).not.toContain(word)
  })

  test('hashes people with another key in every answer', async () => {
    const world = await usedWorld()
    const hashes = async (key: string) => new Set(JSON.stringify(await share(world, key)).match(/[0-9a-f]{12}@people\.invalid/g))
    expect((await hashes('one')).intersection(await hashes('two')).size).toBe(0)
  })

  test('is equal to the ledger for a reader who knows the people', async () => {
    const world = await usedWorld()
    const emails = world.sandbox.store.people().map(({ email }) => email)
    const read = readShared(await share(world), 'acme', emails, sha256)
    expect(read?.owned()).toEqual(world.ledger.owned())
    expect(read?.approvals()).toEqual(world.ledger.approvals())
    expect(read?.openIntents()).toEqual(world.ledger.openIntents())
    expect(read?.quarantined()).toEqual(world.ledger.quarantined())
    const names: readonly Parameters<typeof world.ledger.fact>[0][] = [
      'verifiedDeclared',
      'planBaseline',
      'planBegunAt',
      'holdsShown',
      'changesShown',
      'driftSince',
      'conflictsGone',
      'conflictGroups',
    ]
    for (const name of names) expect({ [name]: read?.fact(name) }).toEqual({ [name]: world.ledger.fact(name) })
    const scope = userScope(emailOf(person(3)))
    expect(await read?.history({ scope, limit: 1 })).toEqual(await world.ledger.history({ scope, limit: 1 }))
  })

  test('also has the writes that make a cap contested', async () => {
    const world = await testWorld({ people: ['ada'] })
    await world.cycle({ caps: { team: 500, ada: 1000 } })
    for (const cap of [9000, 9001]) {
      world.foreign('ada', cap)
      await world.clock.pass(60_000)
      await world.cycle()
    }
    const remote = readShared(await share(world), 'acme', ['ada@example.com'], sha256)
    const writes = world.ledger.writtenLately(userScope('ada@example.com'), NOW)
    expect(writes).toHaveLength(3)
    expect(remote?.writtenLately(userScope('ada@example.com'), NOW)).toEqual(writes)
  })

  test('keeps unknown people as hashes, and still counts them', async () => {
    const world = await usedWorld()
    const read = readShared(await share(world), 'acme', [], sha256)
    expect(read?.owned().length).toBe(world.ledger.owned().length)
    const known = new Set(world.ledger.owned().map(({ scope }) => scopeKey(scope)))
    for (const { scope } of read?.owned() ?? []) if (scope.kind === 'user') expect(known.has(scopeKey(scope))).toBe(false)
  })

  test('hashes an address as a whole, whatever signs it has', async () => {
    const world = await testWorld({ people: ['a/b=c:d', 'bob'] })
    await world.cycle({ caps: { 'a/b=c:d': 700 } })
    expect(JSON.stringify(await share(world))).not.toContain('a/b')
    expect(readShared(await share(world), 'acme', [emailOf('a/b=c:d')], sha256)?.owned()).toEqual(world.ledger.owned())
  })

  test('has the people for whom conditions of rules hold, and the patterns of addresses that the reader knows', async () => {
    const world = await testWorld({ people: ['ada', 'bob'] })
    await world.cycle({ rules: [{ when: { email: 'ada@*' }, cap: 700 }] })
    const answer = await share(world)
    expect(JSON.stringify(answer)).not.toContain('ada@example.com')
    const emails = world.sandbox.store.people().map(({ email }) => email)
    expect(readShared(answer, 'acme', [...emails, 'ada@*'], sha256)?.fact('conditions')).toEqual(world.ledger.fact('conditions'))
    expect(Object.values(world.ledger.fact('conditions')?.rules?.matched ?? {})).toEqual([['ada@example.com']])
  })

  test('has a pause until it ends', async () => {
    const world = await usedWorld()
    await world.ledger.savePause({ untilAt: NOW + 60_000_000, reason: 'a move of ada@example.com', pausedAt: NOW })
    const read = readShared(await share(world), 'acme', ['ada@example.com'], sha256)
    expect(await read?.pause(NOW)).toMatchObject({ reason: 'a move of ada@example.com' })
    expect(await read?.pause(NOW + 60_000_000)).toBeUndefined()
  })

  test.each([
    ['null', 'the value is null and should be an object'],
    ['{"kind":"X"}', '.apiVersion is missing and should be capkeeper/v1; .kind is "X" and should be Ledger; .createdAt is missing'],
  ])('is refused when it is malformed, such as %s', (text, says) => {
    expect(() => sharedLedger(JSON.parse(text))).toThrow(says)
  })

  test('is refused with all of its faults at once, however deep', async () => {
    const document = await share(await usedWorld())
    const [records] = document.workspaces
    const broken = {
      ...records,
      owned: [{ ...records?.owned[0], scope: { kind: 'planet' }, cap: '5' }],
      pause: { untilAt: 'soon', reason: '', pausedAt: 1 },
      facts: { ...records?.facts, rules: { protectedEmails: [] } },
    }
    const place = '.workspaces[0].owned[0]'
    expect(() => sharedLedger({ ...document, workspaces: [broken] })).toThrow(
      `${place}.scope.kind is "planet" and should be team or group or user; ${place}.cap is "5" and should be a cap or none; ` +
        '.workspaces[0].pause.untilAt is "soon" and should be a number; and 1 more',
    )
  })

  test('is refused exactly when a JSON Schema validator refuses it', async () => {
    const document = await share(await usedWorld())
    const isValid = validatorOf('shared')
    const isTaken = (value: unknown): boolean => {
      try {
        return sharedLedger(value) !== undefined
      } catch (error) {
        expect(error).toMatchObject({ name: 'Undecodable' })
        return false
      }
    }
    const odd = fc.constantFrom<unknown>(null, 5, 'none', 'off', 'team', true, [], {}, undefined, { kind: 'team' }, { kind: 'group' }, [{}])
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 9 }), odd, (steps, value) => {
        const changed = replaced(document, steps, value)
        const taken = isTaken(changed)
        seen.add(taken)
        expect(taken).toBe(isValid(changed))
      }),
      { numRuns: 150 },
    )
    expect(seen.size).toBe(2)
  })
})

/** A copy with another value somewhere: each number chooses what of a list or an object is entered. */
function replaced(value: unknown, [step, ...steps]: readonly number[], by: unknown): unknown {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  if (step === undefined || keys.length === 0) return by
  const key = keys[step % keys.length] ?? ''
  const change = (one: unknown, name: string): unknown => (name === key ? replaced(one, steps, by) : one)
  if (Array.isArray(value)) return value.map((one, at) => change(one, String(at)))
  return Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, change(one, name)]))
}
