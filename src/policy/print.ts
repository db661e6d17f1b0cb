// Prints a policy set as YAML that parses back to the same set. Positions and document names are not part of it.
import { Document, isCollection, isMap, isScalar } from 'yaml'
import type { CapRule, Grant, PolicySet, Pool, When } from '../core/model/policy.ts'
import type { Scope, ScopeKey } from '../core/model/scope.ts'
import type { Instant } from '../core/model/units.ts'
import { API_VERSION, POLICY_KIND } from './bounds.ts'

interface PrintOptions {
  /** `metadata.name`; default: the workspace. */
  readonly name?: string
  /** Writes `spec.workspace`; default true. */
  readonly workspace?: boolean
  /** Comments above the caps of team and groups: lines by scope. */
  readonly notes?: ReadonlyMap<ScopeKey, readonly string[]>
}

/** One policy document, ending with a line end. Instants are written in RFC 3339, in UTC. */
export function printPolicy(set: PolicySet, options: PrintOptions = {}): string {
  const team = set.rules.find(({ scope }) => scope.kind === 'team')
  const spec = {
    workspace: options.workspace === false ? undefined : set.workspace,
    onGroupConflict: set.onGroupConflict,
    team: team && capOf(team),
    groups: some(groupsOf(set)),
    users: some(usersOf(set)),
    grants: some(set.grants.map(grantOf)),
    rules: some(set.peopleRules.map(({ name, when, ...rest }) => ({ name, when: whenOf(when), ...capOf(rest) }))),
    pools: some(set.pools.map(poolOf)),
    protected: some(set.protectedPeople.map(({ scope }) => scope.email)),
    approvals: some(set.approvals.map(({ id }) => id)),
  }
  const document = { apiVersion: API_VERSION, kind: POLICY_KIND, metadata: { name: options.name ?? set.workspace }, spec }
  const yaml = new Document(document)
  for (const [key, lines] of options.notes ?? []) comment(yaml, key, lines.map((line) => ` ${line}`).join('\n'))
  return `# yaml-language-server: $schema=./cap-policy.schema.json\n${yaml.toString({ lineWidth: 0 })}`
}

/** Puts a comment above `team:` or above the entry of a group. */
function comment(yaml: Document, key: ScopeKey, text: string): void {
  const spec = yaml.get('spec')
  if (!isMap(spec)) return
  for (const pair of spec.items) {
    if (isScalar(pair.key) && pair.key.value === 'team' && key === 'team') pair.key.commentBefore = text
    if (!isScalar(pair.key) || pair.key.value !== 'groups' || !isCollection(pair.value)) continue
    for (const item of pair.value.items) {
      if (isMap(item) && key === `group:${item.get('id')}`) item.commentBefore = text
    }
  }
}

/** What has no value is not written. */
const some = <T>(values: readonly T[]) => (values.length > 0 ? values : undefined)

const capOf = ({ cap, reason }: Pick<CapRule, 'cap' | 'reason'>) => ({ cap, allowZero: cap === 0 || undefined, reason })

function groupsOf({ groups, rules }: PolicySet) {
  return groups.map(({ scope, name }) => {
    const rule = rules.find((one) => one.scope.kind === 'group' && one.scope.id === scope.id)
    return { id: scope.id, name, ...(rule && capOf(rule)) }
  })
}

const usersOf = ({ rules }: PolicySet) =>
  rules.flatMap((rule) => (rule.scope.kind === 'user' ? [{ email: rule.scope.email, ...capOf(rule) }] : []))

function grantOf({ scope, amount, fromAt, until, reason, ticket }: Grant) {
  return {
    ...subjectOf(scope),
    [amount.kind]: amount.credits,
    allowZero: (amount.kind === 'cap' && amount.credits === 0) || undefined,
    from: fromAt === undefined ? undefined : timeOf(fromAt),
    until: until.kind === 'cycleEnd' ? 'cycleEnd' : timeOf(until.at),
    reason,
    ticket,
  }
}

function poolOf({ name, members, credits, share, min, max }: Pool) {
  const who =
    members.kind === 'groups'
      ? { groups: members.ids }
      : members.kind === 'emails'
        ? { emails: members.emails }
        : { when: whenOf(members.when) }
  return { name, members: who, credits, share, min: min === 0 ? undefined : min, max }
}

const whenOf = ({ attributes, ...when }: When) =>
  attributes ? { ...when, attributes: { listed: attributes.listed, ...attributes.columns } } : when

const subjectOf = (scope: Scope) =>
  scope.kind === 'team' ? { team: true } : scope.kind === 'group' ? { group: scope.id } : { user: scope.email }

const timeOf = (at: Instant): string => new Date(at).toISOString().replace('.000Z', 'Z')
