// /api/v1 over real HTTP: every answer keeps to the schema that the OpenAPI document names, whatever the workspace is like, and questions that make no
// sense are refused in words.

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, test } from 'vitest'
import { createConsole } from '../../../src/console/routes.ts'
import type { WorkspaceView } from '../../../src/core/model/events.ts'
import { API_ROUTES } from '../../../src/daemon/http/api-table.ts'
import { EVERYBODY, type Viewer } from '../../../src/daemon/http/auth.ts'
import { createLibrary, sourceOf } from '../../../src/daemon/http/documents/make.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels } from '../../../src/daemon/http/status/labels.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import { type Compared, compare, compareStart } from '../../../src/daemon/replay/compare.ts'
import type { ComparisonState, Comparisons } from '../../../src/daemon/replay/comparisons.ts'
import { sha256 } from '../../../src/daemon/schedule/system.ts'
import { loadPolicies } from '../../../src/policy/load/load.ts'
import { COMPANY, recordedPlace } from '../../cli/recorded-place.ts'
import { offences } from '../../support/api-schema.ts'
import { fakeClock } from '../../support/clock.ts'
import { email } from '../../support/declare.ts'
import { HASHED_LABELS } from '../../support/documents.ts'
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

const libraryOver = ({ workspace, clock }: World, people: PeopleLabels = EMAIL_LABELS, comparisons?: Pick<Comparisons, 'of'>) =>
  createLibrary({
    ...(comparisons && { comparisons }),
    sources: () => [sourceOf(workspace, () => 1)],
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people,
    hashed: HASHED_LABELS,
    clock: { ...clock, monotonic: () => 0 },
    sourceUrl: () => 'https://git.example/acme/caps/blob/{revision}/{file}#L{line}',
  })

/** A reader who sees everything, and whose address is known. */
const ADA: Viewer = { ...EVERYBODY, email: 'ada@example.com', asks: ['X-Groups', 'X-Email'] }

const json = async (url: string) => JSON.parse(await (await fetch(url)).text())

