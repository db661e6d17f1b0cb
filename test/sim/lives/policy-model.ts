// The simulation's own model of a policy: its declarations, as text for the real parser, and the cap that each person should have by it. It
// is written from docs/policies.md, and shares no code with the program.
import { type ScopeKey, scopeKey, userScope } from '../../../src/core/model/scope.ts'

export type ModelCap = number | 'none'

interface ModelGrant {
  readonly scope: ScopeKey
  readonly cap?: number
  readonly add?: number
  readonly fromAt?: number
  /** Exclusive; `cycleEnd` is computed from `fromAt`. */
  readonly untilAt: number
  readonly cycleEnd?: true
}

/** A rule for people who meet all its conditions. */
export interface ModelRule {
  /** The beginning of the address. */
  readonly starts?: string
  readonly role?: string
  /** The id of a declared group. */
  readonly group?: string
  readonly inactiveDays?: number
  readonly joinedWithinDays?: number
  readonly activeDays?: { readonly below: number; readonly within: number }
  /** By the people file; `listed: false`: who is not in it. */
  readonly unit?: string
  readonly listed?: false
  readonly cap: ModelCap
}

/** Whether a rule matches a person; `open`: that changes about now, or the model cannot tell. */
export type Truth = boolean | 'open'

/** The name of each simulated group. */
export const groupName = (id: string): string => `Group ${id}`

/** Whether it asks the people file. */
export const isOfFile = ({ unit, listed }: Pick<ModelRule, 'unit' | 'listed'>): boolean => unit !== undefined || listed === false

const attributesOf = ({ unit, listed }: Pick<ModelRule, 'unit' | 'listed'>): string =>
  `attributes: {${listed === false ? 'listed: false' : `unit: ${unit}`}}`

/** A budget for some people together: the members of groups, listed people, or a unit of the people file. */
export interface ModelPool {
  readonly name: string
  readonly groups?: readonly string[]
  readonly emails?: readonly string[]
  readonly unit?: string
  readonly credits: number
  readonly share: 'need' | 'equal'
  readonly min: number
  readonly max?: number
}

export interface PolicyModel {
  team: ModelCap | undefined
  readonly groups: Map<string, { readonly name: string; cap: ModelCap }>
  readonly users: Map<string, ModelCap>
  grants: readonly ModelGrant[]
  readonly protectedPeople: Set<string>
  readonly approvals: Set<string>
  onGroupConflict: 'min' | 'max' | undefined
  /** In order of precedence. */
  rules: readonly ModelRule[]
  pools: readonly ModelPool[]
  /** Scopes whose lines stand in the team's file. */
  readonly delegated: Set<ScopeKey>
  /** Lines of the team's file that its envelope refuses, in the place of those above. */
  readonly strays: Map<ScopeKey, number>
}

export const emptyModel = (): PolicyModel => ({
  team: undefined,
  groups: new Map(),
  users: new Map(),
  grants: [],
  protectedPeople: new Set(),
  approvals: new Set(),
  onGroupConflict: undefined,
  rules: [],
  pools: [],
  delegated: new Set(),
  strays: new Map(),
})

export const copyModel = (model: PolicyModel): PolicyModel => ({
  team: model.team,
  groups: new Map([...model.groups].map(([id, group]) => [id, { ...group }])),
  users: new Map(model.users),
  grants: [...model.grants],
  protectedPeople: new Set(model.protectedPeople),
  approvals: new Set(model.approvals),
  onGroupConflict: model.onGroupConflict,
  rules: [...model.rules],
  pools: [...model.pools],
  delegated: new Set(model.delegated),
  strays: new Map(model.strays),
})

/** Only what platform says. */
export function withoutTeam(model: PolicyModel): PolicyModel {
  const rest = copyModel(model)
  for (const scope of model.delegated) {
    rest.users.delete(scope)
    if (isGroup(scope)) rest.groups.delete(idOf(scope))
  }
  rest.grants = model.grants.filter(({ scope }) => !model.delegated.has(scope))
  rest.delegated.clear()
  return rest
}

const capLine = (cap: ModelCap, indent: string): string => `cap: ${cap}${cap === 0 ? `\n${indent}allowZero: true` : ''}`

const head = (name: string, model: PolicyModel): string[] => [
  'apiVersion: capkeeper/v1',
  'kind: CapPolicy',
  'metadata:',
  `  name: ${name}`,
  'spec:',
  ...(model.onGroupConflict ? [`  onGroupConflict: ${model.onGroupConflict}`] : []),
]

const list = (name: string, items: readonly string[]): string[] => (items.length > 0 ? [`  ${name}:`, ...items] : [])

const groupText = (id: string, name: string, cap?: ModelCap): string =>
  [`    - id: ${id}`, `name: ${name}`, ...(cap === undefined ? [] : [capLine(cap, '      ')])].join('\n      ')

const userText = (email: string, cap: ModelCap): string => `    - email: ${email}\n      ${capLine(cap, '      ')}`

