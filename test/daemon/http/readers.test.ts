// Who is asking, by the headers of a proxy, and what they see: themselves at /me, the people of some groups, and nothing of anybody else.
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { createGate } from '../../../src/daemon/http/auth.ts'
import { fakeClock } from '../../support/clock.ts'
import { CYCLE, DAY, desiredInputs, HOUR, NOW, type PolicySketch, research, running } from '../../support/declare.ts'
import { HASHED_LABELS, libraryElsewhere, libraryOf, libraryOver, NO_RECORDS } from '../../support/documents.ts'
import { live, MINUTE } from '../../support/living.ts'
import { serve as start } from '../../support/serve.ts'
import { serverParts } from '../../support/server.ts'
import { fullView, personEmail } from '../../support/views.ts'
import { revisionOf, testWorld } from '../../support/world.ts'

type WorkspaceView = ReturnType<typeof fullView>

const ME = '/api/v1/me'
const LEADS = { groups: ['leads'], workspaces: ['acme'], only: ['grp_platform'] }
const settings = {
  proxy: { header: 'X-Groups', emailHeader: 'X-Email', from: ['127.0.0.1'] },
  metrics: true,
  viewers: [{ groups: ['platform'], workspaces: ['*'] }, LEADS, { self: true, workspaces: ['*'] }],
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/** Asks a server over these views, with this config and more of the documents' records. */
async function serve(
  views: () => readonly WorkspaceView[] = () => [fullView('acme')],
  auth: ReturnType<Parameters<typeof createGate>[0]['settings']> = settings,
  { isStill = false, ...more }: Pick<Parameters<typeof libraryOf>[0], 'facts' | 'records'> & { readonly isStill?: boolean } = {},
) {
  const clock = fakeClock()
  const people = HASHED_LABELS
  const documents = libraryOf({ views, clock, people, requestUrl: 'https://git.example/new?for={email}&used={used}', ...more })
  const { url } = await start({
    ...{ views, clock, people, documents: isStill ? { ...documents, state: () => 'still the same' } : documents },
    gate: createGate({ settings: () => auth, env: {} }),
    isChecked: () => auth,
  })
  return (path: string, headers: Headers = {}) => get(url + path, headers)
}

/** As it is sent: `fetch` joins headers. */
const get = (url: string, headers: Headers) =>
  new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>((resolve, reject) => {
    const asked = request(url, { headers: headers as Record<string, string | string[]>, agent: false }, async (answer) =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) }),
    )
    asked.on('error', reject).end()
  })

type Person = NonNullable<WorkspaceView['roster']>['people'][number]
type Facts = ReturnType<NonNullable<Parameters<typeof libraryOf>[0]['facts']>>
type Grants = NonNullable<Facts['desiredState']>['resolution']['grants']
type Histories = Awaited<ReturnType<(typeof NO_RECORDS)['history']>>

/** The view with other rows on the roster. */
const named = (view: WorkspaceView, change: (one: Person, at: number) => Person): WorkspaceView => ({
  ...view,
  ...(view.roster && { roster: { ...view.roster, people: view.roster.people.map(change) } }),
})

const ADA = personEmail(1)
const LEAD: Headers = { 'X-Groups': 'leads' }

