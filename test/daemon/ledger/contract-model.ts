// The contract of every ledger for any actions in any order, checked against plain maps.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ASPECT_VALUES, type Aspect, type AspectValue, type LatestEvidence } from '../../../src/core/interpret/evidence.ts'
import {
  CAUSES,
  CHANGE_RESULTS,
  DEFAULT_GUARDS,
  EFFECTS,
  type HistoryEntry,
  type Intent,
  type Pause,
  type Quarantined,
  type ScopeChange,
} from '../../../src/core/model/change.ts'
import type { OwnedCap, Roster } from '../../../src/core/model/observed.ts'
import {
  type Cap,
  GIVEN_UP,
  ORIGIN_KINDS,
  type PolicyEntry,
  type PolicyRevision,
  type PoolMembers,
  UNDECLARED,
  type When,
} from '../../../src/core/model/policy.ts'
import { groupScope, type Scope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits, MAX_CAP } from '../../../src/core/model/units.ts'
import { openLedger } from '../../../src/daemon/ledger/ledger.ts'
import type { Ledger, LedgerFacts, UsageFacts } from '../../../src/ports.ts'
import { addOnAsked } from '../../support/add-on.ts'
import { dayFigures, histories, journals } from '../../support/journal.ts'
import { realClock } from '../../support/real-clock.ts'
import { asked, useOf, useSteps } from '../../support/use-model.ts'
import { approvals } from './approvals.ts'
import { modelLedger } from './model-ledger.ts'
import { poolStates } from './pool-states.ts'
import { told } from './told-facts.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const instant = fc.integer({ min: 0, max: 50 })
const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.constant(TEAM),
  fc.constantFrom('a', 'grp_"x"', "o'brien; --", 'ß\n').map(groupScope),
  fc.constantFrom('ada@example.com', 'bob@example.com', "o'hara@example.com", '__proto__@example.com').map(userScope),
)
const amount = fc.integer({ min: 0, max: MAX_CAP }).map(credits)
const cap: fc.Arbitrary<Cap> = fc.oneof(fc.constant('none' as const), amount)
const at = fc.record({ file: text, line: fc.nat(), column: fc.nat() })
const what = { scope, action: fc.constantFrom('set' as const, 'clear' as const), effect: fc.constantFrom(...EFFECTS) }
const step = { from: cap, to: cap, cause: fc.constantFrom(...CAUSES) }
const origin = { planId: text, digest: text, revision: text }

const policyEntry: fc.Arbitrary<PolicyEntry> = fc.oneof(
  fc.constantFrom(UNDECLARED, GIVEN_UP),
  fc.record({ kind: fc.constantFrom(...ORIGIN_KINDS, 'kept' as const), cap }),
)

const ownedCap: fc.Arbitrary<OwnedCap> = fc.record(
  {
    scope,
    cap,
    owner: fc.constantFrom('policy', 'grant', 'conflict', 'copied'),
    entry: policyEntry,
    verifiedAt: instant,
    tried: cap,
    baseline: cap,
  },
  { requiredKeys: ['scope', 'cap', 'owner', 'entry', 'verifiedAt'] },
)
const change: fc.Arbitrary<ScopeChange> = fc.record(
  { ...what, ...step, people: fc.nat(), source: at, reason: text, healing: fc.boolean(), grantEnd: fc.boolean() },
  { requiredKeys: ['scope', 'action', 'effect', 'from', 'to', 'cause', 'people', 'healing', 'grantEnd'] },
)
const intent: fc.Arbitrary<Omit<Intent, 'id'>> = fc.record({ at: instant, change, entry: policyEntry, ...origin })
const entry: fc.Arbitrary<HistoryEntry> = fc.record(
  { at: instant, ...what, ...step, result: fc.constantFrom(...CHANGE_RESULTS), reason: text, error: text, source: at, ...origin },
  { requiredKeys: ['at', 'scope', 'action', 'effect', 'from', 'to', 'cause', 'result', 'planId', 'digest', 'revision'] },
)
const approval = approvals({ scope, cap, instant })
const quarantined: fc.Arbitrary<Quarantined> = fc.record({ scope, code: text, message: text, entry: policyEntry, at: instant })
const pause: fc.Arbitrary<Pause> = fc.record({ untilAt: instant, reason: text, pausedAt: instant })

