// /api/v1 over real HTTP: every answer keeps to the schema that the OpenAPI document names, whatever the workspace is like, and questions that make no
// sense are refused in words.

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, test } from 'vitest'
import { createConsole } from '../../../src/console/routes.ts'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { EMAIL_LABELS, hashLabels } from '../../../src/daemon/http/labels.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { compare, compareStart } from '../../../src/daemon/replay/comparisons.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { COMPANY, recordedPlace } from '../../cli/recorded-place.ts'
import { ADDRESSES, offences } from '../../support/api-schema.ts'
import { fakeClock } from '../../support/clock.ts'
import { email } from '../../support/declare.ts'
import { libraryOver } from '../../support/documents.ts'
import { answering, reads } from '../../support/faults.ts'
import { capsOf } from '../../support/living.ts'
import { filled } from '../../support/paths.ts'
import { recordCompany } from '../../support/recorded.ts'
import { closing, serve } from '../../support/serve.ts'
import { emptyView, fullView } from '../../support/views.ts'
import { createWorld, type World } from '../../support/world.ts'

/** A workspace in which something is in force, something was changed by somebody else, and something is held; made once, as it is only read. */
let busy: Promise<World> | undefined
const busyWorld = (): Promise<World> => (busy ??= makeBusyWorld())
afterAll(async () => (await busy)?.close())

async function makeBusyWorld(): Promise<World> {
  const world = await createWorld({ people: 40, groups: { grp_a: ['p001', 'p002'], grp_b: ['p002', 'p003'] }, caps: { p009: 77 } })
  await world.cycle({
    caps: { team: 500, 'group:grp_a': 800, p001: 900, p030: 600 },
    grants: [{ on: 'p030', cap: 700, until: Date.UTC(2026, 11, 15), reason: 'release week', ticket: 'OPS-1' }],
    onGroupConflict: 'min',
  })
  world.foreign('team', 9_000)
  await world.cycle()
  await world.cycle({ caps: { team: 100, 'group:grp_a': 800, p001: 900 }, protect: ['p001', 'p005'] })
  return world
}

type Compares = NonNullable<NonNullable<Parameters<typeof libraryOver>[1]>['comparisons']>
const over = (world: Pick<World, 'workspace' | 'clock'>, people = EMAIL_LABELS, comparisons?: Compares) =>
  libraryOver(() => world, {
    people,
    sourceUrl: () => 'https://git.example/acme/caps/blob/{revision}/{file}#L{line}',
    ...(comparisons && { comparisons }),
  })

/** A reader who sees everything, and whose address is known. */
const ADA = { ...EVERYBODY, email: 'ada@example.com', asks: ['X-Groups', 'X-Email'] }

const json = async (url: string) => JSON.parse(await (await fetch(url)).text())

/** Every address of the table with parts that are there. */
async function everyAddress(url: string, workspace = 'acme'): Promise<readonly (readonly [string, string])[]> {
  const base = `${url}/api/v1/workspaces/${workspace}`
  const [people, groups, holds] = await Promise.all(['people', 'groups', 'holds'].map((name) => json(`${base}/${name}`)))
  const parts: Record<string, readonly string[]> = {
    workspace: [workspace],
    person: people.items.map(({ person }: { person: string }) => encodeURIComponent(person)),
    group: groups.items.map(({ id }: { id: string }) => encodeURIComponent(id)),
    hold: holds.items.map(({ id }: { id: string }) => id),
  }
  return ADDRESSES.flatMap(({ path, kind }) => filled(path, parts).map((at) => [kind, url + at] as const))
}

async function allOffences(url: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const [kind, address] of await everyAddress(url)) {
    const answer = await fetch(address)
    const value = JSON.parse(await answer.text())
    if (answer.status !== 200) found.push(`${address} ${answer.status} ${JSON.stringify(value)}`)
    found.push(...offences(kind, value).map((offence) => `${address} ${offence}`))
    if (value.kind !== kind) found.push(`${address} is ${value.kind}`)
  }
  return found
}

/** What a thread would answer of the days of a company. */
async function comparedCompany() {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock: fakeClock() })
  closing(store)
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await recordCompany(ledger, COMPANY)
  const { policy } = await recordedPlace('empty')
  const revision = (await loadPolicies([policy], { now: COMPANY.untilAt })).sets.get('acme')
  if (revision) ledger.saveFact('policy', revision)
  const how = { workspace: 'acme', now: COMPANY.untilAt, pricePerCredit: 0.04 }
  return compare(await compareStart(ledger, how), how)
}

test('the timeline of a plan has all that the plan wrote, held back and found, and nothing else', async () => {
  const world = await busyWorld()
  const { url } = await serve({ documents: over(world), gate: () => ADA })
  const base = `${url}/api/v1/workspaces/acme/changes?limit=200`
  const { items } = await json(base)
  const plans = Map.groupBy(items, ({ planId }: { planId?: string }) => planId)
  expect(new Set(items.filter((one: { planId?: string }) => one.planId).map(({ kind }: { kind: string }) => kind))).toEqual(
    new Set(['write', 'hold', 'foreign']),
  )
  for (const [planId, entries] of plans) if (planId !== undefined) expect((await json(`${base}&plan=${planId}`)).items).toEqual(entries)
  expect((await json(`${base}&plan=none`)).items).toEqual([])
})

