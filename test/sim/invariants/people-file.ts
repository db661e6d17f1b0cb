// Caps follow from the people file only as it was read: a new content counts once it has stayed the same for ten minutes, not while it lacks too many
// people or values; who vanishes from it keeps the last values. Where a loss of what was read may make another content count, both are allowed.
import type { LedgerFacts } from '../../../src/core/model/facts.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import type { FileVersion } from '../lives/people-file.ts'
import { isOfFile, type ModelRule } from '../lives/policy-model.ts'
import { invariant, ownedAt, type Step } from '../steps.ts'
import { isDiskFull, isLayered } from './people.ts'
import { intentOf } from './readings.ts'

const UNCHANGED_MS = 600_000
const GONE_MS = 6 * 86_400_000

/** Three readings in a row by one process are surely recorded, and are enough for rules that need two that agree. */
const SURE_READS = 3

/** A content that counts, or may; `emails`: who was on the roster then. */
interface Counted extends FileVersion {
  reads: number
  emails: ReadonlySet<string>
}

/** Of those who had a value, how many have none, and how many of them a guard surely does not allow. */
function lossOf({ units }: FileVersion, before: Counted): { readonly lost: number; readonly most: number } {
  const listed = [...before.emails].filter((email) => before.units.get(email))
  return { lost: listed.filter((email) => !units.get(email)).length, most: listed.length / 5 + 2 }
}

function isOfDoubt(step: Step): boolean {
  const usage = step.kind === 'recorded' && step.method === 'saveFact' && step.values[0] === 'usage' ? step.values[1] : undefined
  return (usage as LedgerFacts['usage'] | undefined)?.doubted !== undefined
}

function createCounted(elapsed: () => number) {
  // Oldest first.
  const counted: Counted[] = []
  let next = { digest: '', sinceMs: 0 }
  const possible = (): readonly Counted[] =>
    counted.slice(
      Math.max(
        0,
        counted.findLastIndex(({ reads }) => reads >= SURE_READS),
      ),
    )
  const read = (version: FileVersion, emails: ReadonlySet<string>): void => {
    if (next.digest !== version.digest) next = { digest: version.digest, sinceMs: elapsed() }
    const last = counted.at(-1)
    if (last?.digest === version.digest) Object.assign(last, { reads: last.reads + 1, ...(last.reads < SURE_READS && { emails }) })
    else {
      const losses = possible().map((one) => lossOf(version, one))
      const mayCount = elapsed() - next.sinceMs >= UNCHANGED_MS && losses.some(({ lost, most }) => lost <= most)
      // One that a guard may keep back counts never surely, however often it is read.
      const reads = losses.every(({ lost }) => lost === 0) ? 1 : Number.NEGATIVE_INFINITY
      if (!last || mayCount) counted.push({ ...version, reads, emails })
    }
  }
  return {
    note(step: Step): void {
      if (step.kind === 'listed' && step.version) read(step.version, new Set(step.emails))
      // The next process may not know what was read, and a jump of the wall clock may have made it older.
      const isJump = step.kind === 'calm' || (step.kind === 'world' && step.what === 'wall-jump')
      if (isJump) next.sinceMs = Number.NEGATIVE_INFINITY
      const last = counted.at(-1)
      if ((isJump || step.kind === 'died' || isDiskFull(step)) && last && last.reads < SURE_READS) last.reads = Math.min(last.reads, 0)
      // While the roster is in doubt the people of the last good one serve, with what the file said of them then.
      if (last && isOfDoubt(step)) last.reads = Math.min(last.reads, 0)
    },
    /** What the file may say of a person, as it counts now; undefined: not listed. */
    unitsOf(email: string): readonly (string | undefined)[] {
      const units: (string | undefined)[] = []
      for (const one of counted.toReversed()) {
        const unit = one.units.get(email)
        if (unit !== undefined) units.push(unit)
        if (unit !== undefined && one.reads >= SURE_READS && one.emails.has(email) && elapsed() < GONE_MS) return units
      }
      return [...units, undefined]
    },
  }
}

export const fileCounts = invariant('caps follow from the people file only while it is whole and has stood', (scene, checker) => {
  if (!scene.scenario.directory || !isLayered(scene)) return () => undefined
  const file = createCounted(scene.elapsed)
  return (step) => {
    file.note(step)
    const intent = step.kind === 'recorded' && step.method === 'recordIntent' ? intentOf(step) : undefined
    if (intent?.change.scope.kind !== 'user') return
    const { scope, from, to, cause } = intent.change
    const { rules, users, grants, pools } = scene.policyNamed(intent.digest) ?? scene.policy()
    const { cap, owner } = ownedAt(scene, scopeKey(scope)) ?? {}
    const units = file.unitsOf(scope.email)
    const mayMatch = ({ unit }: ModelRule): boolean => units.includes(unit)
    const giving = rules.filter((rule) => isOfFile(rule) && rule.cap === to)
    const told = `${scope.email} goes from ${from} to ${to}, and the people file says ${JSON.stringify(units)}`
    if (intent.entry.kind === 'rule' && giving.length > 0 && cap !== to) {
      checker.checked()
      if (!giving.some(mayMatch)) checker.violated(told)
    }
    // The rule that gives the person's present cap still matches, and nothing goes before it.
    const at = rules.findIndex((rule) => rule.unit !== undefined && rule.cap === cap && owner === 'rule')
    const isOther = users.has(scope.email) || pools.length > 0 || grants.some((one) => one.scope === scope.email)
    if (at < 0 || isOther || from !== cap || cause === 'external') return
    checker.checked()
    const isFirst = rules.slice(0, at).every((rule) => isOfFile(rule) && !mayMatch(rule))
    if (isFirst && units.every((unit) => unit === rules[at]?.unit)) checker.violated(told)
  }
})
