// What policies come to when they are right; what is told of those that are wrong is in messages.txt.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folder, policyText } from './support.ts'

const NOW = Date.UTC(2026, 9, 1)

type Options = Parameters<typeof loadPolicies>[1]
const load = (files: Readonly<Record<string, string>>, options: Options = {}) =>
  loadPolicies(['.'], { cwd: folder(files), now: NOW, ...options })
const setOf = async (files: Readonly<Record<string, string>>) => [...(await load(files)).sets.values()][0]?.set
const two = (a: string, b: string) => ({ 'a.yaml': policyText(a, 'a'), 'b.yaml': policyText(b, 'b') })

const WHOLE = `# yaml-language-server: $schema=./cap-policy.schema.json
apiVersion: capkeeper/v1
kind: CapPolicy
metadata:
  name: acme
  labels: {owner: platform, tier: 1, live: true}
  annotations:
spec:
  workspace: acme
  timezone: Europe/Berlin
  team: {cap: 2147483647} # each
  groups:
    - {id: 007, name: 1e3, cap: "none", allowZero: false, reason: builds}
    - {id: h, name: H}
  users:
    - email: " Ada@Example.com"
      cap: 0
      allowZero: true
  grants:
    - {user: Bob@example.com, add: 800, from: 2026-10-25, until: 2026-10-25, reason: release week, ticket: 4711}
    - {group: h, cap: 5, from: "2026-11-20", until: 2026-12-15T18:00:00+01:00, reason: r}
    - {team: true, cap: 5, from: 2026-11-20, until: cycleEnd, reason: r}
  rules:
    - {name: contractors, when: {email: " *@Contractor.Example "}, cap: 100, reason: their own budget}
    - name: quiet
      when: {role: member, groups: [h, 007, h], inactiveDays: 30, joinedWithinDays: 14, activeDays: {below: 5, within: 30}}
      cap: 0
      allowZero: true
    - {name: columns, when: {attributes: {listed: true, costCenter: "12"}}, cap: none}
  pools:
    - {name: research, members: {groups: [h]}, credits: 20000, share: equal, min: 50, max: 3000}
    - {name: guests, members: {when: {email: "*@guest.example"}}, credits: 500}
    - {name: pair, members: {emails: [B@x.y, a@x.y]}, credits: 500, share: need}
  protected: [OnCall@example.com]
  approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a, 12345678901234567890123456789012, 1e100000000010000000001000000000, " 0000000000000000000000000000000A "]
  onGroupConflict: max
`

it('a document is read with the place of every declaration', async () => {
  const at = (line: number, column: number) => ({ file: 'acme.yaml', line, column })
  const here = (line: number, column: number) => ({ at: at(line, column), document: 'acme' })
  const group = (id: string) => ({ kind: 'group', id })
  const user = (email: string) => ({ kind: 'user', email })
  const day = Date.parse('2026-11-19T23:00:00Z')
  const quiet = { role: 'member', groups: ['007', 'h'], inactiveDays: 30, joinedWithinDays: 14, activeDays: { below: 5, within: 30 } }
  const defaults = { credits: 500, share: 'need', min: 0 }
  expect(await setOf({ 'acme.yaml': WHOLE })).toEqual({
    workspace: 'acme',
    documents: ['acme'],
    rules: [
      { scope: { kind: 'team' }, cap: 2147483647, ...here(11, 15) },
      { scope: group('007'), cap: 'none', reason: 'builds', ...here(13, 33) },
      { scope: user('ada@example.com'), cap: 0, ...here(17, 12) },
    ],
    groups: [
      { scope: group('007'), name: '1e3', at: at(13, 12), nameAt: at(13, 23) },
      { scope: group('h'), name: 'H', at: at(14, 12), nameAt: at(14, 21) },
    ],
    grants: [
      {
        scope: { kind: 'team' },
        amount: { kind: 'cap', credits: 5 },
        fromAt: day,
        until: { kind: 'cycleEnd' },
        reason: 'r',
        ...here(22, 25),
      },
      {
        ...{ scope: group('h'), amount: { kind: 'cap', credits: 5 }, fromAt: day, reason: 'r', ...here(21, 23) },
        until: { kind: 'instant', at: Date.parse('2026-12-15T17:00:00Z') },
      },
      {
        ...{ scope: user('bob@example.com'), amount: { kind: 'add', credits: 800 }, fromAt: Date.parse('2026-10-24T22:00:00Z') },
        ...{ until: { kind: 'instant', at: Date.parse('2026-10-25T23:00:00Z') }, reason: 'release week', ticket: '4711', ...here(20, 36) },
      },
    ],
    peopleRules: [
      { name: 'contractors', when: { email: '*@contractor.example' }, cap: 100, reason: 'their own budget', ...here(24, 73) },
      { name: 'quiet', when: quiet, cap: 0, ...here(27, 12) },
      { name: 'columns', when: { attributes: { listed: true, columns: { costCenter: '12' } } }, cap: 'none', ...here(29, 82) },
    ],
    pools: [
      { name: 'guests', members: { kind: 'when', when: { email: '*@guest.example' } }, ...defaults, ...here(32, 76) },
      { name: 'pair', members: { kind: 'emails', emails: ['a@x.y', 'b@x.y'] }, ...defaults, ...here(33, 64) },
      { name: 'research', members: { kind: 'groups', ids: ['h'] }, credits: 20000, share: 'equal', min: 50, max: 3000, ...here(31, 57) },
    ],
    protectedPeople: [{ scope: user('oncall@example.com'), at: at(34, 15) }],
    approvals: [
      { id: '0000000000000000000000000000000a', at: at(35, 117) },
      { id: '12345678901234567890123456789012', at: at(35, 49) },
      { id: '1e100000000010000000001000000000', at: at(35, 83) },
      { id: '7d1f0c2a9b347d1f0c2a9b347d1f0c2a', at: at(35, 15) },
    ],
    onGroupConflict: 'max',
  })
})