const states: readonly (readonly [string, () => Promise<ReturnType<Compares['of']>>])[] = [
  ['one that is made', async () => ({ made: { at: 0, compared: await comparedCompany() } })],
  ['one that is under way', async () => ({ since: 0 })],
  ['too little', async () => ({ made: { at: 0, compared: { kind: 'too-little', message: 'no past cycle is known' } } })],
  ['a failure', async () => ({ made: { at: 0, compared: { kind: 'failed', message: 'ada@example.com' } } })],
]

test.each(states)('a comparison keeps to its schema and shows no e-mail where people are hashed: %s', async (_, made) => {
  const state = await made()
  const world = await busyWorld()
  const { url } = await serve({ documents: over(world, hashLabels(sha256, 'salt'), { of: () => state }), gate: () => ADA })
  const value = await json(`${url}/api/v1/workspaces/acme/comparison`)
  expect(offences('Comparison', value)).toEqual([])
  expect(JSON.stringify(value)).not.toMatch(/@example|ada\b/)
  if (state.made?.compared.kind === 'made') expect(value.figures.blocked[0].person).toMatch(/^[0-9a-f]{12}$/)
})

test('a comparison is made anew when the past has been read', async () => {
  const asked: string[] = []
  for (const left of [3, 0]) {
    const { workspace, clock, ...world } = await busyWorld()
    const { history = { fromAt: 0, untilAt: 0, days: { measured: 0, reconstructed: 0, partial: 0, missing: 0 } } } = workspace.shown
    const shown = { ...workspace.shown, history: { ...history, left } }
    const of = (_: string, from: string) => ({ since: asked.push(from) })
    await over({ ...world, clock, workspace: { ...workspace, shown } }, EMAIL_LABELS, { of })
      .for(ADA)
      .comparison('acme')
  }
  expect(new Set(asked).size).toBe(2)
})

describe('the OpenAPI document', () => {
  test('keeps to the specification, and is served', async () => {
    const served = await json(`${(await serve()).url}/openapi.json`)
    expect(await new Validator().validate(served)).toMatchObject({ valid: true })
  })

  test('says of each refusal that a reader may get that there is one', async () => {
    const { url } = await serve()
    const { paths } = await json(`${url}/openapi.json`)
    const { status } = await fetch(`${url}/api/v1/me`)
    expect([status, paths['/api/v1/me'].get.responses[status]?.description]).toEqual([404, expect.stringContaining('names no address')])
  })

  test('names each kind of document at one address', () => {
    expect(ADDRESSES.length).toBeGreaterThan(15)
    expect(new Set(ADDRESSES.map(({ kind }) => kind)).size).toBe(ADDRESSES.length)
  })
})

describe('every answer keeps to its schema', () => {
  const views: readonly (readonly [string, () => ReturnType<typeof fullView>])[] = [
    ['at the first start', () => emptyView()],
    ['with something of everything, and no plan yet', () => fullView()],
  ]
  test.each(views)('%s', async (_name, view) => {
    const { url } = await serve({ views: () => [view()], gate: () => ADA })
    expect(await allOffences(url)).toEqual([])
  })

  test.each([
    ['by e-mail', EMAIL_LABELS],
    ['by hash', hashLabels(sha256, 'salt')],
  ])('after cycles with a foreign change and a hold, people %s', async (_name, people) => {
    const world = await busyWorld()
    const { url } = await serve({ documents: over(world, people), people, gate: () => ADA })
    expect(world.workspace.shown.planned?.plan.holds.length).toBeGreaterThan(0)
    expect(await allOffences(url)).toEqual([])
  })
})

test('people by hash: no answer has an e-mail in it, and no person is found by one', async () => {
  const { url } = await serve({ documents: over(await busyWorld(), hashLabels(sha256, 'salt')) })
  for (const [, address] of await everyAddress(url)) expect(await (await fetch(address)).text(), address).not.toContain('@')
  const base = `${url}/api/v1/workspaces/acme`
  expect((await json(`${base}/people?search=p001`)).total).toBe(0)
  expect((await fetch(`${base}/people/p001%40example.com`)).status).toBe(404)
  expect((await fetch(`${base}/changes?scope=p001%40example.com`)).status).toBe(404)
  const [first] = (await json(`${base}/people`)).items
  expect((await json(`${base}/people?search=${first.person.slice(0, 6)}`)).items).toContainEqual(first)
})

