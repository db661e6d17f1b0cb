// The law of the one filter, over real cycles on a real sandbox: whatever becomes of people out of sight changes no byte of what a reader gets.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createConsole } from '../../../src/console/routes.ts'
import { createGate } from '../../../src/daemon/http/auth.ts'
import { ADDRESSES } from '../../support/api-schema.ts'
import { DAY, email, NOW, type PolicySketch } from '../../support/declare.ts'
import { HASHED_LABELS, libraryOver } from '../../support/documents.ts'
import { runs } from '../../support/fuzz.ts'
import { filled } from '../../support/paths.ts'
import { serve } from '../../support/serve.ts'
import { recordPast } from '../../support/use.ts'
import { createWorld, type World } from '../../support/world.ts'

const HOST = '127.0.0.1'
const LEADS = { groups: ['leads'], workspaces: ['acme'], only: ['grp_a'] }
type AuthSettings = NonNullable<ReturnType<Parameters<typeof createGate>[0]['settings']>>

const readers: Readonly<Record<string, { readonly viewers: AuthSettings['viewers']; readonly headers: Readonly<Record<string, string>> }>> =
  {
    'a lead': { viewers: [LEADS], headers: { 'X-Groups': 'leads' } },
    'a lead who sees addresses, and themselves': {
      viewers: [
        { ...LEADS, emails: true },
        { self: true, workspaces: ['*'] },
      ],
      headers: { 'X-Groups': 'leads', 'X-Email': email('p001') },
    },
    'one person': { viewers: [{ self: true, workspaces: ['*'] }], headers: { 'X-Email': email('p002') } },
  }

/** What becomes of the others: p001 and p002 are in the group that is seen, p002 is in another group too. */
interface Others {
  readonly people: readonly string[]
  readonly team: number
  readonly other: number
  readonly caps: Readonly<Record<string, number>>
  readonly granted: readonly string[]
  readonly used: Readonly<Record<string, number>>
  readonly foreign: number
  readonly word: string
  readonly hasRules: boolean
  readonly isPaused: boolean
}

const NOBODY: Others = {
  ...{ people: ['p003'], team: 500, other: 700, caps: {}, granted: [], used: {}, foreign: 0, word: 'x', hasRules: false, isPaused: false },
}

const names = ['p003', 'p004', 'p005', 'p006', 'zoe', 'aaron']
const some = fc.subarray(names, { minLength: 1 })
const amount = fc.integer({ min: 1, max: 5_000 })
const others: fc.Arbitrary<Others> = some.chain((people) =>
  fc.record({
    people: fc.constant(people),
    team: amount,
    other: amount,
    caps: fc.dictionary(fc.constantFrom(...people), amount),
    granted: fc.subarray(people),
    used: fc.dictionary(fc.constantFrom(...people), amount),
    foreign: amount,
    word: fc.string({ minLength: 1, maxLength: 20 }),
    hasRules: fc.boolean(),
    isPaused: fc.boolean(),
  }),
)

function policyOf(one: Others): PolicySketch {
  const grant = { cap: 6_000, until: NOW + 3 * DAY, reason: one.word }
  return {
    caps: { team: one.team, 'group:grp_b': one.other, 'group:grp_a': 800, p002: 900, ...one.caps },
    grants: [{ on: 'p001', cap: 1_500, until: NOW + 2 * DAY, reason: 'own' }, ...one.granted.map((on) => ({ ...grant, on }))],
    onGroupConflict: 'min',
    ...(one.hasRules && {
      rules: [{ name: 'others', when: { groups: ['grp_b'] }, cap: 50, reason: one.word }],
      protect: one.people,
      pools: [{ name: 'others', members: { kind: 'groups' as const, ids: ['grp_c'] }, credits: one.team, share: 'equal' as const }],
    }),
  }
}

async function worldOf(one: Others): Promise<World> {
  // How long reads of others take is out of scope.
  const world = await createWorld({
    switches: { latency: 0 },
    people: ['p001', 'p002', ...one.people],
    groups: { grp_a: ['p001', 'p002'], grp_b: ['p002', ...one.people], grp_c: one.people },
    caps: Object.fromEntries(one.people.slice(0, 2).map((name) => [name, one.foreign])),
  })
  const uses = { p001: 1_400, p002: 300, ...one.used }
  recordPast(
    world,
    Object.entries(uses).map(([who, credits]) => ({ who, credits, at: NOW - DAY })),
  )
  await world.cycle(policyOf(NOBODY))
  await world.cycle(policyOf(one))
  if (one.foreign % 2 === 0) world.foreign('team', one.foreign)
  if (one.isPaused) await world.ledger.savePause({ untilAt: NOW + DAY, reason: one.word, pausedAt: NOW })
  await world.cycle()
  return world
}

const addresses = (): readonly string[] => {
  const people = ['p001', 'p002', 'p003', 'p004'].map(email)
  const labels = [...people, ...people.map(HASHED_LABELS.label)].map(encodeURIComponent)
  const parts = {
    ...{ workspace: ['acme', 'beta'], group: ['grp_a', 'grp_b'], person: labels, name: ['grp_a', 'grp_b', ...labels] },
    ...{ hold: ['0'.repeat(32)], plan: ['0'.repeat(16)] },
  }
  const questions = [
    'search=p00',
    'search=%40',
    'sort=use',
    'sort=rule',
    'band=at_cap',
    'group=grp_b',
    'rule=team',
    'page=2',
    'limit=1&page=2',
  ]
  return [...ADDRESSES, ...createConsole().routes]
    .flatMap(({ path }) => filled(path, parts))
    .concat(questions.flatMap((query) => ['/api/v1', ''].map((base) => `${base}/workspaces/acme/people?${query}`)))
    .concat('/ledger', '/metrics', '/readyz', '/api/v1/workspaces/acme/people/%E0%A4', '/api/v1/workspaces/acme/groups?search=grp')
}

test.each(Object.entries(readers))(
  '%s gets the same bytes whatever becomes of the people out of sight',
  async (_name, { viewers, headers }) => {
    let world = await worldOf(NOBODY)
    const auth: AuthSettings = {
      proxy: { header: 'X-Groups', emailHeader: 'X-Email', from: [HOST] },
      metrics: true,
      ...(viewers && { viewers }),
    }
    const clock = { ...world.clock, now: () => NOW + 60_000, monotonic: () => 0 }
    let looks = 0
    const version = () => ++looks
    const documents = libraryOver(() => world, { clock, version, requestUrl: () => 'https://git.example/new?for={email}&used={used}' })
    const { url } = await serve({ documents, gate: createGate({ settings: () => auth, env: {} }), isChecked: () => auth })
    const all = async () =>
      Promise.all(
        addresses().map(async (path) => {
          const answer = await fetch(url + path, { headers, redirect: 'manual' })
          const sent = [...answer.headers].filter(([name]) => name !== 'date' && name !== 'keep-alive')
          return [path, answer.status, sent, await answer.text()] as const
        }),
      )
    const before = await all()
    await world.close()
    expect(before.filter(([, status]) => status === 200).length).toBeGreaterThan(2)
    await fc.assert(
      fc.asyncProperty(others, async (one) => {
        world = await worldOf(one)
        const after = await all()
        await world.close()
        expect(after).toEqual(before)
      }),
      runs(3),
    )
  },
)
