// Joins all documents of a workspace to its policy set, and checks them against each other: duplicate scopes, overlapping grants, `add` without a
// base, conflicting settings. The order of the set does not depend on the order of the files.
import { removeGrantLine } from '../core/escape/text.ts'
import type { CapRule, Grant, PolicySet } from '../core/model/policy.ts'
import type { Position, Problem, ProblemCode } from '../core/model/problem.ts'
import { byScope, comparePositions, compareScopes, compareText, type Scope, type ScopeKey, scopeKey, TEAM } from '../core/model/scope.ts'
import { beyondLimit, type Instant } from '../core/model/units.ts'
import type { Times } from './dates.ts'
import type { Part, PolicyDocument } from './parse.ts'
import { checkPeople, undeclaredHint } from './people.ts'
import { repeated } from './tree.ts'
import { type ProblemExtra, problemOn, quoted, type Source } from './yaml.ts'

interface JoinInput {
  readonly workspace: string
  readonly documents: readonly PolicyDocument[]
  /** Documents that may belong to the workspace, too: what seems to be missing may be in them. */
  readonly others?: readonly PolicyDocument[]
  /** Texts by file, for the lines that problems show. */
  readonly sources: ReadonlyMap<string, Source>
  /** Some documents or files could not be read. They may hold what seems to be missing, so nothing is reported as missing. */
  readonly incomplete: boolean
  /** The service copies the caps of team and groups to people. */
  readonly copied?: boolean
  /** The columns of the people file; absent where no config says. */
  readonly columns?: readonly string[]
  /** Grants without `from` begin now, and those that ended before are warned of; absent: they always were, without such a warning. */
  readonly now?: Instant
}

/** `peopleRules`: in the order in which they apply, by the names of the documents, not of the files. */
interface Together extends JoinInput, Pick<PolicyDocument, 'rules' | 'grants' | 'groups' | 'peopleRules' | 'pools'> {
  readonly ruleOf: ReadonlyMap<ScopeKey, CapRule>
  readonly problems: Problem[]
}

/** Joins the documents of a workspace. The set must not be used when a problem is an `error`. */
export function joinDocuments(input: JoinInput): { readonly set: PolicySet; readonly problems: readonly Problem[] } {
  const documents = input.documents.toSorted((a, b) => comparePositions(a.name.at, b.name.at))
  const rules = documents.flatMap((document) => document.rules)
  const together: Together = {
    ...input,
    documents,
    rules,
    grants: documents.flatMap((document) => document.grants),
    groups: documents.flatMap((document) => document.groups),
    ruleOf: byScope(rules.map(({ value }) => value)),
    peopleRules: documents.toSorted((a, b) => compareText(a.name.value, b.name.value)).flatMap((document) => document.peopleRules),
    pools: documents.flatMap((document) => document.pools),
    problems: [],
  }
  checkScopes(together)
  checkConflictRules(together)
  checkOverlaps(together)
  checkBases(together)
  if (!isUnread(input, 'groups')) checkGroups(together)
  checkRulesAndPools(together)
  warnAboutNone(together)
  warnAboutEnded(together)
  warnAboutSize(together)
  return { set: setOf(together), problems: together.problems }
}

function warnAboutSize({ workspace, ruleOf, grants, groups, problems }: Together): void {
  const granted = new Set(grants.map(({ scope }) => scopeKey(scope)).filter((key) => !ruleOf.has(key)))
  const scopes = ruleOf.size + granted.size
  for (const beyond of [beyondLimit('scopes', scopes), beyondLimit('groups', groups.length)]) {
    if (beyond !== undefined) problems.push({ severity: 'warning', code: 'BEYOND_LIMIT', message: `${workspace}: ${beyond}` })
  }
}

const isUnread = (input: JoinInput, part: Part): boolean => input.incomplete || allOf(input).some(({ unread }) => unread.has(part))

/** All documents in which something may be declared for the workspace. */
const allOf = ({ documents, others = [] }: JoinInput): readonly PolicyDocument[] => [...documents, ...others]

