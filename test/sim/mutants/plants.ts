// Planted bugs, used one at a time to prove that the simulation can fail: each is a small edit of one file of src/, such as a mistake in a
// hurry. `npm run sim:mutants` applies each and must see an invariant violated.

import type { EventKind } from '../lives/events/kinds.ts'
import type { FaultKind } from '../lives/scenario.ts'

/** Properties that some lives have. */
export type Trait = 'copied' | 'zero-lost' | 'alert' | 'pools' | 'rules' | 'slow' | 'inherited' | 'counted' | 'envelope'

/** One planted bug: `find` occurs exactly once in `file`, and is replaced. */
export interface Plant {
  /** Relative to src/. */
  readonly file: string
  readonly find: string
  readonly replace: string
  /** What makes the bug show: seeds with most of it run first. */
  readonly needs?: readonly (EventKind | FaultKind | Trait)[]
  /** Seeds that caught it: they run first, so that another run is quick. */
  readonly caughtBy?: readonly number[]
}

/** By what is wrong then. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  'the read-back is skipped: the sent cap is believed to be stored': {
    file: 'daemon/cycle/write/writes.ts',
    find: 'const reading = await readBack(change, kind, run)',
    replace: 'const reading: CapReading = { scope: change.scope, observed: change.to, readAt: run.clock.now() }',
    caughtBy: [1],
  },
  'the check before a write is skipped': {
    file: 'daemon/cycle/write/writes.ts',
    find: '      if (skipped) return skipped\n',
    replace: '',
    needs: ['policy-mass', 'race', 'pause'],
    caughtBy: [42],
  },
  'the check before a write accepts any old reading as fresh': {
    file: 'daemon/cycle/write/writes.ts',
    find: 'known?.readMs !== undefined && run.clock.monotonic() - known.readMs < FRESH_MS',
    replace: 'known !== undefined',
    caughtBy: [1],
  },
  'an orphan that another client changed is cleared': {
    file: 'core/plan/diff.ts',
    find: "observed === 'none' || !isOurs(owned, observed)",
    replace: "observed === 'none'",
    caughtBy: [382],
  },
  'the intent is recorded after the write': {
    file: 'daemon/cycle/write/writes.ts',
    find: '      const sent = await send(change, await recordIntent(change, run), run, isPatient)',
    replace: `      await run.client.writeCap(change.scope, change.to, run.cut)
      const sent = await send(change, await recordIntent(change, run), run, isPatient)`,
    caughtBy: [1],
  },
  'a write whose answer was lost is sent again without reading': {
    file: 'daemon/cycle/write/writes.ts',
    find: `const outcome = await beforeDeadline(run, isPatient, (deadline) =>
      run.client.writeCap(change.scope, change.to, run.options.cut, deadline),
    )`,
    replace: `let outcome = await run.client.writeCap(change.scope, change.to, run.options.cut)
    if (outcome.kind === 'ambiguous') outcome = await run.client.writeCap(change.scope, change.to, run.options.cut)`,
    caughtBy: [1],
  },
  'guards count changes instead of people': {
    file: 'core/plan/guards/table.ts',
    find: 'if (counted.size <= allowed && !teamClear) return undefined',
    replace: 'if (new Set(judged.flatMap((one) => one.changes)).size <= allowed && !teamClear) return undefined',
    needs: ['counted', 'policy-squeeze'],
    caughtBy: [693],
  },
  'an unknown reading counts as unset': {
    file: 'core/plan/diff.ts',
    find: "const observedAt = (key: ScopeKey, inputs: DiffInputs): Observed => inputs.readings.get(key)?.observed ?? 'unknown'",
    replace:
      "const observedAt = (key: ScopeKey, inputs: DiffInputs): Observed => { const seen = inputs.readings.get(key)?.observed ?? 'none'; return seen === 'unknown' ? 'none' : seen }",
    caughtBy: [1],
  },
  'a held change is written': {
    file: 'core/plan/dispositions.ts',
    find: 'held(heldBy.get(one.key)) ?? ',
    replace: '',
    caughtBy: [1],
  },

  'a revert is held like an edit': {
    file: 'core/plan/guards/round.ts',
    find: '(healing && HEALING_EXEMPT.has(guard)) ||',
    replace: '',
    needs: ['foreign-mass'],
    caughtBy: [67],
  },
  'protected people are not protected': {
    file: 'core/plan/judgement.ts',
    find: 'protectedEmails, released, tryAnyway, unreleased',
    replace: 'protectedEmails: [], released, tryAnyway, unreleased',
    needs: ['protect'],
    caughtBy: [267],
  },
  'a cap may be written before the one that keeps people from falling on the way': {
    file: 'core/plan/wave.ts',
    find: 'amountOf(cap) >= floor && ',
    replace: '',
    caughtBy: [884],
  },

  'no change waits for a failed write': {
    file: 'daemon/cycle/write/writes.ts',
    find: '!(tried.has(key) && (isThere(key, to) || hasLanded(run, key)))',
    replace: '!tried.has(key)',
    needs: ['handover'],
    caughtBy: [880],
  },
  'a spent approval releases again': {
    file: 'core/plan/approval.ts',
    find: "state: released.every((change) => change.verified) ? 'spent' : 'pending' }",
    replace: "state: 'pending', released: released.map((change) => ({ ...change, verified: false })) }",
    needs: ['policy-squeeze', 'policy-approve'],
    caughtBy: [912],
  },
  'an approval that is listed in policy is new in every cycle': {
    file: 'core/plan/approval.ts',
    find: "for (const id of fresh.policy ?? []) if (!byId.has(id)) add(id, 'policy')",
    replace: "for (const id of fresh.policy ?? []) add(id, 'policy')",
    needs: ['policy-squeeze', 'policy-approve'],
    caughtBy: [33],
  },
  'intents that a crash left open are never closed': {
    file: 'daemon/cycle/write/outcome.ts',
    find: 'for (const intent of ledger.openIntents())',
    replace: 'for (const intent of ledger.openIntents().slice(0, 0))',
    needs: ['kill-at-request', 'kill-at-ledger'],
    caughtBy: [818],
  },
  'an intent that a crash left open counts as applied, whatever cap is stored': {
    file: 'daemon/cycle/write/outcome.ts',
    find: 'conclude(intent, reading, ',
    replace: 'conclude(intent, { ...reading, observed: intent.change.to }, ',
    needs: ['kill-at-request', 'kill-at-ledger'],
    caughtBy: [818],
  },

  'the read-back is not compared': {
    file: 'core/plan/outcome.ts',
    find: "if (observed === to) return 'landed'",
    replace: "return 'landed'",
    caughtBy: [1],
  },

  'one stale reading is enough to forget ownership': {
    file: 'daemon/cycle/record.ts',
    find: 'const ours = kept ?? (mayBeStale(owned, reading, ledger, now) ? owned : stillToLand(owned, writtenLately, desired.slots.model, now))',
    replace: 'const ours = kept && kept.missedAt === undefined ? kept : undefined',
    needs: ['second-thoughts'],
    caughtBy: [44],
  },
  'a scope without a cap is cleared': {
    file: 'core/plan/diff.ts',
    find: 'if (observed === desired.cap || isInherited) {',
    replace: "if ((observed === desired.cap && desired.cap !== 'none') || isInherited) {",
    caughtBy: [837],
  },
  'a broken file prunes its declarations': {
    file: 'daemon/cycle/state.ts',
    find: '=> prune && state.policyValid',
    replace: '=> prune || state.policyValid',
    needs: ['policy-broken'],
    caughtBy: [693],
  },
  'a pause is not checked before each write': {
    file: 'daemon/cycle/write/writes.ts',
    find: "return (await run.isPaused()) ? 'paused' : undefined",
    replace: 'return undefined',
    needs: ['pause'],
    caughtBy: [409],
  },
  'requests go out twice as fast as the learned pace': {
    file: 'core/pace/pacing.ts',
    find: 'const gapMs = 1000 / pace.rate',
    replace: 'const gapMs = 500 / pace.rate',
    needs: ['slow'],
    caughtBy: [293],
  },
  'error texts of the service are shown unredacted': {
    file: 'api/errors.ts',
    find: 'const known = redact(text.slice(0, MAX_ERROR_TEXT))',
    replace: 'const known = text.slice(0, MAX_ERROR_TEXT)',
    needs: ['key-echoed'],
    caughtBy: [697],
  },
  'a grant continues after its end': {
    file: 'core/resolve/grants.ts',
    find: "if (window.kind === 'instant' && now >= window.untilAt) return 'ended'",
    replace: '',
    needs: ['grant', 'clock-skew'],
    caughtBy: [64],
  },
  'grants start and end on a clock that is wrong': {
    file: 'daemon/cycle/state.ts',
    find: 'Math.abs(client.clockSkewMs() ?? 0) > SKEW_LIMIT_MS',
    replace: 'Math.abs(client.clockSkewMs() ?? 0) < 0',
    needs: ['clock-skew'],
    caughtBy: [64],
  },
  'a smaller roster is believed at once': {
    file: 'core/resolve/roster.ts',
    find: 'if (fellPercent <= limitPercent) return { roster: fresh }',
    replace: 'if (fellPercent <= 100) return { roster: fresh }',
    needs: ['exodus'],
    caughtBy: [526],
  },
  'people who are not approved are managed like others': {
    file: 'core/resolve/roster.ts',
    find: 'if (person) return isApproved(person, roster) ? undefined',
    replace: 'if (person) return isApproved(person, roster) || roster ? undefined',
    needs: ['status', 'exodus'],
    caughtBy: [179],
  },
  'a sweep leaves out the last scope': {
    file: 'daemon/cycle/read.ts',
    find: '[...ancestors, ...apart(people)]',
    replace: '[...ancestors, ...apart(people.slice(0, Math.max(1, people.length - 1)))]',
    caughtBy: [526],
  },
  'the write lock is not taken': {
    file: 'daemon/ledger/sqlite/file.ts',
    find: 'lock = isKeeper ? takeLock(path) : undefined',
    replace: 'lock = undefined',
    needs: ['second-process'],
    caughtBy: [587],
  },
  'a person’s cap that is in sync is written': {
    file: 'core/plan/diff.ts',
    find: 'if (observed === desired.cap || isInherited) {',
    replace: "if ((observed === desired.cap && desired.scope.kind !== 'user') || isInherited) {",
    caughtBy: [267],
  },
  'an approval also releases changes of other holds': {
    file: 'core/plan/approval.ts',
    find: 'const released = hold.changes.map((change) =>',
    replace: 'const released = holds.flatMap((one) => one.changes).map((change) =>',
    needs: ['counted', 'two-holds'],
    caughtBy: [864],
  },
  'a wave takes every ready change, also those that depend on a failed or held one': {
    file: 'core/plan/wave.ts',
    find: 'const blocker = findBlocker(change, admitted)',
    replace: 'const blocker = undefined',
    needs: ['handover'],
    caughtBy: [358],
  },
  'a cap that may only be inherited is not set before its ancestor is lowered below it': {
    file: 'core/plan/plan.ts',
    find: ', ...pins(result, slots, membership, given.poolReviews)',
    replace: '',
    needs: ['inherited', 'as-is'],
    caughtBy: [145],
  },
  'scopes that a team or group write may have changed are not read again': {
    file: 'daemon/cycle/passes.ts',
    find: 'await readMoved(wrote.ancestors, cycle)',
    replace: 'await readMoved([], cycle)',
    needs: ['copied', 'policy-mass', 'policy-edit'],
    caughtBy: [302],
  },
  'the cap that a lost 0 had replaced is not restored': {
    file: 'core/plan/states.ts',
    find: 'return left.restore === undefined ? [] : restored(one, left.restore)',
    replace: 'return []',
    needs: ['zero-lost', 'zero'],
    caughtBy: [183],
  },
  'a failed write is tried again in every pass': {
    file: 'core/plan/dispositions.ts',
    find: 'return failure?.to === to ? ',
    replace: 'return failure === to ? ',
    needs: ['server-error', 'drop-before', 'lands-late', 'policy-mass'],
    caughtBy: [10],
  },
  'a foreign change is reverted with onDrift: alert': {
    file: 'daemon/cycle/run.ts',
    find: "if (config.onDrift !== 'alert' || confirm) return {}",
    replace: 'if (!confirm || confirm) return {}',
    needs: ['alert', 'foreign-write', 'foreign-mass'],
    caughtBy: [134],
  },
  'no change waits for a group whose members could not be listed': {
    file: 'core/plan/wave.ts',
    find: 'if (unlisted.size === 0) return (people) => people',
    replace: 'if (unlisted.size >= 0) return (people) => people',
    needs: ['group-dark'],
    caughtBy: [221],
  },
  'the rest of a lowered cap is dealt before use under it can have shown': {
    file: 'core/pools/observe.ts',
    find: 'at > dataAt || (!isListed',
    replace: '(at > dataAt && at < 0) || (!isListed',
    needs: ['pools', 'work', 'pool-edit'],
    caughtBy: [347],
  },
  'raises of a deal are written while its lowered caps still count': {
    file: 'core/pools/figures.ts',
    find: 'Math.max(standingCount(member), greatest(member.lowered.map(({ cap }) => amountOf(cap))) - member.base)',
    replace: 'standingCount(member)',
    caughtBy: [791],
    needs: ['pools', 'work', 'pool-edit'],
  },
  'an open raise of a deal is written while the sum is above the credits': {
    file: 'core/pools/deal.ts',
    find: 'inForce >= member.dealt || !isAbove(state, credits)) return',
    replace: 'inForce >= member.dealt || credits > 0) return',
    needs: ['pools', 'pool-turn'],
    caughtBy: [145],
  },
  'a member who leaves a pool takes the credits along': {
    file: 'core/pools/observe.ts',
    find: 'return member.left ? member : leave(member, now)',
    replace: 'return member.left ? member : { ...withoutRole(member), left: { at: now, settled: true }, use: credits(0) }',
    needs: ['pools', 'pool-turn'],
    caughtBy: [105],
  },
  'the own cap of a protected member is raised past the credits': {
    file: 'core/pools/deal.ts',
    find: 'return more > credits - fullSum(state)',
    replace: 'return more < 0',
    needs: ['pools', 'pool-turn'],
    caughtBy: [563],
  },
  'one reading is enough for a rule to change caps': {
    file: 'core/resolve/matches.ts',
    find: 'match === past.settled || match === past.turning',
    replace: 'match !== undefined',
    needs: ['rules', 'role'],
    caughtBy: [88],
  },
  'what an envelope refuses counts': {
    file: 'core/envelopes/forms.ts',
    find: '(isRefused || why.length > 0 || held?.has(',
    replace: '(isRefused || held?.has(',
    needs: ['envelope', 'team-stray'],
    caughtBy: [174],
  },
  'a file of a team that breaks takes its caps along': {
    file: 'core/envelopes/forms.ts',
    find: 'const kept = documentsOf(before, (one) => broken.has',
    replace: 'const kept = documentsOf(undefined, (one) => broken.has',
    needs: ['envelope', 'team-broken'],
    caughtBy: [73],
  },
  'a narrowed bound lowers at once': {
    file: 'core/plan/guards/table.ts',
    find: 'keys.length > 0 && now - since < REVIEW_MS ?',
    replace: 'keys.length > 0 && now - since < 0 ?',
    needs: ['envelope', 'team-bounds'],
    caughtBy: [199],
  },
  'a restart forgets what was accepted of a team': {
    file: 'daemon/cycle/envelopes.ts',
    find: 'before: before?.set, memory, groups: []',
    replace: 'before: undefined, memory, groups: []',
    needs: ['envelope', 'team-broken', 'team-edit'],
    caughtBy: [86],
  },
  'a team decides about people of no group of its own': {
    file: 'core/envelopes/bounds.ts',
    find: 'if (lists.includes(undefined)) return undefined',
    replace: 'if (lists.length > 0) return undefined',
    needs: ['envelope', 'team-stray'],
    caughtBy: [174],
  },
  'a reading that fails ends the cycle': {
    file: 'daemon/cycle/read.ts',
    find: 'const last = before && (',
    replace: "if (reading.failure && before) throw new TypeError('there is no cap')\n  const last = before && (",
    caughtBy: [267],
  },
  'a sweep reads each scope twice': {
    file: 'daemon/cycle/read.ts',
    find: 'Iterator.from([...ancestors, ...apart(people)])',
    replace: 'Iterator.from([...ancestors, ...ancestors, ...apart(people)])',
    caughtBy: [267],
  },
  'an apply that is held ends with the code of a failure': {
    file: 'cli/apply/run.ts',
    find: '  held: EXIT.held,',
    replace: '  held: EXIT.failed,',
    caughtBy: [526],
  },
}
