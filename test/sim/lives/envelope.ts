// The envelope of some lives: a team decides about the caps of one group and of its members, in a file of its own. In a storm the file says
// also what the envelope refuses, breaks, and bounds change; in a calm time it says only what is inside, so that the model's caps count.

import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import type { EnvelopeSource } from '../../../src/policy/load/delegated.ts'
import { between, type Draw } from '../../../src/sandbox/company/company.ts'
import type { Life } from './life.ts'
import { groupName, type PolicyModel } from './policy-model.ts'
import { oneOf } from './scenario.ts'

/** The group of the envelope, and the one that it has instead while its bounds are changed. */
export const ENVELOPE_GROUPS = ['g0', 'g1'] as const
const [GROUP, OTHER] = ENVELOPE_GROUPS
const GROUP_SCOPE = scopeKey({ kind: 'group', id: GROUP })

/** Caps that no envelope accepts, each for another reason, and that no policy has otherwise. */
export const REFUSED = { beyond: 8888, outside: 3333, narrowed: 777 } as const

/** How the team's file is wrong as a whole. */
export const WRONGS = ['syntax', 'forbidden', 'empty', 'name', 'twice'] as const

/** The team's file and its bounds as they are now. */
export interface TeamState {
  name: string
  wrong: (typeof WRONGS)[number] | undefined
  /** What differs from the bounds of calm times; `gone`: the config has no envelope. */
  bounds: Partial<EnvelopeSource> | 'gone'
}

export const calmTeam = (): TeamState => ({ name: 'team', wrong: undefined, bounds: {} })

export function envelopesOf({ scenario: { envelope }, team: { bounds } }: Life, workspace: string): readonly EnvelopeSource[] {
  if (envelope === undefined || bounds === 'gone') return []
  const usual = { maxCap: 4000, grants: { maxDays: 90, maxAdd: 3000 } }
  const at = { file: 'config.yaml', line: 1, column: 1 }
  return [{ name: 'team', workspace, policies: [envelope], groups: [GROUP], at, ...usual, ...bounds }]
}

/** The team's file with what is wrong with it. */
export function damaged(text: string, wrong: TeamState['wrong']): string {
  if (wrong === 'syntax') return `${text}  team: [`
  if (wrong === 'forbidden') return `${text}  team:\n    cap: 9000\n`
  if (wrong === 'empty') return '# nothing\n'
  if (wrong === 'name') return text.replace('name: of the team', 'name: wide')
  return wrong === 'twice' ? `${text}---\n${text}` : text
}

const scopeOf = (email: string): ScopeKey => scopeKey({ kind: 'user', email })

const capAt = ({ groups, users }: PolicyModel, scope: ScopeKey) => (scope === GROUP_SCOPE ? groups.get(GROUP)?.cap : users.get(scope))

/** Whether the envelope accepts the scope's line, by the true groups. */
const isInside = ({ model, company }: Life, scope: ScopeKey): boolean =>
  typeof capAt(model, scope) === 'number' &&
  (scope === GROUP_SCOPE || (company.groups.get(GROUP)?.has(scope) === true && !model.protectedPeople.has(scope)))

/** The team has no lines for what is not declared; its group is always named. */
export function tidyTeam({ scenario, model, team }: Life): void {
  if (scenario.envelope === undefined) return
  // Without an envelope its files are platform's, or nobody's.
  if (team.bounds === 'gone') model.strays.clear()
  if (!model.groups.has(GROUP)) model.groups.set(GROUP, { name: groupName(GROUP), cap: 1000 })
  for (const scope of model.delegated) if (typeof capAt(model, scope) !== 'number') model.delegated.delete(scope)
}

/** Lines that may stand in the team's file go there or stay with platform. */
export function delegate(life: Life, model: PolicyModel, draw: Draw): void {
  const inside = { ...life, model }
  model.delegated.clear()
  for (const scope of [GROUP_SCOPE, ...[...model.users.keys()].map(scopeOf)])
    if (isInside(inside, scope) && draw() < 0.7) model.delegated.add(scope)
}

/** The team says only what is inside; other lines of it are platform's. */
export function settleTeam(life: Life): void {
  const { model } = life
  life.team = calmTeam()
  model.strays.clear()
  for (const scope of model.delegated) if (!isInside(life, scope)) model.delegated.delete(scope)
}

/** A line of the team is written, changed or removed. */
export function editTeam(life: Life, cap: number, draw: Draw): void {
  const { model, company } = life
  const email = oneOf(draw, [...(company.groups.get(GROUP) ?? [])])
  const scope = email === undefined || draw() < 0.2 ? GROUP_SCOPE : scopeOf(email)
  if (draw() < 0.25 && scope !== GROUP_SCOPE && model.delegated.has(scope)) {
    model.users.delete(scope)
    model.grants = model.grants.filter((one) => one.scope !== scope)
  } else if (scope === GROUP_SCOPE) model.groups.set(GROUP, { name: groupName(GROUP), cap })
  else model.users.set(scope, cap)
  if (isInside(life, scope)) model.delegated.add(scope)
}

/** The team writes lines that are beyond its bounds, or about others. */
export function stray(life: Life, draw: Draw): void {
  const { model, company } = life
  const others = [...company.people.keys()].filter((email) => !company.groups.get(GROUP)?.has(email))
  for (let left = between(draw, 1, 3); left > 0; left -= 1) {
    const roll = draw()
    const inside = oneOf(draw, [...model.delegated])
    if (roll < 0.4 && inside !== undefined) model.strays.set(inside, REFUSED.beyond)
    else if (roll < 0.6) model.strays.set(scopeKey({ kind: 'group', id: OTHER }), REFUSED.outside)
    else model.strays.set(scopeOf(oneOf(draw, others) ?? 'nobody@example.com'), REFUSED.outside)
  }
}