/** The policy as two files of platform, without a file that would say nothing. A group whose line is the team's has only its name here. */
export function policyFiles(model: PolicyModel): Map<string, string> {
  const { delegated } = model
  const groups = [...model.groups].map(([id, { name, cap }]) => groupText(id, name, delegated.has(GROUP(id)) ? undefined : cap))
  const users = [...model.users].flatMap(([email, cap]) => (delegated.has(USER(email)) ? [] : userText(email, cap)))
  const wide = [
    ...head('wide', model),
    ...(model.team === undefined ? [] : ['  team:', `    ${capLine(model.team, '    ')}`]),
    ...list('groups', groups),
  ]
  const people = [
    ...head('people', model),
    ...list('users', users),
    ...list(
      'grants',
      model.grants.flatMap((one) => (delegated.has(one.scope) ? [] : grantText(one))),
    ),
    ...list('rules', model.rules.map(ruleText)),
    ...list('pools', model.pools.map(poolText)),
    ...list(
      'protected',
      [...model.protectedPeople].map((email) => `    - ${email}`),
    ),
    ...list(
      'approvals',
      [...model.approvals].map((id) => `    - ${id}`),
    ),
  ]
  const files = [['wide.yaml', wide] as const, ['people.yaml', people] as const]
  const most = head('', model).length
  return new Map(files.flatMap(([path, lines]) => (lines.length > most ? [[path, `${lines.join('\n')}\n`]] : [])))
}

/** The team's file; undefined where the team says nothing. */
export function teamFile({ groups, users, grants, delegated, strays }: PolicyModel): string | undefined {
  const lines = new Map<ScopeKey, ModelCap>()
  for (const [id, { cap }] of groups) if (delegated.has(GROUP(id))) lines.set(GROUP(id), cap)
  for (const [email, cap] of users) if (delegated.has(USER(email))) lines.set(USER(email), cap)
  for (const [scope, cap] of strays) lines.set(scope, cap)
  if (lines.size === 0) return undefined
  const all = [...lines]
  const text = [
    ...head('of the team', emptyModel()),
    ...list(
      'groups',
      all.flatMap(([scope, cap]) => (isGroup(scope) ? groupText(idOf(scope), groupName(idOf(scope)), cap) : [])),
    ),
    ...list(
      'users',
      all.flatMap(([scope, cap]) => (isGroup(scope) ? [] : userText(scope, cap))),
    ),
    ...list(
      'grants',
      grants.flatMap((one) => (delegated.has(one.scope) ? grantText(one) : [])),
    ),
  ]
  return `${text.join('\n')}\n`
}

const isGroup = (scope: ScopeKey): boolean => scope.startsWith('group:')
const idOf = (scope: ScopeKey): string => scope.slice('group:'.length)

function ruleText(rule: ModelRule, index: number): string {
  const { starts, role, group, inactiveDays, joinedWithinDays, activeDays, cap } = rule
  const when = [
    ...(starts === undefined ? [] : [`email: "${starts}*"`]),
    ...(role === undefined ? [] : [`role: ${role}`]),
    ...(group === undefined ? [] : [`groups: [${group}]`]),
    ...(inactiveDays === undefined ? [] : [`inactiveDays: ${inactiveDays}`]),
    ...(joinedWithinDays === undefined ? [] : [`joinedWithinDays: ${joinedWithinDays}`]),
    ...(activeDays === undefined ? [] : [`activeDays: {below: ${activeDays.below}, within: ${activeDays.within}}`]),
    ...(isOfFile(rule) ? [attributesOf(rule)] : []),
  ]
  return `    - name: r${index}\n      when: {${when.join(', ')}}\n      ${capLine(cap, '      ')}`
}

function poolText({ name, groups, emails, unit, credits, share, min, max }: ModelPool): string {
  const listed = groups ? `groups: [${groups.join(', ')}]` : `emails: [${emails?.join(', ')}]`
  const members = unit === undefined ? listed : attributesOf({ unit })
  const lines = [
    `members: {${members}}`,
    `credits: ${credits}`,
    `share: ${share}`,
    `min: ${min}`,
    ...(max === undefined ? [] : [`max: ${max}`]),
  ]
  return `    - name: ${name}\n      ${lines.join('\n      ')}`
}

function grantText({ scope, cap, add, fromAt, untilAt, cycleEnd }: ModelGrant): string {
  const on = scope === 'team' ? 'team: true' : scope.startsWith('group:') ? `group: ${scope.slice(6)}` : `user: ${scope}`
  const lines = [
    on,
    cap === undefined ? `add: ${add}` : `cap: ${cap}`,
    ...(fromAt === undefined ? [] : [`from: ${new Date(fromAt).toISOString()}`]),
    `until: ${cycleEnd ? 'cycleEnd' : new Date(untilAt).toISOString()}`,
    'reason: release week',
  ]
  return `    - ${lines.join('\n      ')}`
}