function checkRulesAndPools(together: Together): void {
  const { copied = false, columns, ruleOf, peopleRules, pools } = together
  const declared = isUnread(together, 'groups') ? undefined : declaredGroups(together)
  const capOf = (email: string) => ruleOf.get(scopeKey({ kind: 'user', email }))
  checkPeople({ rules: peopleRules, pools, groups: declared, columns, capOf, copied }, (at, code, message, extra) =>
    add(together, at, code, message, extra),
  )
}

function setOf({ workspace, documents, rules, grants, groups, peopleRules, pools }: Together): PolicySet {
  const conflict = documents.find(({ onGroupConflict }) => onGroupConflict)?.onGroupConflict
  return {
    workspace,
    rules: rules.map(({ value }) => value).sort((a, b) => compareScopes(a.scope, b.scope)),
    grants: grants.flatMap(({ value }) => value ?? []).sort(compareGrants),
    groups: onePer(groups, ({ scope }) => scope.id),
    protectedPeople: onePer(
      documents.flatMap((document) => document.protectedPeople),
      ({ scope }) => scope.email,
    ),
    approvals: onePer(
      documents.flatMap((document) => document.approvals),
      ({ id }) => id,
    ),
    onGroupConflict: conflict?.value,
    peopleRules: peopleRules.flatMap(({ value }) => value ?? []),
    pools: pools.flatMap(({ value }) => value ?? []).sort((a, b) => compareText(a.name, b.name)),
    documents: documents.map(({ name }) => name.value).sort(compareText),
  }
}

/** Lists are joined; a repeated item is kept once, at its first place. */
function onePer<T extends { readonly at: Position }>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const kept = new Map<string, T>()
  for (const item of items.toSorted((a, b) => comparePositions(a.at, b.at))) if (!kept.has(keyOf(item))) kept.set(keyOf(item), item)
  return [...kept].sort(([a], [b]) => compareText(a, b)).map(([, item]) => item)
}

const startOf = (grant: Times): number => grant.fromAt ?? Number.NEGATIVE_INFINITY

function compareGrants(a: Timed, b: Timed): number {
  const scopes = compareScopes(a.scope, b.scope)
  if (scopes !== 0) return scopes
  return startOf(a) === startOf(b) ? comparePositions(a.at, b.at) : startOf(a) < startOf(b) ? -1 : 1
}

function add(together: Together, at: Position, code: ProblemCode, message: string, extra: ProblemExtra & { warning?: true } = {}): void {
  const { warning, ...rest } = extra
  together.problems.push(problemOn(together.sources.get(at.file), at, warning ? 'warning' : 'error', code, message, rest))
}

/** A scope in messages. */
export function nameOf(scope: Scope): string {
  return scope.kind === 'team' ? 'the team' : scope.kind === 'group' ? `group ${scope.id}` : scope.email
}

/** A scope must be declared once. A group is identified by its id, also without a cap. */
function checkScopes(together: Together): void {
  const declared = together.documents.flatMap((document) => document.declared).sort((a, b) => comparePositions(a.at, b.at))
  const names = new Map(together.groups.map((group) => [placeKey(group.at), group.name]))
  for (const { one, first } of repeated(declared, ({ value }) => scopeKey(value))) {
    const [here, there] = [names.get(placeKey(one.at)), names.get(placeKey(first.at))]
    const renamed = here !== undefined && there !== undefined && here !== there ? `, as ${quoted(there)} and as ${quoted(here)}` : ''
    const message = `${nameOf(one.value)} is declared twice${renamed}`
    add(together, one.at, 'DUPLICATE_SCOPE', message, { hint: 'keep one of the two', other: first.at })
  }
  checkGroupNames(together)
}

const placeKey = ({ file, line, column }: Position): string => `${file}:${line}:${column}`

