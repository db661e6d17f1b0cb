// Envelopes in a cycle: which policy is in force, what is remembered of it, and where that is kept. The decisions are in core/envelopes.
import { settle } from '../../core/envelopes/settle.ts'
import type { UsageFacts } from '../../core/model/facts.ts'
import type { EnvelopeMemory, KeptRevision, PolicyRevision } from '../../core/model/policy.ts'
import type { DesiredInputs } from '../../core/resolve/chain.ts'
import { declaredIn } from '../../core/resolve/desired.ts'
import type { WorkspaceSettings } from '../config/settings.ts'

/** The part of a workspace's state that envelopes decide. */
export interface EnvelopeState {
  /** What is in force: what the files say, with what is accepted of envelopes. */
  policy: PolicyRevision
  /** What the files say. */
  declared: PolicyRevision
  envelopes: EnvelopeMemory | undefined
  /** The ledger has caps of ours and no policy, as one that another process shares: what was accepted before is not known. */
  readonly isBlind: boolean
  /** What the policy in force was made of. */
  settledFrom?: { readonly declared: PolicyRevision; readonly groups: UsageFacts['groups'] | undefined }
}

const NOTHING: ReadonlySet<never> = new Set()

/** A newly read policy, with what was accepted of envelopes before: what is new in them is judged with the next plan. */
export function withAccepted(
  declared: PolicyRevision,
  before: PolicyRevision | undefined,
  memory: EnvelopeMemory | undefined,
): PolicyRevision {
  if (!declared.delegated) return declared
  return settle({ declared, before: before?.set, memory, groups: [], pooled: NOTHING, owned: NOTHING, now: 0, isFrozen: true })
}

/** The last good policy of the ledger, while no set is whole: what teams declare cannot be told either, and stays as it was accepted. */
export function unseen(kept: KeptRevision, { envelopes = [] }: Pick<WorkspaceSettings, 'envelopes'>): PolicyRevision {
  if (envelopes.length === 0) return kept
  const isPlatforms = ({ envelope }: { readonly envelope?: string }): boolean => envelope === undefined
  const { rules, grants } = kept.set
  const bounds = envelopes.map(({ policies: _, ...envelope }) => envelope)
  return {
    ...kept,
    set: { ...kept.set, rules: rules.filter(isPlatforms), grants: grants.filter(isPlatforms) },
    delegated: { envelopes: bounds, files: [], unlisted: envelopes.map(({ name }) => name), refused: [] },
  }
}

/** Puts another policy in force. */
export function declare(state: EnvelopeState, policy: PolicyRevision): void {
  state.policy = withAccepted(policy, state.policy, state.envelopes)
  state.declared = policy
}

/** What is desired under the policy in force. `inputs` has the set of the files. */
export function withEnvelopes(state: EnvelopeState, inputs: DesiredInputs, groups: UsageFacts['groups'] | undefined): DesiredInputs {
  const { declared, envelopes: memory } = state
  if (!declared.delegated && !memory) return { ...inputs, set: state.policy.set }
  const isSettled = state.settledFrom?.declared === declared && state.settledFrom.groups === groups
  if (!isSettled && groups) {
    const pooled =
      declared.set.pools.length === 0 ? NOTHING : new Set([...declaredIn(inputs).pools.members.values()].flatMap((one) => [...one]))
    const { cycle, now, unknownGroups } = inputs
    const owned = new Set(inputs.owned.keys())
    const before = state.policy.set
    state.policy = settle({ declared, before, memory, groups, unknownGroups, pooled, owned, now, cycle })
    state.envelopes = state.policy.settled?.memory
    state.settledFrom = { declared, groups }
  }
  return { ...inputs, set: state.policy.set, prune: inputs.prune && !mayLack(state) }
}

/** Caps that teams declare, and that cannot be told now, seem to be declared no more. */
export function mayLack({ isBlind, declared: { delegated }, policy: { settled } }: EnvelopeState): boolean {
  if (!isBlind || !delegated) return false
  const isBroken = delegated.unlisted.length > 0 || delegated.files.some(({ documents }) => documents === undefined)
  return isBroken || (settled?.refusals.length ?? 0) > 0
}
