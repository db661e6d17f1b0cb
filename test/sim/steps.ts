// The steps of the simulation that invariants see: one closed union, and the scene they may read. Nothing in it comes from the code under
// test, except where noted.
import type { CycleEvent, WorkspaceView } from '../../src/core/model/events.ts'
import type { Operation, OwnedCap } from '../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import type { Message } from '../../src/core/notify/due.ts'
import type { NotifySettings } from '../../src/core/notify/settings.ts'
import type { Delivery } from '../../src/core/notify/told.ts'
import type { WorkspaceConfig } from '../../src/daemon/config/settings.ts'
import type { PeopleLabels } from '../../src/daemon/http/labels.ts'
import type { Ledger } from '../../src/ports.ts'
import type { FileVersion } from './lives/people-file.ts'
import { askedScopes, type ModelCap, type PolicyModel } from './lives/policy-model.ts'
import type { ApplyEnd } from './lives/process.ts'
import type { Scenario } from './lives/scenario.ts'
import type { Company } from './world/company.ts'
import type { Disk } from './world/disk.ts'

/** The cap in force of each approved person, by e-mail. */
export type InForce = ReadonlyMap<string, ModelCap>

export type Step =
  | { readonly kind: 'started' | 'died'; readonly process: number }
  /** The client sends a request; `to` for a write. */
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
   * An answer reached the client. For a read of a cap: the cap, or `unknown` when the answer was damaged. For a write: whether it was
   * refused. For the roster: the number of approved people, or `unread` when it was damaged or empty.
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
  /** A durable write to the ledger. */
  | { readonly kind: 'recorded'; readonly process: number; readonly method: keyof Ledger; readonly values: readonly unknown[] }
  /** The code under test emits an event. */
  | { readonly kind: 'told'; readonly process: number; readonly event: CycleEvent }
  /** Another client changed caps. */
  | { readonly kind: 'foreign'; readonly scopes: readonly ScopeKey[] }
  /** People, groups or policies changed. */
  | { readonly kind: 'world'; readonly what: string }
  | { readonly kind: 'approved'; readonly id: string }
  /** `apply` has ended, in a quiet world without a daemon. */
  | { readonly kind: 'applied'; readonly end: ApplyEnd }
  | { readonly kind: 'output'; readonly where: string; readonly text: string }
  /** The program has read the people file, for these people; without a version it could not. */
  | { readonly kind: 'listed'; readonly process: number; readonly version: FileVersion | undefined; readonly emails: readonly string[] }
  /** A message leaves, and its sender learns what became of it. */
  | { readonly kind: 'message'; readonly process: number; readonly message: Message }
  | { readonly kind: 'delivered'; readonly process: number; readonly message: Message; readonly outcome: Delivery['kind'] }
  | { readonly kind: 'forgotten'; readonly email: string }
  /** Faults and changes are over. */
  | { readonly kind: 'calm' }
  /** Long enough after `calm` for all caps to be as desired. */
  | { readonly kind: 'settled' }
  /** A while after `settled` without any change of the world. */
  | { readonly kind: 'quiet' }

/** The state that invariants may read. */
export interface Scene {
  readonly scenario: Scenario
  readonly company: Company
  /** Milliseconds since the start. */
  elapsed(): number
  /** The true time. */
  now(): number
  /** The service's clock minus that of the processes. */
  skewMs(): number
  /** The last valid policy, as the simulation knows it. */
  policy(): PolicyModel
  /** Every valid policy so far. */
  policies(): readonly PolicyModel[]
  /** The policy with this digest of the program. */
  policyNamed(digest: string): PolicyModel | undefined
  /** The cap that the service stores at this scope. */
  stored(scope: ScopeKey): ModelCap
  /** The answer of a read without faults. */
  shows(scope: ScopeKey): ModelCap
  inForce(): InForce
  /** Add-on credits that a person has truly used in the present cycle; only in lives with pools. */
  used(email: string): number
  /** `notify` of the present configuration. */
  notify(): NotifySettings | undefined
  /** How others are told of a person. */
  readonly labels: PeopleLabels
  /** By the present configuration. */
  mode(): WorkspaceConfig['mode']
  /** Every configuration that was in force since then. */
  settingsSince(sinceMs: number): readonly Pick<WorkspaceConfig, 'intervalMs' | 'guards' | 'rate'>[]
  /** Of the running process; from the code under test. */
  view(): WorkspaceView | undefined
  /** The ledger on the disk; absent while neither a daemon nor `apply` runs. */
  ledger(): Disk | undefined
}

/** The ledger's entry of a scope that is ours. */
export const ownedAt = (scene: Scene, key: ScopeKey): OwnedCap | undefined =>
  scene
    .ledger()
    ?.owned()
    .find(({ scope }) => scopeKey(scope) === key)

/** Every scope for which the policy asks a cap now. */
export const askedNow = ({ policy, company, now }: Scene) => askedScopes(policy(), company, now())

/** The scopes that the program shows as managed. */
export const managedScopes = (scene: Scene): ReadonlySet<ScopeKey> =>
  new Set((scene.view()?.scopes ?? []).map(({ scope }) => scopeKey(scope)))

/** Receives the findings of an invariant. */
export interface Checker {
  /** Counts a check. */
  checked(): void
  violated(message: string): void
}

/** A rule for every simulated life; `watch` starts watching one. */
export const invariant = (name: string, watch: (scene: Scene, checker: Checker) => (step: Step) => void) => ({ name, watch })
export type Invariant = ReturnType<typeof invariant>
