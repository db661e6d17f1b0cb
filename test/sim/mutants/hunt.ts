// Runs one seed after the other until an invariant is violated, and prints the finding as one line of JSON. `main.ts` starts it with a
// planted bug, or without one. Seeds that caught the bug before come first, then the seeds with most of what the bug needs.
import { parseArgs } from 'node:util'
import { drawScenario, type FaultKind, type Scenario } from '../lives/scenario.ts'
import { runSeed } from '../run.ts'
import type { Trait } from './file-plants.ts'

// Thousands of simulated failures a day: their stacks are never used, and take a twentieth of the time.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    days: { type: 'string', default: '2' },
    needs: { type: 'string', default: '' },
    first: { type: 'string', default: '' },
  },
})
const [count, days] = [Number(values.seeds), Number(values.days)]
const needs = new Set(values.needs.split(',').filter((kind) => kind !== ''))

/** A bug that needs one of these cannot show in lives without it. */
const TRAITS: Readonly<Record<Trait, (scenario: Scenario) => boolean>> = {
  copied: ({ capSemantics, switches }) => capSemantics === 'copied' && switches.capSemantics === 'fan-out',
  'zero-lost': ({ capSemantics, switches }) =>
    capSemantics === 'layered' && switches.capSemantics !== 'fan-out' && switches.zeroCap === 'omitted',
  alert: ({ onDrift }) => onDrift === 'alert',
  pools: ({ pools }) => pools,
  slow: ({ isSlow }) => isSlow,
  rules: ({ rules, pools }) => rules && !pools,
  envelope: ({ envelope }) => envelope !== undefined,
  directory: ({ directory }) => directory,
  notify: ({ notify }) => notify !== undefined,
  inherited: ({ capSemantics, switches }) =>
    capSemantics === 'layered' && switches.capSemantics !== 'fan-out' && switches.capReads === 'inherited',
  counted: ({ capSemantics, switches, guards, pools }) =>
    capSemantics === 'layered' && switches.capSemantics !== 'fan-out' && guards.maxAffected !== 'off' && !pools,
}

function likeliness(seed: number): number {
  const scenario = drawScenario(seed, days)
  if (Object.entries(TRAITS).some(([trait, has]) => needs.has(trait) && !has(scenario))) return -1
  const { events, faults } = scenario
  const hours = faults.filter(({ kind }) => needs.has(kind)).map(({ fromMs, untilMs, rate }) => (rate * (untilMs - fromMs)) / 3_600_000)
  const met = events.filter(({ kind, atMs }) => needs.has(kind) && !isCutOff(atMs, faults))
  const found = needs.size === 0 ? 1 : met.length + hours.reduce((sum, one) => sum + one, 0)
  // Short lives come before somewhat likelier ones.
  return found / (HEAD + (scenario.people + scenario.groups) / scenario.intervalMs)
}

/** Where most requests fail, events have little effect. */
const isCutOff = (atMs: number, faults: Scenario['faults']): boolean =>
  faults.some(({ kind, fromMs, untilMs, rate }) => CUTTING.has(kind) && rate >= 0.5 && fromMs <= atMs && atMs < untilMs)

const CUTTING: ReadonlySet<FaultKind> = new Set([
  'drop-before',
  'drop-after',
  'server-error',
  'html',
  'key-refused',
  'empty-body',
  'truncated',
  'disk-full',
])

/** The cost of a life beside its sweeps, as scopes read a millisecond. */
const HEAD = 10 / 900_000

const seeds = Array.from({ length: count }, (_, index) => index + 1)
const likely = new Map(seeds.map((seed) => [seed, likeliness(seed)]))
const known = values.first.split(',').flatMap((seed) => (seed === '' ? [] : [Number(seed)]))
for (const seed of [...known, ...seeds.toSorted((a, b) => (likely.get(b) ?? 0) - (likely.get(a) ?? 0))]) {
  const [first] = (await runSeed({ seed, days })).violations
  if (!first) continue
  const { invariant, message, atMs } = first
  console.log(JSON.stringify({ seed, invariant, message, day: Math.floor(atMs / 86_400_000) + 1 }))
  break
}
console.log(JSON.stringify('over'))