describe('documents of one workspace', () => {
  it('join protected people and approvals', async () => {
    const [ID, OTHER] = ['7d1f0c2a9b347d1f0c2a9b347d1f0c2a', '00000000000000000000000000000000']
    const set = await setOf(
      two(`protected: [b@b.c, a@b.c]\napprovals: [${ID}]`, `protected: [A@b.c]\napprovals: [${ID.toUpperCase()}, ${OTHER}]`),
    )
    expect(set?.protectedPeople.map(({ scope, at }) => [scope.email, at.file])).toEqual([
      ['a@b.c', 'a.yaml'],
      ['b@b.c', 'a.yaml'],
    ])
    expect(set?.approvals.map(({ id }) => id)).toEqual([OTHER, ID])
  })

  it('put rules in the order of the names of the documents, whatever the files are called', async () => {
    const rule = (name: string) => `rules: [{name: ${name}, when: {role: r}, cap: 5}]`
    for (const files of [two(rule('a'), rule('b')), { 'b.yaml': policyText(rule('a'), 'a'), 'a.yaml': policyText(rule('b'), 'b') }])
      expect((await setOf(files))?.peopleRules.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('have time zones of their own, and UTC without one', async () => {
    const dated = (email: string) => `grants: [{user: ${email}, cap: 5, until: 2026-12-15, reason: r}]`
    const files = two(`timezone: Asia/Tokyo\n${dated('a@b.c')}`, `timezone: ~\n${dated('b@b.c')}`)
    const ends = (await setOf({ ...files, 'c.yaml': policyText(dated('c@b.c'), 'c') }))?.grants.map(({ until }) => until)
    expect(ends).toEqual([15, 24, 24].map((hour) => ({ kind: 'instant', at: Date.UTC(2026, 11, 15, hour) })))
  })
})

it('pools are refused where caps are copied, and nowhere else', async () => {
  const files = { 'a.yaml': policyText('pools: [{name: p, members: {emails: [a@b.c]}, credits: 5}]') }
  const told = (capSemantics: 'layered' | 'copied') => load(files, { workspaces: [{ name: 'w', capSemantics }] })
  expect((await told('copied')).problems).toMatchObject([{ code: 'POOL_COPIED', at: { line: 6, column: 18 } }])
  expect((await told('copied')).sets.size).toBe(0)
  expect((await told('layered')).problems).toEqual([])
})

describe('times', () => {
  const HOUR = 3_600_000
  /** The times of the grants of a zone. */
  const timesOf = async (zone: string, ...grants: readonly (readonly [from: string, until: string])[]) => {
    const lines = grants.map(([from, until], index) => `- {user: p${index}@x.y, cap: 5, from: ${from}, until: ${until}, reason: r}`)
    const set = await setOf({ 'x.yaml': policyText(`timezone: ${zone}\ngrants:\n${lines.join('\n')}`) })
    return set?.grants.map(({ fromAt = Number.NaN, until }) => ({ from: fromAt, until: until.kind === 'instant' ? until.at : Number.NaN }))
  }
  const iso = (at: number | undefined): string => new Date(at ?? Number.NaN).toISOString()

  it.each([
    ['UTC', 'UTC', '2026-12-15', '2026-12-15T00:00:00.000Z', '2026-12-16T00:00:00.000Z'],
    ['a zone with quarter hours', 'Asia/Kathmandu', '2026-12-15', '2026-12-14T18:15:00.000Z', '2026-12-15T18:15:00.000Z'],
    ['the short day in spring', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['the long day in autumn', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['a midnight that does not exist', 'America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
    ['a midnight that comes twice, at its first', 'America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    ['a leap day', 'UTC', '2028-02-29', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ])('of days start and end in %s', async (_name, zone, date, start, end) => {
    const [times] = (await timesOf(zone, [date, date])) ?? []
    expect([iso(times?.from), iso(times?.until)]).toEqual([start, end])
  })

  it('of days follow each other without a gap and without an overlap', async () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'America/Santiago', 'Pacific/Apia', 'Asia/Beirut', 'Australia/Lord_Howe']
    const dayOf = (day: number): string => new Date(day * 24 * HOUR).toISOString().slice(0, 10)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...zones), fc.integer({ min: 10_000, max: 24_000 }), async (zone, index) => {
        const [one, other] = (await timesOf(zone, [dayOf(index), dayOf(index)], [dayOf(index + 1), dayOf(index + 2)])) ?? []
        // One day was skipped at the date line, and has no length.
        if (one === undefined) return expect([zone, dayOf(index)]).toEqual(['Pacific/Apia', '2011-12-30'])
        expect(one.until).toBe(other?.from)
        expect(one.until - one.from).toBeLessThanOrEqual(25 * HOUR)
      }),
      { numRuns: 80 },
    )
  })

  it.each([
    ['in small letters, with parts of a second', '2026-12-15t18:00:00.250z', '2026-12-15T18:00:00.250Z'],
    ['with a space and an offset', '"2026-12-15 18:00:00+01:00"', '2026-12-15T17:00:00.000Z'],
    ['west of Greenwich', '2026-12-15T18:00:00-05:30', '2026-12-15T23:30:00.000Z'],
    ['with a leap second', '2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
  ])('are read %s', async (_name, until, expected) =>
    expect(iso((await timesOf('Europe/Berlin', ['2026-12-01', until]))?.[0]?.until)).toBe(expected),
  )
})

it('a mistake in one entry never hides one between two others', async () => {
  const between: readonly (readonly [string, string, string])[] = [
    ['users', '{email: a@x.y, cap: 5}, {email: A@x.y, cap: 6}', 'DUPLICATE_SCOPE'],
    ['grants', '{team: true, cap: 5, until: 2036-01-05, reason: x}, {team: true, cap: 5, until: 2036-01-06, reason: x}', 'GRANT_OVERLAP'],
    ['rules', '{name: r, when: {role: a}, cap: 5}, {name: r, when: {role: b}, cap: 5}', 'DUPLICATE_RULE'],
    ['pools', '{name: p, members: {emails: [a@x.y]}, credits: 5}, {name: q, members: {emails: [a@x.y]}, credits: 5}', 'POOL_TWICE'],
    ['groups', '{id: g, name: G, cap: 5}, {id: h, name: G, cap: 5}', 'DUPLICATE_GROUP_NAME'],
  ]
  const within: readonly (readonly [string, string, string])[] = [
    ['users', '{email: b@x.y, cap: 1e3}', 'CAP'],
    ['grants', '{user: c@x.y, cap: 5, until: never, reason: x}', 'TIME'],
    ['rules', '{name: s, when: {role: a}, cap: "5"}', 'CAP'],
    ['pools', '{name: s, members: {emails: [d@x.y]}, credits: 0}', 'NUMBER'],
    ['groups', '{id: i, cap: 5}', 'MISSING'],
  ]
  await fc.assert(
    fc.asyncProperty(fc.subarray([...between]), fc.subarray([...within]), async (some, others) => {
      const lists = Map.groupBy([...some, ...others], ([key]) => key)
      const spec = [...lists].map(([key, entries]) => `${key}: [${entries.map(([, text]) => text).join(', ')}]`).join('\n')
      const codes = (await load({ 'p.yaml': policyText(spec === '' ? '{}' : spec) })).problems.map(({ code }) => code)
      expect(codes.toSorted()).toEqual([...some, ...others].map(([, , code]) => code).toSorted())
    }),
    { numRuns: 60 },
  )
})
