// What happens in the simulation, as the invariants see it: one closed union of steps, and the scene they may look at. Nothing in it comes
// from the code under test but what is marked so.
import type { CycleEvent, WorkspaceView } from '../../src/core/model/events.ts'
import type { OwnedCap } from '../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import type { WorkspaceConfig } from '../../src/daemon/config/settings.ts'
import type { Ledger, Operation } from '../../src/ports.ts'
import type { ModelCap, PolicyModel } from './lives/policy-model.ts'
import type { ApplyEnd } from './lives/process.ts'
import type { Scenario } from './lives/scenario.ts'
import type { Company } from './world/company.ts'
import type { Disk } from './world/disk.ts'

/** The cap in force by e-mail of everybody approved. */
export type InForce = ReadonlyMap<string, ModelCap>

export type Step =
  | { readonly kind: 'started' | 'died'; readonly process: number }
  /** The client sends something; `to` for a write. */
  | {
      readonly kind: 'request'
      readonly process: number
      readonly operation: Operation
      readonly scope?: ScopeKey
      readonly to?: ModelCap
    }
  /** A write took effect at the service. `late`: long after its sender gave up or died. */
  | {
      readonly kind: 'landed'
      readonly process: number
      readonly scope: ScopeKey
      readonly from: ModelCap
      readonly to: ModelCap
      readonly late: boolean
      readonly before: InForce
      readonly after: InForce
    }
  /**
   * An answer reached the client. For a read of a cap: what it says, `unknown` when it was spoiled. For a write: whether it was turned
   * down. For the roster: how many approved people are on it, `unread` when it was spoiled or lists nobody.
   */
  | {
      readonly kind: 'answered'
      readonly process: number
      readonly operation: Operation
      readonly scope?: ScopeKey
      readonly observed?: ModelCap | 'unknown'
      readonly refused?: boolean
      readonly approved?: number | 'unread'
    }
  /** Something was written to the ledger, durably. */
  | { readonly kind: 'recorded'; readonly process: number; readonly method: keyof Ledger; readonly values: readonly unknown[] }
  /** The code under test tells what it does. */
  | { readonly kind: 'told'; readonly process: number; readonly event: CycleEvent }
  /** Somebody else changed caps. */
  | { readonly kind: 'foreign'; readonly scopes: readonly ScopeKey[] }
  /** People, groups or policies changed. */
  | { readonly kind: 'world'; readonly what: string }
  | { readonly kind: 'approved'; readonly id: string }
  /** `apply` has ended, in a quiet world and where no daemon runs. */
  | { readonly kind: 'applied'; readonly end: ApplyEnd }
  | { readonly kind: 'output'; readonly where: string; readonly text: string }
  /** Faults and changes are over. */
  | { readonly kind: 'calm' }
  /** Long enough after `calm` for everything to be as asked. */
  | { readonly kind: 'settled' }
  /** A while after `settled` in which nothing happened in the world. */
  | { readonly kind: 'quiet' }

/** What invariants may look at. */
export interface Scene {
  readonly scenario: Scenario
  readonly company: Company
  /** Milliseconds since the start. */
  elapsed(): number
  /** The true time. */
  now(): number
  /** The service's clock minus that of the processes. */
  skewMs(): number
  /** The last policy that was whole, as the simulation knows it. */
  policy(): PolicyModel
  /** Every policy so far that was whole. */
  policies(): readonly PolicyModel[]
  /** The one that the program calls by this digest. */
  policyNamed(digest: string): PolicyModel | undefined
  /** What the service has at this very scope. */
  stored(scope: ScopeKey): ModelCap
  /** What a faultless read shows. */
  shows(scope: ScopeKey): ModelCap
  inForce(): InForce
  /** Add-on credits that somebody has really used in the present cycle; kept in lives with pools. */
  used(email: string): number
  /** As the configuration has it now. */
  mode(): WorkspaceConfig['mode']
  /** Every configuration that was in force at some time since then. */
  settingsSince(sinceMs: number): readonly Pick<WorkspaceConfig, 'intervalMs' | 'guards' | 'rate'>[]
  /** Of the process that runs; told by the code under test. */
  view(): WorkspaceView | undefined
  /** The ledger as it is on the disk; absent while no process runs. */
  ledger(): Disk | undefined
}

/** What the ledger says of a scope that is ours. */
export const ownedAt = (scene: Scene, key: ScopeKey): OwnedCap | undefined =>
  scene
    .ledger()
    ?.owned()
    .find(({ scope }) => scopeKey(scope) === key)

/** The scopes that the program says it manages. */
export const managedScopes = (scene: Scene): ReadonlySet<ScopeKey> =>
  new Set((scene.view()?.scopes ?? []).map(({ scope }) => scopeKey(scope)))

/** Takes what an invariant finds. */
export interface Checker {
  /** Counts a check that was made. */
  checked(): void
  violated(message: string): void
}

export interface Invariant {
  readonly name: string
  /** Starts watching one simulated life. */
  watch(scene: Scene, checker: Checker): (step: Step) => void
}