/** Every address of the table with parts that are there. */
async function everyAddress(url: string, workspace = 'acme'): Promise<readonly (readonly [string, string])[]> {
  const base = `${url}/api/v1/workspaces/${workspace}`
  const [people, groups, holds, changes] = await Promise.all(
    ['people', 'groups', 'holds', 'changes'].map((name) => json(`${base}/${name}`)),
  )
  const parts: Record<string, readonly string[]> = {
    workspace: [workspace],
    person: people.items.map(({ person }: { person: string }) => encodeURIComponent(person)),
    group: groups.items.map(({ id }: { id: string }) => encodeURIComponent(id)),
    hold: holds.items.map(({ id }: { id: string }) => id),
    plan: [...new Set<string>(changes.items.flatMap(({ planId }: { planId?: string }) => planId ?? []))],
  }
  return API_ROUTES.flatMap(({ path, kind }) => filled(path, parts).map((at) => [kind, url + at] as const))
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
async function comparedCompany(): Promise<Compared> {
  const store = await openLedger({ file: ':memory:', mode: 'write', clock: fakeClock() })
  closing(store)
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  await recordCompany(ledger, COMPANY)
  const { policy } = await recordedPlace('empty')
  const revision = loadPolicies([policy], { now: COMPANY.untilAt }).sets.get('acme')
  if (revision) ledger.saveFact('policy', revision)
  const how = { workspace: 'acme', now: COMPANY.untilAt, pricePerCredit: 0.04 }
  return compare(await compareStart(ledger, how), how)
}

describe('a plan', () => {
  test('is found from each write, hold and foreign change of the timeline, and holds them', async () => {
    const world = await busyWorld()
    const { url } = await serve({ documents: libraryOver(world), gate: () => ADA })
    const base = `${url}/api/v1/workspaces/acme`
    const { items } = await json(`${base}/changes?limit=200`)
    const kinds = new Set<string>()
    for (const { kind, at, planId, text, scope, to } of items) {
      if (!['write', 'hold', 'foreign'].includes(kind)) continue
      kinds.add(kind)
      const plan = await json(`${base}/plans/${planId}?at=${encodeURIComponent(at)}&limit=500`)
      if (kind === 'write') expect(plan.items).toContainEqual(expect.objectContaining({ at, scope, to, planId }))
      else expect(plan.met).toContainEqual(expect.objectContaining({ kind, at, text }))
    }
    expect(kinds).toEqual(new Set(['write', 'hold', 'foreign']))
  })

  test('that is the present one shows its remaining changes, and the hold they are part of', async () => {
    const world = await busyWorld()
    const { url } = await serve({ documents: libraryOver(world), gate: () => ADA })
    const base = `${url}/api/v1/workspaces/acme`
    const { items: held } = await json(`${base}/changes?kind=hold`)
    const plan = await json(`${base}/plans/${held[0].planId}`)
    expect(plan).toMatchObject({
      present: true,
      changes: expect.arrayContaining([expect.objectContaining({ disposition: 'held', hold: held[0].hold })]),
    })
  })

  test('without any record is refused in words', async () => {
    const world = await busyWorld()
    const { url } = await serve({ documents: libraryOver(world), gate: () => ADA })
    const answer = await fetch(`${url}/api/v1/workspaces/acme/plans/0123456789abcdef`)
    expect([answer.status, JSON.parse(await answer.text()).message]).toEqual([
      404,
      expect.stringContaining('nothing is recorded of this plan'),
    ])
  })
})

describe('a comparison', () => {
  const states: readonly (readonly [string, () => Promise<ComparisonState>])[] = [
    ['one that is made', async () => ({ made: { at: 0, compared: await comparedCompany() } })],
    ['one that is under way', async () => ({ since: 0 })],
    ['too little', async () => ({ made: { at: 0, compared: { kind: 'no-days', wholeAt: 0 } } })],
    ['a failure', async () => ({ made: { at: 0, compared: { kind: 'failed', message: 'ada@example.com' } } })],
  ]

  test.each(states)('keeps to its schema and shows no e-mail where people are hashed: %s', async (_, made) => {
    const state = await made()
    const world = await busyWorld()
    const { url } = await serve({ documents: libraryOver(world, hashLabels(sha256, 'salt'), { of: () => state }), gate: () => ADA })
    const value = await json(`${url}/api/v1/workspaces/acme/comparison`)
    expect(offences('Comparison', value)).toEqual([])
    expect(JSON.stringify(value)).not.toMatch(/@example|ada\b/)
    if (state.made?.compared.kind === 'made') expect(value.figures.blocked[0].person).toMatch(/^[0-9a-f]{12}$/)
  })
})

test('a comparison is made anew when the past has been read', async () => {
  const asked: string[] = []
  for (const left of [3, 0]) {
    const { workspace, clock, ...world } = await busyWorld()
    const { history = { fromAt: 0, untilAt: 0, days: { measured: 0, reconstructed: 0, partial: 0, missing: 0 } } } = workspace.shown
    const shown = { ...workspace.shown, history: { ...history, left } }
    const of = (_: string, from: string) => ({ since: asked.push(from) })
    await libraryOver({ ...world, clock, workspace: { ...workspace, shown } }, EMAIL_LABELS, { of })
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

  test('names every address of the table once', () => {
    expect(new Set(API_ROUTES.map(({ path }) => path)).size).toBe(API_ROUTES.length)
    expect(new Set(API_ROUTES.map(({ kind }) => kind)).size).toBe(API_ROUTES.length)
  })
})

describe('every answer keeps to its schema', () => {
  const views: readonly (readonly [string, () => WorkspaceView])[] = [
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
    const { url } = await serve({ documents: libraryOver(world, people), people, gate: () => ADA })
    expect(world.workspace.shown.planned?.plan.holds.length).toBeGreaterThan(0)
    expect(await allOffences(url)).toEqual([])
  })
})

describe('people by hash', () => {
  test('no answer has an e-mail in it, and no person is found by one', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld(), hashLabels(sha256, 'salt')) })
    for (const [, address] of await everyAddress(url)) expect(await (await fetch(address)).text(), address).not.toContain('@')
    const base = `${url}/api/v1/workspaces/acme`
    expect((await json(`${base}/people?search=p001`)).total).toBe(0)
    expect((await fetch(`${base}/people/p001%40example.com`)).status).toBe(404)
    expect((await fetch(`${base}/changes?scope=p001%40example.com`)).status).toBe(404)
    const [first] = (await json(`${base}/people`)).items
    expect((await json(`${base}/people?search=${first.person.slice(0, 6)}`)).items).toContainEqual(first)
  })
})

describe('lists', () => {
  test('come in pages that together are the whole, in order', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()) })
    const base = `${url}/api/v1/workspaces/acme/people?sort=person`
    const pages = await Promise.all([1, 2, 3, 4].map((page) => json(`${base}&limit=15&page=${page}`)))
    const names = pages.flatMap(({ items }) => items.map(({ person }: { person: string }) => person))
    expect(names).toHaveLength(40)
    expect(names).toEqual(names.toSorted())
    expect(pages.map(({ total }) => total)).toEqual([40, 40, 40, 40])
  })

  const filters: readonly (readonly [string, number])[] = [
    ['search=p00', 9],
    ['group=grp_a', 2],
    ['group=grp_a&search=p002', 1],
    ['rule=group:grp_a', 1],
    ['state=held', 1],
    ['band=uncapped', 0],
    ['status=pending', 0],
  ]
  test('of people are of those that are asked for', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()) })
    const ask = async ([query]: (typeof filters)[number]) =>
      [query, (await json(`${url}/api/v1/workspaces/acme/people?${query}`)).total] as const
    expect(await Promise.all(filters.map(ask))).toEqual(filters)
  })

  test('the timeline goes on where it left off and misses nothing', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()) })
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
  })
})

