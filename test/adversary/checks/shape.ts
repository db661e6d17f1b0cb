// The JSON of plan and apply, field by field, as in docs/commands.md.
import { at, type Json, listAt, textAt } from '../json.ts'
import type { Cap } from '../model.ts'
import type { World } from '../world.ts'

export interface Change {
  readonly scope: string
  readonly from: Cap
  readonly to: Cap
  readonly hold: string
  readonly released: string
  readonly waitsFor: string
}

export interface Hold {
  readonly id: string
  readonly guards: readonly string[]
  readonly changes: readonly string[]
  readonly message: string
}

const capOf = (value: Json | undefined): Cap => (typeof value === 'number' ? value : 'none')
export const keyOf = (change: { readonly scope: string; readonly to: Cap }): string => `${change.scope} → ${change.to}`

function scopeText(scope: Json | undefined): string {
  const kind = textAt(scope, 'kind')
  return kind === 'group' ? `group:${textAt(scope, 'id')}` : kind === 'user' ? textAt(scope, 'email') : kind
}

const told = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** The changes of a plan, in its order. */
export function changesOf(plan: Json | undefined): readonly Change[] {
  return listAt(plan, 'changes').map((change) => ({
    scope: scopeText(at(change, 'scope')),
    from: capOf(at(change, 'from')),
    to: capOf(at(change, 'to')),
    hold: told(at(change, 'hold')),
    released: told(at(change, 'released')),
    waitsFor: told(at(change, 'waitsFor')),
  }))
}

export function holdsOf(plan: Json | undefined): readonly Hold[] {
  return listAt(plan, 'holds').map((hold) => ({
    id: textAt(hold, 'id'),
    guards: listAt(hold, 'guards').map(told),
    changes: listAt(hold, 'changes').map((c) => keyOf({ scope: scopeText(at(c, 'scope')), to: capOf(at(c, 'to')) })),
    message: textAt(hold, 'message'),
  }))
}

const rule = '--output json of plan and apply is as docs/commands.md writes it'

/** What the parts of the document say of each other; scenes have every field. */
export function checkShape(world: World, plan: Json | undefined, command: string): void {
  const told = new Set<string>()
  const wrong = (found: string): void => {
    const what = found.replaceAll(/[0-9a-f]{12,}|\S+@\S+|group:\S+/g, '…')
    if (told.has(what)) return
    told.add(what)
    world.breach(`${rule}: ${what}`, `${command}: ${found}`)
  }
  if (plan === undefined) {
    wrong('no JSON')
    return
  }
  if (!/^[0-9a-f]{16}$/.test(textAt(plan, 'id'))) wrong(`plan id ${textAt(plan, 'id')} is not 16 hex digits`)
  for (const change of listAt(plan, 'changes')) checkChange(change, wrong)
  const held = new Set(holdsOf(plan).map(({ id }) => id))
  for (const change of changesOf(plan))
    if (change.hold !== '' && !held.has(change.hold)) wrong(`${change.scope} is held by ${change.hold}, which is no hold of the plan`)
  for (const hold of holdsOf(plan)) {
    if (!/^[0-9a-f]{32}$/.test(hold.id)) wrong(`hold id ${hold.id} is not 32 hex digits`)
    const own = new Set(
      changesOf(plan)
        .filter((change) => change.hold === hold.id)
        .map(keyOf),
    )
    if (own.size !== hold.changes.length || hold.changes.some((key) => !own.has(key)))
      wrong(`the changes of hold ${hold.id} are not those that name it`)
  }
}

function checkChange(change: Json, wrong: (found: string) => void): void {
  const name = scopeText(at(change, 'scope'))
  if ((textAt(change, 'action') === 'clear') !== (capOf(at(change, 'to')) === 'none')) wrong(`action and to of ${name} do not agree`)
  const source = at(change, 'source')
  const placed = textAt(source, 'file') !== '' && typeof at(source, 'line') === 'number' && typeof at(source, 'column') === 'number'
  // A scope that is no longer declared has no place in a policy.
  if (!placed && source !== null) wrong(`source of ${name}`)
}
