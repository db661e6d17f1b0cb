// Another client ("somebody else"): an administrator who edits caps by hand, so that a demonstration shows drift and its revert. The seed
// decides which of the user and group caps is edited, or which approved person gets one when there are none.
import { type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import type { Clock } from '../../ports.ts'
import type { CapBook } from '../caps.ts'
import type { Store } from '../store.ts'
import { between, type Draw, stream } from './random.ts'

export interface ForeignWriterOptions {
  readonly everySeconds: number
  /** Takes a line such as `somebody else set ada.lovelace@example.com to 9000`. */
  readonly say: (line: string) => void
  readonly leaveAlone?: LeftAlone
}

/** Scopes whose cap is never edited. */
type LeftAlone = ReadonlySet<ScopeKey>

/** Makes one edit and returns its description; undefined when there is nothing to edit. */
export type ForeignEdit = (leaveAlone?: LeftAlone) => string | undefined

export function createForeignEdit(store: Store, caps: CapBook, seed: number): ForeignEdit {
  const draw = stream(seed, 'somebody else')
  return (leaveAlone) => {
    const scope = chooseScope(store, draw, leaveAlone)
    if (!scope) return undefined
    const before = store.cap(scope)
    const clears = before !== undefined && draw() < 0.2
    const cap = clears ? undefined : chooseCap(before, draw)
    caps.write(scope, cap)
    return cap === undefined ? `somebody else cleared ${scopeKey(scope)}` : `somebody else set ${scopeKey(scope)} to ${cap}`
  }
}

function chooseScope(store: Store, draw: Draw, leaveAlone?: LeftAlone): Scope | undefined {
  const capped = store.caps().flatMap(({ scope }) => (scope.kind === 'team' || leaveAlone?.has(scopeKey(scope)) ? [] : [scope]))
  const people = (): readonly Scope[] => store.people().flatMap((one) => (one.status === 'APPROVED' ? [userScope(one.email)] : []))
  const scopes = capped.length > 0 ? capped : people()
  return scopes[between(draw, 0, scopes.length - 1)]
}

/** Never the present cap. */
function chooseCap(before: number | undefined, draw: Draw): number {
  const cap = between(draw, 1, 18) * 500
  return cap === before ? cap + 500 : cap
}

/** Makes edits at intervals until `signal` aborts; waits on the real clock, not the sped-up one. */
export async function keepEditing(
  edit: ForeignEdit,
  clock: Clock,
  { everySeconds, say, leaveAlone }: ForeignWriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(everySeconds * 1000, signal).catch(() => undefined)
    const line = signal.aborted ? undefined : edit(leaveAlone)
    if (line !== undefined) say(line)
  }
}