/** The people and their groups, as far as caps depend on them. */
interface Belonging {
  readonly approved: readonly string[]
  /** Ids of the groups of a person. */
  groupsOf(email: string): readonly string[]
  /** Absent: only addresses are known. */
  holds?(rule: ModelRule, email: string): Truth
}

/** The cap of the first rule that matches. */
function ruleCap({ rules }: PolicyModel, email: string, { holds }: Belonging): ModelCap | undefined | 'open' {
  for (const rule of rules) {
    const truth = holds ? holds(rule, email) : isOfFile(rule) ? 'open' : email.startsWith(rule.starts ?? '')
    if (truth === 'open') return 'open'
    if (truth) return rule.cap
  }
  return undefined
}

const USER = (email: string): ScopeKey => scopeKey(userScope(email))
const GROUP = (id: string): ScopeKey => scopeKey({ kind: 'group', id })
const TEAM = scopeKey({ kind: 'team' })

const isActive = (grant: ModelGrant, now: number): boolean => (grant.fromAt ?? 0) <= now && now < grant.untilAt

function grantAt(model: PolicyModel, scope: ScopeKey, base: ModelCap | undefined | (() => Verdict), now: number): number | undefined {
  const active = model.grants.find((one) => one.scope === scope && isActive(one, now))
  if (active?.add === undefined) return active?.cap
  const below = typeof base === 'function' ? base() : base
  return typeof below === 'number' ? below + active.add : undefined
}

/** The desired cap of the team, and of a group; undefined when none is declared. */
const teamCap = (model: PolicyModel, now: number): ModelCap | undefined => grantAt(model, TEAM, model.team, now) ?? model.team
const groupCap = (model: PolicyModel, id: string, now: number): ModelCap | undefined =>
  grantAt(model, GROUP(id), model.groups.get(id)?.cap, now) ?? model.groups.get(id)?.cap

/** `conflict`: the person's groups differ without a conflict rule. `open`: a pool deals by use, or whether a rule matches is open. */
type Verdict = ModelCap | undefined | 'conflict' | 'open'

/** Whether a pool deals to a person, by their present groups. */
const isPooled = ({ pools }: PolicyModel, email: string, { groupsOf }: Pick<Belonging, 'groupsOf'>): boolean =>
  pools.some(
    ({ emails, unit, groups = [] }) => unit !== undefined || (emails?.includes(email) ?? groupsOf(email).some((id) => groups.includes(id))),
  )

/** The desired cap at user scope, on a service with layered caps. */
export function userCap(model: PolicyModel, email: string, people: Belonging, now: number): Verdict {
  if (isPooled(model, email, people)) return 'open'
  const byRule = model.users.has(email) ? undefined : ruleCap(model, email, people)
  if (byRule === 'open') return 'open'
  const base = model.users.get(email) ?? byRule
  const own = grantAt(model, USER(email), base ?? (() => widerBase(model, people.groupsOf(email))), now) ?? base
  if (typeof own === 'number') return own
  const caps = people.groupsOf(email).flatMap((id) => groupCap(model, id, now) ?? [])
  return new Set(caps).size < 2 ? own : chosen(model, caps)
}

/** Applies the conflict rule to caps that differ. */
function chosen({ onGroupConflict }: PolicyModel, caps: readonly ModelCap[]): number | 'conflict' {
  if (!onGroupConflict) return 'conflict'
  const numbers = caps.filter((cap) => cap !== 'none')
  return onGroupConflict === 'min' ? Math.min(...numbers) : Math.max(...numbers)
}

/** The cap that a grant adds to for a person without one of their own: that of their groups, else the team's, both without grants. */
function widerBase(model: PolicyModel, ids: readonly string[]): Verdict {
  const caps = [...new Set(ids.flatMap((id) => model.groups.get(id)?.cap ?? []))]
  if (caps.length > 1) return chosen(model, caps)
  return typeof caps[0] === 'number' ? caps[0] : model.team
}

/** The cap that a person should have in force: user before groups before the team. */
export function personCap(model: PolicyModel, email: string, people: Belonging, now: number): Verdict {
  const own = userCap(model, email, people, now)
  if (own === 'conflict' || own === 'open' || typeof own === 'number') return own
  const caps = people.groupsOf(email).flatMap((id) => groupCap(model, id, now) ?? [])
  const numbers = caps.filter((cap) => cap !== 'none')
  if (numbers.length > 0) return Math.min(...numbers)
  const team = teamCap(model, now)
  return team ?? (own === 'none' || caps.length > 0 ? 'none' : undefined)
}

/** Every scope with a desired cap. */
export function askedScopes(model: PolicyModel, people: Belonging, now: number): ReadonlyMap<ScopeKey, Verdict> {
  const asked = new Map<ScopeKey, Verdict>()
  const team = teamCap(model, now)
  if (team !== undefined) asked.set(TEAM, team)
  for (const id of model.groups.keys()) asked.set(GROUP(id), groupCap(model, id, now))
  for (const email of people.approved) {
    const cap = userCap(model, email, people, now)
    if (cap !== undefined) asked.set(USER(email), cap)
  }
  return asked
}