describe('an address', () => {
  test.each<readonly [string, Headers, number]>([
    ['alone is a reader', { 'X-Email': ADA }, 200],
    ['beside groups is one too', { 'X-Email': ADA, 'X-Groups': 'platform' }, 200],
    ['is compared with ASCII letters folded', { 'X-Email': ADA.toUpperCase() }, 200],
    ['that is missing beside groups has no page about itself', { 'X-Groups': 'platform' }, 404],
    ['and groups that are missing are refused', {}, 401],
    ['that is sent twice is refused', { 'X-Email': [ADA, ADA] }, 401],
    ['with a comma is refused', { 'X-Email': `${ADA},${personEmail(2)}` }, 401],
    ['with a blank is refused', { 'X-Email': `${ADA} x` }, 401],
    ['with a control character is refused', { 'X-Email': `${ADA}\tx` }, 401],
    ['with a no-break space is refused', { 'X-Email': Buffer.from(`a\u00a0${ADA}`).toString('latin1') }, 401],
    ['that is longer than 254 bytes is refused', { 'X-Email': `${'a'.repeat(250)}@x.io` }, 401],
    ['that is none is refused', { 'X-Email': 'ada' }, 401],
    ['that is empty is refused', { 'X-Email': '' }, 401],
  ])('%s', async (_name, headers, status) => expect((await (await serve())(ME, headers)).status).toBe(status))

  test('that fits nobody, or somebody by another folding, shows nobody', async () => {
    const kelvin = named(fullView('acme'), (one, at) => (at === 0 ? { ...one, email: 'kim@example.com' } : one))
    const ask = await serve(() => [kelvin])
    const seen = async (email: string) =>
      JSON.parse((await ask(ME, { 'X-Email': Buffer.from(email).toString('latin1') })).text).workspaces.length
    expect([
      await seen('kim@example.com'),
      await seen('KIM@example.com'),
      await seen('\u212aim@example.com'),
      await seen('no@example.com'),
    ]).toEqual([1, 1, 0, 0])
  })

  test('that stands in two rows of the roster, of which one is kept, shows nobody', async () => {
    const { roster, ...view } = fullView('acme')
    const ask = await serve(() => [{ ...view, roster: roster && { ...roster, duplicates: [ADA] } }])
    expect(JSON.parse((await ask(ME, { 'X-Email': ADA })).text).workspaces).toEqual([])
  })

  test('is not asked for where the config has no header for it', async () => {
    const ask = await serve(undefined, { proxy: { header: 'X-Groups', from: ['127.0.0.1'] }, metrics: false })
    const { status, headers, text } = await ask(ME, { 'X-Groups': 'platform', 'X-Email': ADA })
    expect([status, text]).toEqual([404, expect.stringContaining('auth.emailHeader')])
    // So that it is there once it is configured.
    expect([headers['cache-control'], headers['vary']]).toEqual(['no-store', undefined])
  })
})

test("a person's page is found by the address, with ASCII letters folded and nothing else", async () => {
  const view = named(fullView('acme'), (one, at) => (at === 1 ? { ...one, email: 'zoË@example.com' } : one))
  const ask = await serve(() => [view], { ...settings, viewers: [{ groups: ['platform'], workspaces: ['*'], emails: true }] })
  expect(JSON.parse((await ask('/status', { 'X-Groups': 'platform' })).text).peopleShown).toBe('email')
  const found = ['ZoË@EXAMPLE.com', 'zoë@example.com'].map((address) =>
    ask(`/api/v1/workspaces/acme/people/${encodeURIComponent(address)}`, { 'X-Groups': 'platform' }),
  )
  expect((await Promise.all(found)).map(({ status }) => status)).toEqual([200, 404])
})

describe('/me', () => {
  test('tells a person what is left, and is kept by nobody else', async () => {
    const ask = await serve()
    const { headers, text } = await ask(ME, { 'X-Email': ADA })
    expect([headers['cache-control'], headers['vary']]).toEqual(['private, max-age=60', 'X-Groups, X-Email'])
    expect((await ask(ME, { 'X-Email': ADA, 'If-None-Match': String(headers['etag']) })).status).toBe(304)
    expect((await ask(ME, { 'X-Email': ADA, 'If-None-Match': `W/${headers['etag']}` })).status).toBe(304)
    const [one] = JSON.parse(text).workspaces
    expect(one.requestUrl).toMatch(new RegExp(`^https://git.example/new[?]for=${encodeURIComponent(ADA)}&used=`))
    expect(one).toMatchObject({ workspace: 'acme', stopsFirst: { what: expect.stringMatching(/^(cap|balance)$/) } })
    expect((await ask('/me', { 'X-Email': ADA })).text).toContain('What is left for you')
  })

  test.each([
    ['x', 200],
    ['語', 100],
    ['\u0001', 40],
  ])('takes 2 KiB at most, however long the reasons in %j are', async (letter, kept) => {
    const grants = ['team', 'group:a', ADA].map((on) => ({ on, cap: 5, ...running, reason: letter.repeat(500) }))
    const groups = [{ id: 'a', name: 'A', emails: [ADA], readAt: NOW }]
    const facts = () => ({ desiredState: { inputs: desiredInputs({ grants }, { roster: fullView('acme').roster, groups }) } as never })
    const { text } = await (await serve(undefined, settings, { facts }))(ME, { 'X-Email': ADA })
    const [one] = JSON.parse(text).workspaces
    expect([one.grants.map(({ reason }: { reason: string }) => reason.length), one.entry.reason]).toEqual([
      [kept, kept, kept],
      letter.repeat(kept),
    ])
    expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThanOrEqual(2_048)
  })

  test('is all that there is for who sees only themselves', async () => {
    const ask = await serve()
    const asked = ['/', '/status', '/ledger', '/metrics', '/workspaces/acme', '/api/v1/workspaces/acme/people'].map((path) =>
      ask(path, { 'X-Email': ADA }),
    )
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([303, 200, 403, 403, 404, 404])
    expect(JSON.parse((await ask('/status', { 'X-Email': ADA })).text).workspaces).toEqual([])
  })
})

