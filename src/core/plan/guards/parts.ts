// Guards judge platform's changes first, then those of each envelope beside them: a share that an envelope's changes exceed holds only these, and no
// envelope's changes count for another's (docs/delegation.md).
import type { Settled } from '../../model/policy.ts'
import { byScope, compareScopes, type ScopeKey, scopeKey } from '../../model/scope.ts'
import type { Difference } from '../diff.ts'
import { impactOf } from '../impact.ts'
import { judge } from './judge.ts'
import type { GuardInputs, Judgement } from './round.ts'

/** Judges a plan's differences, part by part where some are of envelopes. Where caps are copied, a wide write and all others are one. */
export function judgeParts(inputs: GuardInputs, settled: Settled | undefined): Judgement {
  const names = new Map(inputs.differences.map((one) => [one.key, envelopeOf(one, settled)]))
  const envelopes = [...new Set([...names.values()].flatMap((name) => name ?? []))].sort()
  if (envelopes.length === 0 || inputs.impact.capSemantics === 'copied') return judge(inputs)
  const ofPlatform = judge(partOf(inputs, ({ key }) => names.get(key) === undefined))
  // They are counted with each envelope, and held by none.
  const going = new Set([...names].flatMap(([key, name]) => (name === undefined && !ofPlatform.heldBy.has(key) ? [key] : [])))
  const parts = envelopes.map((name) =>
    judge(partOf({ ...inputs, released: inputs.released.union(going) }, ({ key }) => going.has(key) || names.get(key) === name)),
  )
  return joined([ofPlatform, ...parts])
}

/** A clear that another write reveals is one step with that write. */
function envelopeOf({ key, revealedBy }: Difference, settled: Settled | undefined): string | undefined {
  const own = revealedBy ? scopeKey(revealedBy) : key
  return settled && Object.hasOwn(settled.envelopeOf, own) ? settled.envelopeOf[own] : undefined
}

function partOf(inputs: GuardInputs, test: (one: Difference) => boolean): GuardInputs {
  const differences = inputs.differences.filter(test)
  const { unreleased } = inputs
  const part = { ...inputs, differences, whole: impactOf(byScope(differences), inputs.impact) }
  if (!unreleased) return part
  const before = unreleased.differences.filter(test)
  return { ...part, unreleased: { ...unreleased, differences: before, whole: impactOf(byScope(before), unreleased.impact) } }
}

function joined(parts: readonly Judgement[]): Judgement {
  const warnings = new Map(parts.flatMap((part) => part.warnings.map((one) => [`${one.guard} ${one.message}`, one])))
  const holds = parts.flatMap((part) => part.holds)
  return {
    holds: holds.toSorted((a, b) => (a.changes[0] && b.changes[0] ? compareScopes(a.changes[0].scope, b.changes[0].scope) : 0)),
    heldBy: new Map<ScopeKey, string>(parts.flatMap((part) => [...part.heldBy])),
    warnings: [...warnings.values()],
  }
}