const days = fc.integer({ min: 1, max: 3650 })
const named = <T>(value: fc.Arbitrary<T>) =>
  fc.dictionary(fc.oneof(text, fc.constant('__proto__')), value, { maxKeys: 4, noNullPrototype: true })
const when: fc.Arbitrary<When> = fc.record(
  {
    email: text,
    role: text,
    groups: fc.array(text),
    inactiveDays: days,
    joinedWithinDays: days,
    activeDays: fc.record({ below: days, within: days }),
    attributes: fc.record({ listed: fc.boolean(), columns: named(text) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const members: fc.Arbitrary<PoolMembers> = fc.oneof(
  fc.record({ kind: fc.constant('groups' as const), ids: fc.array(text) }),
  fc.record({ kind: fc.constant('emails' as const), emails: fc.array(text) }),
  fc.record({ kind: fc.constant('when' as const), when }),
)
const policy: fc.Arbitrary<PolicyRevision> = fc.record({
  set: fc.record(
    {
      workspace: text,
      rules: fc.array(fc.record({ scope, cap, reason: text, at, document: text }, { requiredKeys: ['scope', 'cap', 'at', 'document'] })),
      grants: fc.array(
        fc.record(
          {
            scope,
            amount: fc.record({ kind: fc.constantFrom('cap', 'add'), credits: amount }),
            fromAt: instant,
            until: fc.oneof(
              fc.record({ kind: fc.constant('instant' as const), at: instant }),
              fc.record({ kind: fc.constant('cycleEnd' as const) }),
            ),
            reason: text,
            ticket: text,
            at,
            document: text,
          },
          { requiredKeys: ['scope', 'amount', 'until', 'reason', 'at', 'document'] },
        ),
      ),
      groups: fc.array(fc.record({ scope: text.map(groupScope), name: text, at })),
      protectedPeople: fc.array(fc.record({ scope: text.map(userScope), at })),
      approvals: fc.array(fc.record({ id: text, at })),
      onGroupConflict: fc.constantFrom('min' as const, 'max' as const),
      peopleRules: fc.array(
        fc.record({ name: text, when, cap, reason: text, at, document: text }, { requiredKeys: ['name', 'when', 'cap', 'at', 'document'] }),
      ),
      pools: fc.array(
        fc.record(
          { name: text, members, credits: amount, share: fc.constantFrom('need', 'equal'), min: amount, max: amount, at, document: text },
          { requiredKeys: ['name', 'members', 'credits', 'share', 'min', 'at', 'document'] },
        ),
      ),
      documents: fc.array(text),
    },
    { requiredKeys: ['workspace', 'rules', 'grants', 'groups', 'protectedPeople', 'approvals', 'peopleRules', 'pools', 'documents'] },
  ),
  digest: text,
  revision: text,
})

const cycle = fc.record({ startAt: instant, endAt: instant })
const use = fc
  .double({ min: 0, max: 1e9, noNaN: true })
  .filter((one) => !Object.is(one, -0))
  .map(credits)
const roster: fc.Arbitrary<Roster> = fc.record(
  {
    people: fc.array(
      fc.record(
        {
          email: text,
          name: text,
          status: fc.constantFrom('approved', 'pending', 'rejected', 'unspecified'),
          disabled: fc.boolean(),
          used: use,
        },
        { requiredKeys: ['email', 'name', 'status', 'disabled'] },
      ),
    ),
    cycle,
    readAt: instant,
    statusesAbsent: fc.boolean(),
    duplicates: fc.array(text),
  },
  { requiredKeys: ['people', 'readAt', 'statusesAbsent', 'duplicates'] },
)
const usage: fc.Arbitrary<UsageFacts> = fc.record(
  {
    roster,
    groups: fc.array(
      fc.record(
        { id: text, name: text, emails: fc.array(text), used: use, readAt: instant },
        { requiredKeys: ['id', 'name', 'emails', 'readAt'] },
      ),
    ),
    balance: fc.record(
      { creditsPerSeat: use, seats: fc.nat(), addOnAvailable: use, addOnUsed: use, cycle, readAt: instant },
      { requiredKeys: ['creditsPerSeat', 'seats', 'addOnAvailable', 'addOnUsed', 'readAt'] },
    ),
    doubted: fc.record({ roster, since: instant }),
    previousCycle: fc.record({ cycle, used: fc.dictionary(text, use, { noNullPrototype: true }) }),
  },
  { requiredKeys: ['roster', 'groups'] },
)
const finding = <A extends Aspect>(aspect: A): fc.Arbitrary<LatestEvidence<AspectValue<A>>> => {
  const values: readonly AspectValue<A>[] = ASPECT_VALUES[aspect]
  const evidence = { value: fc.constantFrom(...values), at: instant, evidence: text }
  return fc.record({ ...evidence, before: fc.record(evidence) }, { requiredKeys: ['value', 'at', 'evidence'] })
}
const facts: { readonly [K in keyof LedgerFacts]: fc.Arbitrary<LedgerFacts[K]> } = {
  policy,
  envelopes: fc.record({
    ...{ readAt: named(instant), members: named(fc.array(text)), last: named(fc.array(text)), joined: named(instant) },
    ...{ spans: named(fc.record({ fromAt: instant, untilAt: instant })), scopes: named(text) },
  }),
  pace: named(fc.oneof(fc.integer(), text, fc.record({ rate: fc.nat(), limited: fc.boolean() }))),
  usage,
  directory: fc.record(
    {
      digest: text,
      sinceAt: instant,
      next: fc.record(
        { digest: text, since: instant, fell: fc.record({ from: fc.nat(), to: fc.nat() }) },
        { requiredKeys: ['digest', 'since'] },
      ),
      people: named(
        fc.array(
          fc.record(
            { at: instant, values: named(text), was: fc.record({ at: instant, values: named(text) }), goneAt: instant },
            { requiredKeys: ['at'] },
          ),
        ),
      ),
    },
    { requiredKeys: ['digest', 'sinceAt', 'people'] },
  ),
  verifiedDeclared: fc.nat(),
  planBaseline: named(cap),
  planBegunAt: instant,
  conflictsGone: named(fc.nat()),
  conflictGroups: named(fc.array(text)),
  conditions: named(
    fc.record({ conditions: fc.array(text), matched: named(fc.array(text)), turning: named(fc.array(text)), open: fc.array(text) }),
  ),
  pools: named(poolStates({ cap, instant, text, named })),
  seen: fc.record(
    { caps: finding('caps'), reads: finding('reads'), zero: finding('zero'), spelling: finding('spelling'), errors: finding('errors') },
    { requiredKeys: [] },
  ),
  holdsShown: named(
    fc.record(
      { people: fc.nat(), at: instant, roster: fc.nat(), credits: fc.nat(), reviewed: fc.boolean(), goneAt: instant },
      { requiredKeys: ['people', 'at'] },
    ),
  ),
  changesShown: named(fc.record({ from: cap, to: cap, at: instant })),
  rules: fc.record(
    {
      ...{ guards: fc.constant(DEFAULT_GUARDS), protectedEmails: fc.array(text, { maxLength: 3 }), weakenedAt: instant },
      before: fc.array(fc.record({ guards: fc.constant(DEFAULT_GUARDS), protectedEmails: fc.array(text), weakenedAt: instant }), {
        maxLength: 2,
      }),
    },
    { requiredKeys: ['guards', 'protectedEmails'] },
  ),
  unreadSince: named(instant),
  writesLooked: named(fc.array(instant)),
  peopleSalt: text,
  driftSince: named(instant),
  runsAsked: asked,
  addOnAsked,
  history: fc.record({ checkedAt: instant, isFiltered: fc.boolean(), hasCredits: fc.boolean() }),
  forgottenHashes: fc.array(text),
  addOn: fc.record(
    {
      readAt: instant,
      latestDayAt: instant,
      cycles: fc.array(fc.record({ startAt: instant, people: named(use), others: use }), { maxLength: 2 }),
      unassignable: fc.array(text),
    },
    { requiredKeys: ['readAt', 'cycles', 'unassignable'] },
  ),
  told,
  forgotten: fc.array(fc.record({ at: instant, hash: text })),
  burned: fc.record({ team: use, groups: named(use), cycleStartAt: instant }, { requiredKeys: ['team', 'groups'] }),
  breaker: fc.record({
    openedAt: instant,
    retryAt: instant,
    waitMs: fc.nat(),
    failed: fc.nat(),
    planned: fc.nat(),
    cause: text,
    scopes: fc.array(text, { maxLength: 3 }),
    refused: fc.boolean(),
  }),
  contested: named(fc.record({ at: instant, entry: policyEntry, changes: fc.nat() })),
  journal: journals,
  days: dayFigures,
}

/** A call that changes something; the same on both ledgers. */
type Step = (ledger: Ledger) => unknown

function saveFactStep<K extends keyof LedgerFacts>(name: K): fc.Arbitrary<Step> {
  return fc.option(facts[name], { nil: undefined, freq: 4 }).map((value) => (ledger: Ledger) => ledger.saveFact(name, value))
}

const scopeKeys = fc.array(scope.map(scopeKey), { maxLength: 3 })
const action: fc.Arbitrary<Step> = fc.oneof(
  fc.array(ownedCap, { maxLength: 4 }).map(
    (caps): Step =>
      (ledger) =>
        ledger.saveOwned(caps),
  ),
  scopeKeys.map(
    (keys): Step =>
      (ledger) =>
        ledger.releaseOwned(keys),
  ),
  intent.map(
    (one): Step =>
      (ledger) =>
        ledger.recordIntent(one),
  ),
  fc.tuple(fc.nat(), entry, fc.oneof(fc.constantFrom('released' as const, 'kept' as const), ownedCap)).map(
    ([which, line, ownership]): Step =>
      async (ledger) => {
        const open = ledger.openIntents()
        const closed = open[which % Math.max(1, open.length)]
        if (closed) await ledger.recordOutcome(closed, line, ownership)
      },
  ),
  approval.map(
    (one): Step =>
      (ledger) =>
        ledger.saveApproval(one),
  ),
  quarantined.map(
    (one): Step =>
      (ledger) =>
        ledger.saveQuarantined(one),
  ),
  scopeKeys.map(
    (keys): Step =>
      (ledger) =>
        ledger.releaseQuarantined(keys),
  ),
  fc.option(pause, { nil: undefined }).map(
    (one): Step =>
      (ledger) =>
        ledger.savePause(one),
  ),
  useSteps,
  fc.constantFrom(...(Object.keys(facts) as (keyof LedgerFacts)[])).chain(saveFactStep),
)

/** Everything that a ledger can be asked. */
const contents = async (ledger: Ledger) => ({
  owned: ledger.owned(),
  intents: ledger.openIntents(),
  history: await histories(ledger),
  approvals: ledger.approvals(),
  quarantined: ledger.quarantined(),
  lately: ledger.writtenLately(TEAM, 20),
  wide: ledger
    .ancestorWrites(20)
    .map((entry) => JSON.stringify(entry))
    .toSorted(),
  paused: await ledger.pause(25),
  use: await useOf(ledger),
  facts: Object.keys(facts).map((name) => [name, ledger.fact(name as keyof LedgerFacts)]),
})

const URL = 'https://a.example'

/** `place` returns the path or the address of a ledger that does not exist yet. */
export function modelContract(name: string, place: () => string | Promise<string>, numRuns: number): void {
  const steps = fc.array(fc.oneof({ weight: 6, arbitrary: action }, fc.constantFrom('reopen' as const, 'load' as const)), { maxLength: 25 })
  test(`after any actions, closed and opened again at any time, a ledger in ${name} is equal to plain maps`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const file = await place()
        const clock = { ...realClock(), now: () => 60 }
        const open = () => openLedger({ file, mode: 'write', clock })
        const model = modelLedger()
        let store = await open()
        let ledger = await store.workspace('acme', URL)
        try {
          for (const step of all) {
            if (step === 'reopen') {
              await ledger.commit()
              await store.close()
              store = await open()
              ledger = await store.workspace('acme', URL)
            } else if (step === 'load') await ledger.load()
            else {
              expect(await step(ledger)).toEqual(await step(model))
              expect(await contents(ledger)).toEqual(await contents(model))
            }
          }
          await ledger.commit()
          await store.close()
          store = await open()
          expect(await contents(await store.workspace('acme', URL))).toEqual(await contents(model))
          expect((await store.check()).problems).toEqual([])
        } finally {
          await store.close()
        }
      }),
      { numRuns },
    )
  })
}