describe('lists', () => {
  test('come in pages that together are the whole, in order', async () => {
    const { url } = await serve({ documents: over(await busyWorld()) })
    const base = `${url}/api/v1/workspaces/acme/people?sort=person`
    const pages = await Promise.all([1, 2, 3, 4].map((page) => json(`${base}&limit=15&page=${page}`)))
    const names = pages.flatMap(({ items }) => items.map(({ person }: { person: string }) => person))
    expect(names).toHaveLength(40)
    expect(names).toEqual(names.toSorted())
    expect(pages.map(({ total }) => total)).toEqual([40, 40, 40, 40])
  })

  test('the timeline goes on where it left off and misses nothing, also of writes of one instant', async () => {
    const world = await createWorld({ people: 12 })
    closing(world)
    await world.cycle({ caps: capsOf(12) })
    for (const one of [await busyWorld(), world]) {
      const { url } = await serve({ documents: over(one) })
      const base = `${url}/api/v1/workspaces/acme/changes`
      const whole = await json(`${base}?limit=200`)
      expect(whole.next).toBeUndefined()
      const items: unknown[] = []
      let after = ''
      for (let rounds = 0; rounds < 50; rounds += 1) {
        const { items: some, next } = await json(`${base}?limit=2${after}`)
        items.push(...some)
        if (next === undefined) break
        after = `&after=${next}`
      }
      expect(items).toEqual(whole.items)
      expect(items.length).toBeGreaterThan(6)
    }
  })
})

test('while caps cannot be read, or not yet under new settings, people show with the cap that was known last, as in /metrics', async () => {
  const fault = { broken: false }
  const world = await createWorld({ people: 3, wrapTransport: answering(reads(), 503, fault) })
  closing(world)
  await world.cycle({ caps: { team: 500, p001: 900 } })
  fault.broken = true
  await world.cycle()
  for (const readings of [world.state.readings, new Map()]) {
    world.workspace.state = { ...world.state, readings }
    const { url } = await serve({ documents: over(world) })
    const { items } = await json(`${url}/api/v1/workspaces/acme/people?sort=person`)
    expect(items).toMatchObject([{ cap: 900, from: email('p001') }, ...[2, 3].map(() => ({ cap: 500, from: 'team', headRoom: 500 }))])
    expect(world.view().people.map(({ cap }) => cap)).toEqual([900, 500, 500])
  }
})

test('a pool is on the page of its workspace and among the policies, and its members are found by its name', async () => {
  const world = await createWorld({ people: 4, caps: { team: 10 } })
  closing(world)
  await world.cycle({
    caps: { team: 500, p003: 90 },
    pools: [{ name: 'research', credits: 1_000, members: { kind: 'emails', emails: ['p001', 'p002', 'p003'].map(email) }, share: 'equal' }],
  })
  await world.cycle()
  const { url } = await serve({ documents: over(world) })
  const base = `${url}/api/v1/workspaces/acme`
  // The own cap of p003 is a member's, and decides as long as there is enough left for it.
  const [series, policies, people] = await Promise.all([`${base}/series/pools`, `${base}/policies`, `${base}/people`].map(json))
  expect(offences('PoolSeries', series).concat(offences('PolicyList', policies))).toEqual([])
  const source = expect.objectContaining({ line: expect.any(Number) })
  const days = expect.arrayContaining([expect.objectContaining({ used: 0, dealt: 1_000 })])
  expect(series.pools).toEqual([{ name: 'research', credits: 1_000, days }])
  expect(policies.items).toContainEqual({ kind: 'pool', name: 'research', credits: 1_000, people: 2, members: 3, near: 0, source })
  expect(people.rules).toContainEqual({ name: 'pool research', people: 2 })
  const members = await json(`${base}/people?rule=pool+research`)
  expect(members.items.map(({ person }: { person: string }) => person).sort()).toEqual(['p001', 'p002'].map(email))
})

describe('an answer', () => {
  test('is made once for a state, however many ask, and named by a tag', async () => {
    const world = await busyWorld()
    const library = over(world)
    let made = 0
    const counting: typeof library = {
      ...library,
      for: (reader) => {
        made += 1
        return library.for(reader)
      },
    }
    const { url } = await serve({ documents: counting })
    const address = `${url}/api/v1/workspaces/acme/people`
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(address)))
    expect(made).toBe(1)
    const etag = answers[0]?.headers.get('etag') ?? ''
    const again = await fetch(address, { headers: { 'if-none-match': etag } })
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag])
    expect((await fetch(`${address}?page=2`, { headers: { 'if-none-match': etag } })).status).toBe(200)
    expect((await fetch(address, { headers: { 'if-none-match': `"other", ${etag}` } })).status).toBe(304)
  })

  test('of a page is the same, made once, whatever others have put behind its address', async () => {
    const { url } = await serve({ documents: over(await busyWorld()), gate: () => ADA })
    const shown = async (path: string) => {
      const { status, headers } = await fetch(url + path)
      return { status, etag: headers.get('etag') }
    }
    for (const { path } of createConsole().routes.filter((one) => !one.path.includes(':name'))) {
      const at = path.replace(':workspace', 'acme')
      const plain = await shown(at)
      expect(plain.status, at).toBe(200)
      expect(await shown(`${at}?utm=x&utm=y`), at).toEqual(plain)
    }
    expect((await shown('/workspaces/acme/people?page=0')).status).toBe(400)
    expect((await shown('/workspaces/acme/people?page=1&page=2')).status).toBe(400)
    expect((await shown('/workspaces/acme/people?page=2&utm=x')).etag).not.toBe((await shown('/workspaces/acme/people')).etag)
  })
})
