// Laws of envelopes: what stands in one changes nothing outside it, and what is refused takes nothing from anybody.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../src/core/envelopes/settle.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { DAY } from '../../support/declare.ts'

type Inputs = Parameters<typeof settle>[0]
type EnvelopeMemory = Inputs['memory']
type Delegated = NonNullable<Inputs['declared']['delegated']>
type Envelope = Delegated['envelopes'][number]
type DelegatedFile = Delegated['files'][number]
type DelegatedDocument = NonNullable<DelegatedFile['documents']>[number]
type PolicyRevision = ReturnType<typeof settle>
type PolicySet = PolicyRevision['set']
type CapRule = PolicySet['rules'][number]
type Grant = PolicySet['grants'][number]

const NOW = Date.UTC(2026, 10, 27)
const at = (file: string, line = 1) => ({ file, line, column: 1 })
const PEOPLE = { grp_a: ['a1@x.com', 'a2@x.com', 'both@x.com'], grp_b: ['b1@x.com', 'b2@x.com', 'both@x.com'] }
const envelope = (id: 'a' | 'b', more: Partial<Envelope> = {}): Envelope => ({
  ...{ name: id, workspace: 'acme', groups: [`grp_${id}`], maxCap: 3000, sum: 9000, maxPeople: 3, at: at('capkeeper.yaml') },
  ...{ grants: { maxDays: 31, maxAdd: 1000 }, ...more },
})
const rule = (scope: CapRule['scope'], cap: number | 'none', file: string, line = 1): CapRule => ({
  ...{ scope, cap: cap === 'none' ? cap : credits(cap), at: at(file, line), document: file },
})
const platform: PolicySet = {
  workspace: 'acme',
  rules: [rule(TEAM, 5000, 'platform.yaml'), rule(userScope('boss@x.com'), 9000, 'platform.yaml')],
  grants: [],
  groups: (['a', 'b'] as const).map((id) => ({ scope: groupScope(`grp_${id}`), name: id, at: at('platform.yaml') })),
  protectedPeople: [{ scope: { kind: 'user', email: 'a2@x.com' }, at: at('platform.yaml') }],
  approvals: [],
  peopleRules: [],
  pools: [],
  documents: ['platform'],
}

interface World {
  readonly before: PolicySet | undefined
  readonly memory: EnvelopeMemory | undefined
}

const START: World = { before: undefined, memory: undefined }

function next(
  world: World,
  files: readonly DelegatedFile[],
  envelopes = [envelope('a'), envelope('b')],
  read = { people: PEOPLE, readAt: NOW },
): PolicyRevision {
  const delegated = { envelopes, files, unlisted: [], refused: [] }
  const groups = Object.entries(read.people).map(([id, emails]) => ({ id, name: id, emails, readAt: read.readAt }))
  const owned = new Set(world.before?.rules.map(({ scope }) => scopeKey(scope)))
  const declared = { set: platform, digest: '', revision: '', ...(envelopes.length > 0 && { delegated }) }
  return settle({ ...world, declared, groups, pooled: new Set(), owned, now: NOW })
}

const worldOf = ({ set, settled }: PolicyRevision): World => ({ before: set, memory: settled?.memory })

const file = (name: string, documents?: readonly Pick<DelegatedDocument, 'rules' | 'grants'>[]): DelegatedFile => ({
  ...{ envelope: name[0] ?? '', file: name },
  ...(documents && { documents: documents.map((one) => ({ ...one, file: name, name })) }),
})

const EMAILS = [...new Set([...Object.values(PEOPLE).flat(), 'boss@x.com', 'stranger@x.com'])]
const scopes = fc.oneof(
  fc.constantFrom(...EMAILS).map(userScope),
  fc.constantFrom('grp_a', 'grp_b', 'grp_c').map(groupScope),
  fc.constant(TEAM),
)
const caps = fc.oneof(fc.constant('none' as const), fc.integer({ min: 0, max: 6000 }))
const rules = (name: string) =>
  fc
    .uniqueArray(fc.tuple(scopes, caps), { maxLength: 6, selector: ([scope]) => scopeKey(scope) })
    .map((all) => all.map(([scope, cap], line) => rule(scope, cap, name, line)))
const grants = (name: string) =>
  fc.array(
    fc.record({ scope: scopes, amount: fc.integer({ min: 1, max: 6000 }), days: fc.integer({ min: -5, max: 60 }), add: fc.boolean() }).map(
      ({ scope, amount, days, add }, line = 1): Grant => ({
        ...{ scope, amount: { kind: add ? 'add' : 'cap', credits: credits(amount) }, reason: 'x', document: name, at: at(name, line) },
        until: { kind: 'instant', at: NOW + days * DAY },
      }),
    ),
    { maxLength: 2 },
  )
/** A file of an envelope: broken, or with any declarations. */
const fileOf = (name: string) =>
  fc.option(fc.record({ rules: rules(name), grants: grants(name) })).map((one) => file(name, one ? [one] : undefined))