describe('a reader of some groups', () => {
  test('sees their people and groups, by hash or by address, and nobody else', async () => {
    const ask = await serve()
    const people = JSON.parse((await ask('/api/v1/workspaces/acme/people', LEAD)).text)
    expect([people.total, people.peopleShown, people.groups.length]).toEqual([2, 'hash', 1])
    const named = await serve(undefined, { ...settings, viewers: [{ ...LEADS, emails: true }] })
    const byName = JSON.parse((await named('/api/v1/workspaces/acme/people', LEAD)).text)
    expect(byName.items.map(({ person }: { person: string }) => person).toSorted()).toEqual([personEmail(1), personEmail(2)].toSorted())
    expect((await ask('/', LEAD)).headers['location']).toBe('/workspaces/acme')
    expect(JSON.parse((await ask('/api/v1/workspaces', LEAD)).text)).toMatchObject({
      ...{ total: 0, attention: [], partsOmitted: 0 },
      parts: [{ name: 'acme', people: 2, bands: { under_50: 2, at_cap: 0 }, used: 30 }],
    })
  })

  test('sees these by address, and the others by hash, where another entry shows everybody', async () => {
    const viewers = [
      { ...LEADS, emails: true },
      { groups: ['leads'], workspaces: ['*'] },
    ]
    const ask = await serve(undefined, { ...settings, viewers })
    const people = JSON.parse((await ask('/api/v1/workspaces/acme/people?limit=200', LEAD)).text)
    const shown: readonly string[] = people.items.map(({ person }: { person: string }) => person)
    expect([people.peopleShown, shown.length > 2, shown.filter((one) => one.includes('@')).toSorted()]).toEqual([
      'hash',
      true,
      [personEmail(1), personEmail(2)].toSorted(),
    ])
    expect((await ask(`/api/v1/workspaces/acme/people/${personEmail(1)}`, LEAD)).status).toBe(200)
    expect((await ask(`/api/v1/workspaces/acme/people/${personEmail(3)}`, LEAD)).status).toBe(404)
  })

  test('finds them below the workspaces of which they see everything', async () => {
    const viewers = [LEADS, { groups: ['leads'], workspaces: ['beta'] }]
    const ask = await serve(() => [fullView('acme'), fullView('beta')], { ...settings, viewers })
    const { text } = await ask('/', LEAD)
    expect(text).toMatch(/Your people in other workspaces.*href="\/workspaces\/acme">acme<\/a><\/th><td[^>]*>2</s)
  })

  test('sees nobody in a group that was not read for a day', async () => {
    const view = fullView('acme')
    const old = { ...view, groups: view.groups.map((group) => ({ ...group, readAt: group.readAt - 25 * 3_600_000 })) }
    const ask = await serve(() => [old])
    expect(JSON.parse((await ask('/api/v1/workspaces/acme/people', LEAD)).text).total).toBe(0)
  })

  // The overview listens to all workspaces.
  test.each(['?workspace=acme', ''])('is told by the stream of events%s when to look again, and of no change', async (query) => {
    const clock = fakeClock()
    const gate = createGate({ settings: () => settings, env: {} })
    const parts = serverParts({ views: () => [fullView('acme')], clock, gate, isChecked: () => settings })
    const { url } = await start(parts)
    const answer = await fetch(`${url}/api/v1/events${query}`, { headers: { 'X-Groups': 'leads' } })
    const reader = answer.body?.getReader()
    let heard = ''
    const until = async (text: string): Promise<void> => {
      while (!heard.includes(text)) heard += new TextDecoder().decode((await reader?.read())?.value)
    }
    await until('retry')
    parts.live.changed('acme')
    await clock.advance(15_000)
    await until('"acme"')
    expect(heard.match(/event: .*/g)).toEqual(['event: beat', 'event: change'])
    await reader?.cancel()
  })

  test('gets nothing that was made for an entry whose place theirs has taken in the config', async () => {
    let viewers = [{ groups: ['all'], workspaces: ['acme'], emails: true }, LEADS]
    const auth = {
      ...settings,
      get viewers() {
        return viewers
      },
    }
    const ask = await serve(undefined, auth, { isStill: true })
    const total = async (group: string): Promise<number> =>
      JSON.parse((await ask('/api/v1/workspaces/acme/people', { 'X-Groups': group })).text).total
    const before = [await total('all'), await total('leads')]
    viewers = viewers.toReversed()
    expect([await total('all'), await total('leads')]).toEqual(before)
  })

  test('is led nowhere that does not exist for them', async () => {
    const viewers = [{ ...LEADS, workspaces: ['acme', 'beta'], emails: true }]
    const ask = await serve(() => [fullView('acme'), fullView('beta')], { ...settings, viewers })
    const seen = new Set<string>()
    const waiting = ['/', '/workspaces/acme/lead']
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const { status, text } = await ask(path, LEAD)
      expect([path, [200, 302, 303, 307].includes(status)]).toEqual([path, true])
      for (const [, href = ''] of text.matchAll(/href="([^"#]*)/g)) if (href.startsWith('/')) waiting.push(href.replaceAll('&amp;', '&'))
    }
    expect(['acme', 'beta'].filter((name) => seen.has(`/workspaces/${name}`))).toEqual(['acme', 'beta'])
    expect([...seen]).not.toContain('/workspaces/acme/holds')
  })

  test('has a page of who is near the cap, what ends soon and what changed, of their people only', async () => {
    const [ada = '', other = ''] = [personEmail(1), personEmail(5)]
    const now = fakeClock().now()
    const grant = (email: string, days: number, state: 'active' | 'pending' = 'active'): Grants[number] => ({
      grant: {
        scope: userScope(email),
        amount: { kind: 'cap', credits: credits(6000) },
        until: { kind: 'instant', at: now + days * DAY },
        reason: `as ${other} asked`,
        document: 'acme',
        at: { file: 'secret.yaml', line: 1, column: 1 },
      },
      state,
      untilAt: now + days * DAY,
    })
    const write = (email: string, hours: number, result: 'applied' | 'failed' = 'applied'): Histories[number] => ({
      ...{ at: now - hours * HOUR, scope: userScope(email), action: 'set', effect: 'raise', from: credits(1), to: credits(2) },
      ...{ cause: 'external', result, planId: 'secret-plan', digest: 'secret-digest', revision: 'secret-revision' },
    })
    const serveWith = async (grants: Grants, history: Histories) => {
      const facts = () => ({ desiredState: { resolution: { grants } } as never })
      const ask = await serve(undefined, settings, { facts, records: { ...NO_RECORDS, history: async () => history } })
      return async (path: string) => (await ask(path, LEAD)).text
    }
    const own = await serveWith([grant(ada, 3), grant(ada, 8), grant(ada, 2, 'pending')], [write(ada, 5), write(ada, 6, 'failed')])
    const text = await own('/api/v1/workspaces/acme/lead')
    expect(JSON.parse(text)).toMatchObject({
      kind: 'Lead',
      grants: [{ cap: 6000 }],
      changes: [{ from: 1, to: 2, cause: 'external' }],
      changesOmitted: 0,
    })
    expect(text).not.toMatch(/secret|@example/)
    const page = await own('/workspaces/acme')
    for (const heading of ['Near their cap', 'Temporary caps that end within a week', 'Changed this week']) expect(page).toContain(heading)
    const among = await serveWith(
      [grant(other, 1), grant(ada, 3), grant(ada, 8), grant(ada, 2, 'pending')],
      [...Array.from({ length: 80 }, () => write(other, 1)), write(ada, 5), write(ada, 6, 'failed')],
    )
    expect(await among('/api/v1/workspaces/acme/lead')).toBe(text)
    expect(await among('/workspaces/acme')).toBe(page)
  })

  test('is not told that nothing is there, where it is only not theirs to see', async () => {
    const ask = await serve(undefined, { ...settings, viewers: [{ ...LEADS, emails: true }] })
    const paths = ['groups/grp_platform', `people/${ADA}`]
    for (const path of paths) {
      const { status, text } = await ask(`/workspaces/acme/${path}`, LEAD)
      expect(status).toBe(200)
      expect(text).not.toMatch(/No policy declares|has not written|would change|was not changed|of the team|command line/)
    }
    const [group, person] = await Promise.all(
      paths.map(async (path) => JSON.parse((await ask(`/api/v1/workspaces/acme/${path}`, LEAD)).text)),
    )
    expect(group).not.toHaveProperty('share')
    expect(person.use.addOnSource).toBe('estimated')
    expect(person.use.days.slice(0, -1).filter((day: object) => 'cap' in day || 'changed' in day)).toEqual([])
  })
})

test('a replica shows a workspace of another by the policies of its holder, whatever its own files say', async () => {
  const own = { caps: { ada: 500 }, grants: [{ on: 'ada', cap: 700, ...running, reason: 'why' }] }
  const policy = revisionOf({ ...own, caps: { ...own.caps, bob: 5, 'group:a': 50 } })
  const { one, loop, stop } = live(await testWorld({ groups: { a: ['ada'] } }))
  loop.setPolicy(policy, { valid: true, digest: policy.digest, revision: '', loadedAt: NOW, problems: [] })
  await one.clock.pass(MINUTE)
  await stop()
  const lead = {
    sightOf: () => ({ kind: 'part' as const, groups: ['a'], named: [] }),
    seesAll: false,
    seesSelf: () => true,
    asks: ['', ''],
  }
  const shown = async (library: ReturnType<typeof libraryOver>) => {
    const documents = library.for({ ...lead, email: 'ada@example.com' })
    return [await documents.people('acme'), await documents.lead('acme'), await documents.me()]
  }
  const held = await shown(libraryOver(() => one))
  expect(JSON.stringify(held)).toContain('why')
  // The same, older, and files that do not parse.
  for (const files of [policy, revisionOf(own), undefined]) expect(await shown(libraryElsewhere(one, files))).toEqual(held)
})

test.each<readonly [string, PolicySketch, readonly string[]]>([
  ['all that may apply one after the other', { caps: { team: 5 } }, ['user grant', 'group grant', 'team grant']],
  ['those before the cap of a group', { caps: { 'group:a': 5 } }, ['user grant', 'group grant']],
  ['only the own beside an own cap', { caps: { [ADA]: 5 } }, ['user grant']],
  ['only the own beside a rule', { rules: [{ when: { groups: ['a'] }, cap: 5 }] }, ['user grant']],
  ['all beside an own `none`', { caps: { [ADA]: 'none' } }, ['user grant', 'group grant', 'team grant']],
])('temporary caps at /me are those that reach the person: %s', async (_name, sketch, kinds) => {
  const grants = ['team', 'group:a', ADA].map((on, at) => ({ on, cap: 10 + at, ...running }))
  const groups = [{ id: 'a', name: 'A', emails: [ADA], readAt: NOW }]
  const inputs = desiredInputs({ grants, ...sketch }, { roster: fullView('acme').roster, groups })
  const ask = await serve(undefined, settings, { facts: () => ({ desiredState: { inputs } as never }) })
  const [one] = JSON.parse((await ask(ME, { 'X-Email': ADA })).text).workspaces
  expect(one.grants.map(({ kind }: { kind: string }) => kind)).toEqual(kinds)
})

const deciding: readonly (readonly [string, PolicySketch, string | undefined])[] = [
  ['user', { caps: { [ADA]: 5 } }, 'why'],
  ['user grant', { grants: [{ on: ADA, cap: 5, ...running, reason: 'why' }] }, 'why'],
  // 100 are in force: what the grant asks for is held, or not written yet.
  ['group', { caps: { 'group:a': 100 }, grants: [{ on: ADA, cap: 5, ...running, reason: 'later' }] }, 'why'],
  ['rule', { rules: [{ when: { groups: ['a'] }, cap: 5, reason: 'own' }] }, 'own'],
  ['pool', { pools: [research(100, [ADA])] }, undefined],
  ['conflict', { caps: { 'group:a': 5, 'group:b': 6 }, onGroupConflict: 'min' }, undefined],
]
test.each(deciding)(
  'where the cap of a %s is in force, or decides, its reason is shown as far as the policy gives it',
  async (kind, sketch, reason) => {
    const groups = ['a', 'b'].map((id) => ({ id, name: id, emails: [ADA], readAt: NOW }))
    const dealt = { base: credits(0), sent: [], lowered: [], dealt: credits(5) }
    const pools = { research: { cycle: CYCLE, readAt: NOW, dealtAt: NOW, members: { [ADA]: dealt } } }
    const { set, ...inputs } = desiredInputs(sketch, { roster: fullView('acme').roster, groups, pools })
    const rules = set.rules.map((rule) => ({ ...rule, reason: 'why' }))
    const facts = () => ({ desiredState: { inputs: { ...inputs, set: { ...set, rules } } } as never })
    const ask = await serve(undefined, settings, { facts })
    const [one] = JSON.parse((await ask(ME, { 'X-Email': ADA })).text).workspaces
    expect(one.entry).toEqual({ kind, ...(reason !== undefined && { reason }) })
  },
)