function checkGroupNames(together: Together): void {
  const groups = together.groups.toSorted((a, b) => comparePositions(a.at, b.at))
  for (const { one, first } of repeated(groups, ({ name }) => name)) {
    if (one.scope.id === first.scope.id) continue
    const message = `group ${one.scope.id} has the name ${quoted(one.name)}, as group ${first.scope.id} has`
    add(together, one.at, 'DUPLICATE_GROUP_NAME', message, {
      hint: 'give each id the group_name that the service knows it by',
      other: first.at,
    })
  }
}

function checkConflictRules(together: Together): void {
  const settings = together.documents.flatMap(({ onGroupConflict }) => onGroupConflict ?? [])
  const [first, ...others] = settings
  for (const other of others) {
    if (!first || other.value === first.value) continue
    const message = `onGroupConflict is ${other.value} here and ${first.value} in another document of the same workspace`
    add(together, other.at, 'CONFLICT_RULES', message, { hint: 'write it in one document, or the same in all', other: first.at })
  }
}

const LONGEST_CYCLE_MS = 31 * 86_400_000

/**
 * In the order of time, a grant must not begin before all earlier grants on its scope have ended. One without `from` begins now, unless it is
 * over: then it is not known when it began.
 */
function checkOverlaps(together: Together): void {
  const { now } = together
  const isOver = ({ fromAt, until }: Times): boolean =>
    now !== undefined && fromAt === undefined && until.kind === 'instant' && until.at <= now
  const timed = together.grants.flatMap(({ times, scope, at }) =>
    times && !isOver(times) ? [{ scope, at, ...times, fromAt: times.fromAt ?? now }] : [],
  )
  const byScope = Map.groupBy(timed, ({ scope }) => scopeKey(scope))
  for (const grants of byScope.values()) {
    const [first, ...later] = grants.toSorted(compareGrants)
    let latest = first
    for (const grant of later) {
      if (!latest) break
      reportOverlap(together, latest, grant)
      if (endOf(grant) > endOf(latest)) latest = grant
    }
  }
}

/** The end of a `cycleEnd` grant is not known here: only its first instant surely belongs to it. */
const endOf = ({ until, fromAt }: Times): number => (until.kind === 'instant' ? until.at : (fromAt ?? 0) + 1)

type Timed = Times & Pick<Grant, 'scope' | 'at'>

function reportOverlap(together: Together, earlier: Timed, later: Timed): void {
  const start = startOf(later)
  const other = earlier.at
  const name = nameOf(later.scope)
  const hint = 'end the first before the second begins, or join them'
  if (start < endOf(earlier)) {
    add(together, later.at, 'GRANT_OVERLAP', `two grants for ${name} overlap in time`, { hint, other })
  } else if (earlier.until.kind === 'cycleEnd' && start < startOf(earlier) + LONGEST_CYCLE_MS) {
    const message = `two grants for ${name} overlap in time when this one begins before the cycle of the other ends`
    add(together, later.at, 'GRANT_OVERLAP', message, { hint, other, warning: true })
  }
}

/** `add` needs a cap to add to. A missing cap may be in a file that could not be read; `none` is reported all the same. */
function checkBases(together: Together): void {
  for (const { scope, amount } of together.grants) {
    if (amount?.value.kind !== 'add') continue
    const rule = together.ruleOf.get(scopeKey(scope))
    if (rule && rule.cap !== 'none') continue
    const name = nameOf(scope)
    const hint = 'write cap: and the cap while the grant lasts'
    if (rule) add(together, amount.at, 'GRANT_ADD_BASE', `add has nothing to add to: ${name} has the cap none`, { hint, other: rule.at })
    else if (!isUnread(together, 'caps') && !mayHaveCap(together, scope)) {
      add(together, amount.at, 'GRANT_ADD_BASE', `add has nothing to add to: no cap is declared for ${name} or its ancestors`, { hint })
    }
  }
}

const ANCESTORS = { team: [], group: ['team'], user: ['team', 'group'] } as const