const ofOthers = ({ set }: PolicyRevision, name: string) => ({
  ...set,
  documents: set.documents.filter((one) => !one.startsWith(name)),
  rules: set.rules.filter((one) => one.envelope !== name),
  grants: set.grants.filter((one) => one.envelope !== name),
})
/** `both@x.com` is inside both: two envelopes that name them lose both entries, and a document with nothing else. */
const isShared = ({ scope }: CapRule | Grant): boolean => scopeKey(scope) === 'both@x.com'
function unshared(set: PolicySet): PolicySet {
  const [rules, grants] = [set.rules.filter((one) => !isShared(one)), set.grants.filter((one) => !isShared(one))]
  const named = new Set(['platform', ...[...rules, ...grants].map(({ document }) => document)])
  return { ...set, rules, grants, documents: set.documents.filter((name) => named.has(name)) }
}

describe('whatever stands in an envelope, in any sequence of edits', () => {
  it('changes nothing outside it, nor what becomes of the documents of another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(fileOf('a1.yaml'), { maxLength: 1 }), fileOf('b1.yaml')), { minLength: 1, maxLength: 4 }),
        (edits) => {
          let [withA, without] = [START, START]
          for (const [some, other] of edits) {
            const [one, two] = [next(withA, [...some, other]), next(without, [other])]
            expect(unshared(ofOthers(one, 'a'))).toEqual(unshared(ofOthers(two, 'a')))
            ;[withA, without] = [worldOf(one), worldOf(two)]
          }
        },
      ),
    )
  })

  it('never caps anybody outside it, and keeps every cap and every person within the bounds', () => {
    fc.assert(
      fc.property(fc.array(fileOf('a1.yaml'), { minLength: 1, maxLength: 4 }), (edits) => {
        let world = START
        for (const edit of edits) {
          const policy = next(world, [edit])
          const own = policy.set.rules.filter((one) => one.envelope === 'a')
          expect(own.filter(({ scope }) => !['a1@x.com', 'both@x.com', 'group:grp_a'].includes(scopeKey(scope)))).toEqual([])
          expect(own.filter(({ cap }) => cap !== 'none' && cap > 3000)).toEqual([])
          expect(own.filter(({ cap, scope }) => cap === 'none' && scope.kind === 'group')).toEqual([])
          world = worldOf(policy)
        }
      }),
    )
  })
})

const good = file('a1.yaml', [{ rules: [rule(userScope('a1@x.com'), 2000, 'a1.yaml')], grants: [] }])
const capAt = ({ set }: PolicyRevision) => set.rules.find(({ scope }) => scopeKey(scope) === 'a1@x.com')?.cap

it('an edit that is refused lowers and clears nobody, however often it is made and whether the file can be read', () => {
  const bad = fc.oneof(fc.constant(undefined), fc.integer({ min: 3001, max: 9000 }), fc.constant('none' as const))
  fc.assert(
    fc.property(fc.array(bad, { minLength: 1, maxLength: 5 }), (edits) => {
      let world = worldOf(next(START, [good]))
      for (const cap of edits) {
        const edit = file('a1.yaml', cap === undefined ? undefined : [{ rules: [rule(userScope('a1@x.com'), cap, 'a1.yaml')], grants: [] }])
        const policy = next(world, [edit])
        expect(capAt(policy)).toBe(2000)
        world = worldOf(policy)
      }
    }),
  )
})

it('a narrowed or removed envelope names every scope of which it takes something', () => {
  fc.assert(
    fc.property(fileOf('a1.yaml'), fc.integer({ min: 0, max: 3000 }), fc.boolean(), (given, maxCap, isRemoved) => {
      const before = next(START, [given])
      const after = isRemoved ? next(worldOf(before), [], []) : next(worldOf(before), [given], [envelope('a', { maxCap })])
      const capOf = new Map(after.set.rules.map(({ scope, cap }) => [scopeKey(scope), cap]))
      for (const { scope, cap } of before.set.rules) {
        const key = scopeKey(scope)
        if (capOf.get(key) !== cap) expect(after.settled?.narrowed).toHaveProperty([key])
      }
    }),
  )
})

describe('people who join', () => {
  const group = (cap: number) => file('a1.yaml', [{ rules: [rule(groupScope('grp_a'), cap, 'a1.yaml')], grants: [] }])
  const capOf = ({ set }: PolicyRevision) => set.rules.find(({ scope }) => scopeKey(scope) === 'group:grp_a')?.cap
  const grown = { ...PEOPLE, grp_a: [...PEOPLE.grp_a, 'a3@x.com', 'a4@x.com'] }

  it('count after two readings, are told, and only stop raises where the sum is above its bound by them', () => {
    const first = next(START, [group(2500)])
    const once = next(worldOf(first), [group(2500)], undefined, { people: grown, readAt: NOW + 1 })
    expect(once.settled?.notes).toEqual([])
    const twice = next(worldOf(once), [group(2500)], undefined, { people: grown, readAt: NOW + 2 })
    expect(twice.settled?.notes.map(({ message }) => message)).toEqual([
      'a3@x.com joined group grp_a and is inside envelope a now',
      'a4@x.com joined group grp_a and is inside envelope a now',
    ])
    expect([capOf(twice), twice.settled?.refusals]).toEqual([2500, []])
    const later = { people: grown, readAt: NOW + 3 }
    expect(capOf(next(worldOf(twice), [group(2600)], undefined, later))).toBe(2500)
    expect(capOf(next(worldOf(twice), [group(2400)], undefined, later))).toBe(2400)
  })
})