describe('one of them', () => {
  test('a person is explained: declarations, use by day against the cap, what would change the cap', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()) })
    const one = await json(`${url}/api/v1/workspaces/acme/people/p002%40example.com`)
    expect(one).toMatchObject({ person: 'p002@example.com', groups: [{ id: 'grp_a' }] })
    expect(one.chain[0]).toMatchObject({ wins: true, cap: 800, scope: 'group:grp_a', source: { file: 'acme.yaml' } })
    expect(one.use.days.at(-1)).toMatchObject({ day: '2026-11-20', cap: 800, from: 'group:grp_a', changed: true })
    expect(one.conditions).toContain('leaving or joining a declared group')
  })

  test('the health of a workspace says each guard with its unit', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()) })
    const { settings } = await json(`${url}/api/v1/workspaces/acme/health`)
    expect(settings.guards).toMatchObject({
      rosterShrink: '20 %',
      maxRaise: '100 %',
      maxLowered: '15 %, never under 3',
      contested: '3 in 24 h',
    })
  })

  test('a hold names everybody it reaches, the arithmetic of its guards, and the line that releases it', async () => {
    const world = await busyWorld()
    const { url } = await serve({ documents: libraryOver(world) })
    const hold = world.workspace.shown.planned?.plan.holds.find(({ guards }) => guards.includes('maxLowered'))
    const one = await json(`${url}/api/v1/workspaces/acme/holds/${hold?.id}`)
    expect(one.people).toBe(hold?.people)
    expect(one.total).toBe(hold?.people)
    expect(one.items.at(-1)).toMatchObject({ before: 500, after: 100, effect: 'lowered' })
    const counted = one.arithmetic.find(({ guard }: { guard: string }) => guard === 'maxLowered')
    expect(counted).toMatchObject({ of: 40, exceeded: true, allowed: 6, setting: 'guards.maxLowered' })
    expect(one.releases).toContainEqual(
      expect.objectContaining({ how: 'policy', text: `approvals: [${hold?.id}]`, edit: `capkeeper edit approve ${hold?.id}` }),
    )
    expect(one.releases).toContainEqual(expect.objectContaining({ how: 'command', text: `capkeeper approve ${hold?.id} --workspace acme` }))
  })
})

describe('a pool', () => {
  test('is on the page of its workspace and among the policies, and its members are found by its name', async () => {
    const world = await createWorld({ people: 4, caps: { team: 10 } })
    closing(world)
    await world.cycle({
      caps: { team: 500, p003: 90 },
      pools: [
        { name: 'research', credits: 1_000, members: { kind: 'emails', emails: ['p001', 'p002', 'p003'].map(email) }, share: 'equal' },
      ],
    })
    await world.cycle()
    const { url } = await serve({ documents: libraryOver(world) })
    const base = `${url}/api/v1/workspaces/acme`
    // The own cap of p003 is a member's, and decides as long as there is enough left for it.
    const [workspace, policies, people] = await Promise.all([base, `${base}/policies`, `${base}/people`].map(json))
    expect(offences('Workspace', workspace).concat(offences('PolicyList', policies))).toEqual([])
    const dealtAt = expect.stringMatching(/^2026-11-20T12:00/)
    const source = expect.objectContaining({ line: expect.any(Number) })
    expect(workspace.pools).toEqual([
      expect.objectContaining({ name: 'research', credits: 1_000, used: 0, dealt: 1_000, people: 3, share: 'equal', dealtAt, source }),
    ])
    expect(policies.items).toContainEqual({ kind: 'pool', name: 'research', credits: 1_000, people: 2, members: 3, near: 0, source })
    expect(people.rules).toContainEqual({ name: 'pool research', people: 2 })
    const members = await json(`${base}/people?rule=pool+research`)
    expect(members.items.map(({ person }: { person: string }) => person).sort()).toEqual(['p001', 'p002'].map(email))
  })
})

describe('an answer', () => {
  test('is made once for a state, however many ask, and named by a tag', async () => {
    const world = await busyWorld()
    const library = libraryOver(world)
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
    expect((await fetch(address, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await fetch(`${address}?page=2`, { headers: { 'if-none-match': etag } })).status).toBe(200)
    const tagged = async (path: string, tags: string) => (await fetch(url + path, { headers: { 'if-none-match': tags } })).status
    expect(await tagged('/api/v1/workspaces/acme/people', `"other", ${etag}`)).toBe(304)
    expect(await Promise.all(['/', '/api/v1/workspaces/acme'].map((path) => tagged(path, '*')))).toEqual([304, 304])
    expect(await Promise.all(['/workspaces/none', '/api/v1/workspaces/none'].map((path) => tagged(path, '*')))).toEqual([404, 404])
  })

  test('of a page is the same, made once, whatever others have put behind its address', async () => {
    const { url } = await serve({ documents: libraryOver(await busyWorld()), gate: () => ADA })
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
