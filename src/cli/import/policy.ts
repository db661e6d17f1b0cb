// The caps in force as a policy, and the notes at the top of its file.
import type { Cap, CapRule, PolicySet } from '../../core/model/policy.ts'
import { groupScope, type Scope, scopeKey, TEAM, userScope } from '../../core/model/scope.ts'
import { type Adopted, adopt, type LiveGroup } from '../../core/resolve/adopt.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { count } from '../shared/text.ts'
import type { NamedGroup } from './command.ts'
import type { Live } from './live.ts'

/** The caps to declare. */
export const adoptLive = (live: Live, groups: readonly NamedGroup[]): Adopted =>
  adopt({
    team: live.capOf(TEAM) ?? 'none',
    groups: groups.map(({ id, name }): LiveGroup => ({ id, name, cap: live.capOf(groupScope(id)) ?? 'none', emails: live.emails(id) })),
    people: live.people.flatMap((email) => ({ email, cap: live.capOf(userScope(email)) ?? 'none' })),
  })

/** The policy set of a workspace that declares them. */
export function policyOf(workspace: string, { team, groups, named, people }: Adopted): PolicySet {
  const at = { file: 'import', line: 1, column: 1 }
  const rule = (scope: Scope, cap: Cap): readonly CapRule[] => (cap === 'none' ? [] : [{ scope, cap, at, document: workspace }])
  return {
    workspace,
    rules: [
      ...rule(TEAM, team),
      ...groups.flatMap(({ id, cap }) => rule(groupScope(id), cap)),
      ...people.flatMap(({ email, cap }) => rule(userScope(email), cap)),
    ],
    groups: [...groups, ...named].map(({ id, name }) => ({ scope: groupScope(id), name, at })),
    grants: [],
    protectedPeople: [],
    peopleRules: [],
    pools: [],
    approvals: [],
    documents: [workspace],
  }
}

/** Lines for the top of the file: what a reader must know a month later. */
export function notesOf(config: Pick<WorkspaceConfig, 'baseUrl'>, adopted: Adopted, live: Live): readonly string[] {
  const lines = [`Imported by capkeeper from ${config.baseUrl}.`]
  if (adopted.left > 0) lines.push(`${count(adopted.left, 'cap')} equal to the wider one ${adopted.left === 1 ? 'is' : 'are'} left out.`)
  if (live.unread.length > 0) lines.push(`NOT COMPLETE: ${count(live.unread.length, 'cap')} could not be read:`)
  lines.push(...live.unread.map(({ scope }) => `  ${scopeKey(scope)}`))
  return lines
}
