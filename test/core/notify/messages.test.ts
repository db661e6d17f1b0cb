// Which messages are due, and what they tell: messages.txt has use, pools, groups and what happened, and what everybody is told of it.
// `CAPKEEPER_TESTS=test/core/notify/messages.test.ts npx vitest run -u` writes what is told into it, for review as a change of text.
// It is noon of 2026-11-22, two days from now. After -- comes what is due later, once the messages before had their outcome: `sent`, or as it is named.
import { credits } from '../../../src/core/model/units.ts'
import { cap, NOW, type PlainCap, scope } from '../../support/declare.ts'
import { afterwards, begun, due, NOON, NOTIFY } from '../../support/notify.ts'
import { type Named, playTables } from '../../support/tables.ts'

type Given = NonNullable<Parameters<typeof due>[0]>
type Settings = typeof NOTIFY
type Happening = NonNullable<Given['happened']>[number]
type Person = NonNullable<Given['people']>[number]
type People = Named<{ readonly used?: number; readonly cap?: PlainCap; readonly name?: string; readonly source?: Person['source'] | null }>
type Pools = Named<Partial<Omit<NonNullable<Given['pools']>[number], 'name'>> & { readonly used: number }>
type Outcome = NonNullable<Parameters<typeof afterwards>[1]>

interface Part extends Partial<Omit<Settings, 'owners' | 'people' | 'pools'>> {
  /** From now, or as it is written. */
  readonly now?: number | string
  readonly cycle?: NonNullable<Given['cycle']> | null
  readonly people?: People
  readonly pools?: Pools
  readonly ended?: { readonly people?: People; readonly pools?: Pools }
  readonly groups?: Named<Named<readonly string[]>>
  /** By `group:ID` or `pool:NAME`: addresses, and names of webhooks. */
  readonly owners?: Named<readonly string[]>
  /** Whom people and pools of owners hear from. */
  readonly thresholds?: { readonly people?: readonly number[]; readonly pools?: readonly number[] }
  readonly happened?: readonly (Partial<Omit<Happening, 'scope'>> & Pick<Happening, 'kind' | 'id'> & { readonly on?: string })[]
  readonly revision?: string
  readonly outcome?: Outcome
}

const peopleOf = (people: People = {}): readonly Person[] =>
  Object.entries(people).map(([email, { used, cap: most, source = 'measured', ...more }]) => ({
    ...{ email, ...more, ...(source !== null && { source }) },
    ...{ used: used === undefined ? undefined : credits(used), cap: most === undefined ? undefined : cap(most) },
  }))
const poolsOf = (pools: Pools = {}): NonNullable<Given['pools']> =>
  Object.entries(pools).map(([name, one]) => ({ name, groups: [], members: [], credits: 1000, ...one }))
const ownersOf = (owners: Named<readonly string[]> = {}): Settings['owners'] =>
  Object.entries(owners).map(([of, targets]) => {
    const [kind, name = ''] = of.split(':')
    return {
      of: kind === 'group' ? { kind, id: name } : { kind: 'pool', name },
      targets: targets.map((one) => (one.includes('@') ? { kind: 'email', address: one } : { kind: 'webhook', name: one })),
    }
  })

function givenOf(part: Part): Given & { readonly now: number } {
  const {
    now = NOON,
    cycle,
    people,
    pools,
    ended,
    groups = {},
    owners,
    thresholds,
    happened = [],
    revision,
    outcome: _,
    ...settings
  } = part
  return {
    now: typeof now === 'number' ? now : Date.parse(now),
    ...(cycle !== undefined && { cycle: cycle ?? undefined }),
    ...{ people: peopleOf(people), pools: poolsOf(pools), revision, label: (email) => `<${email}>` },
    ...(ended && { ended: { cycle: { startAt: 0, endAt: NOW }, people: peopleOf(ended.people), pools: poolsOf(ended.pools) } }),
    groups: Object.entries(groups).flatMap(([id, one]) => Object.entries(one).map(([name, emails]) => ({ id, name, emails }))),
    happened: happened.map(({ on, ...one }) => ({
      ...{ at: NOON - 60_000, text: '1 → 2' },
      ...one,
      ...(on !== undefined && { scope: scope(on) }),
    })),
    settings: { ...NOTIFY, ...settings, ...thresholds, owners: ownersOf(owners) },
  }
}

const told = ({ messages, quiet }: ReturnType<typeof due>): readonly string[] => [
  ...messages.flatMap(({ to, key, kind, level, values }) => {
    const fields = Object.entries(values).filter(([name]) => name !== 'workspace')
    const lists = fields.flatMap(([name, value]) => (Array.isArray(value) ? value.map((one) => `  ${name}: ${one}`) : []))
    const single = fields.flatMap(([name, value]) => (Array.isArray(value) ? [] : [`${name} ${value}`]))
    return [`${kind} for ${to.kind === 'email' ? to.address : to.name}, level ${level}, as ${key}`, `  ${single.join(', ')}`, ...lists]
  }),
  ...(quiet ? ['nothing is sent now'] : []),
]

playTables<Part, Given['told']>(import.meta.dirname, (part, before) => {
  const given = givenOf(part)
  const found = due({ ...given, told: before && begun(before, given.now, given.happened) })
  const after = found.told || before ? afterwards(found, part.outcome, given.now, before) : undefined
  const again = Object.entries(after?.entries ?? {}).flatMap(([key, { tries, state }]) =>
    tries > 1 ? [`${key} is ${state}, try ${tries}`] : [],
  )
  return [[...told(found), ...again], after]
})