/** Whether an ancestor has a cap by an entry or a grant, a rule may give one, or the scope or an ancestor has an entry whose cap could not be read. */
function mayHaveCap(together: Together, scope: Scope): boolean {
  const { ruleOf } = together
  const kinds: readonly Scope['kind'][] = ANCESTORS[scope.kind]
  const all = allOf(together)
  const declared = all.flatMap((document) => document.declared).filter(({ isBare }) => !isBare)
  const grants = all.flatMap((document) => document.grants)
  const rules = scope.kind === 'user' ? all.flatMap(({ peopleRules }) => peopleRules) : []
  return (
    rules.some(({ value }) => value?.cap !== 'none') ||
    declared.some(({ value }) => {
      const rule = ruleOf.get(scopeKey(value))
      return rule ? rule.cap !== 'none' && kinds.includes(value.kind) : kinds.includes(value.kind) || scopeKey(value) === scopeKey(scope)
    }) ||
    grants.some(({ amount, scope: { kind } }) => amount?.value.kind === 'cap' && kinds.includes(kind))
  )
}

const declaredGroups = (together: Together): ReadonlySet<string> =>
  new Set(allOf(together).flatMap(({ declared }) => declared.flatMap(({ value }) => (value.kind === 'group' ? [value.id] : []))))

/** A group must be declared, because its members are listed by its name. */
function checkGroups(together: Together): void {
  const declared = declaredGroups(together)
  for (const { scope, at } of together.grants) {
    if (scope.kind !== 'group' || declared.has(scope.id)) continue
    add(together, at, 'GRANT_GROUP', `group ${scope.id} is not declared in groups`, { hint: undeclaredHint(scope.id, declared) })
  }
}

/** `none` does not mean "no cap" where an ancestor has one. */
function warnAboutNone(together: Together): void {
  const team = together.ruleOf.get(scopeKey(TEAM))
  const teamCap = team && team.cap !== 'none' ? team : undefined
  const groupCap = together.rules.find(({ value }) => value.scope.kind === 'group' && value.cap !== 'none')?.value
  const warn = (at: Position, who: string, ancestor: CapRule | undefined): void => {
    if (!ancestor) return
    const effect = ancestor === teamCap ? `the team's cap of ${ancestor.cap} applies` : 'the cap of a group applies to its members'
    const extra = { hint: 'write a large cap if that is meant', other: ancestor.at, warning: true } as const
    add(together, at, 'NONE_FALLS_BACK', `none does not lift the cap of ${who}: ${effect}`, extra)
  }
  for (const { value: rule } of together.rules) {
    if (rule.cap !== 'none' || rule.scope.kind === 'team') continue
    warn(rule.at, nameOf(rule.scope), teamCap ?? (rule.scope.kind === 'user' ? groupCap : undefined))
  }
  for (const { value: rule } of together.peopleRules) {
    if (rule?.cap === 'none') warn(rule.at, `whom rule ${quoted(rule.name)} matches`, teamCap ?? groupCap)
  }
}

function warnAboutEnded(together: Together): void {
  const { now, grants } = together
  if (now === undefined) return
  const several = Map.groupBy(grants, ({ scope }) => scopeKey(scope))
  for (const { scope, at, times } of grants) {
    if (times?.until.kind !== 'instant' || times.until.at > now) continue
    const from = times.fromAt === undefined ? undefined : new Date(times.fromAt).toISOString()
    const line = removeGrantLine(scopeKey(scope), from, several.get(scopeKey(scope))?.length === 1)
    const ended = new Date(times.until.at).toISOString().replace('.000Z', 'Z')
    add(together, at, 'GRANT_ENDED', `the grant for ${nameOf(scope)} ended at ${ended}`, {
      hint: `it can be removed: ${line}`,
      warning: true,
    })
  }
}

/** The documents that are read together must have different names. */
export const nameTaken = ({ name: { value, at } }: PolicyDocument, source: Source, other: Position): Problem =>
  problemOn(source, at, 'error', 'DUPLICATE_NAME', `the name ${quoted(value)} is taken by another document`, {
    hint: 'give each document its own metadata.name',
    other,
  })
