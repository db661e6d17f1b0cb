// Pools beside equal static caps of the same sum (G22): companies with skewed demand, readings of use up to three hours stale, writes that
// fail, are lost or land hours later; at each ratio of what is wanted to the credits there are. Simulated: a run is the same every time.
// The constants of the deal were tuned on other seeds.

import { credits } from '../../src/core/model/units.ts'
import { judged, median, percent, publish, type Row } from './bench.ts'
import { companyOf, type Outcome, wantedBy, withPool, withStaticCaps } from './pool-company.ts'

const COMPANIES = Number(process.argv[2] ?? 200)
const FIRST_SEED = 70_000
/** Blocked person-days of pools, at most so much of those of static caps, by demand ÷ credits. */
const BLOCKED: readonly (readonly [number, number])[] = [
  [0.7, 0.15],
  [0.9, 0.15],
  [1, 0.15],
  [1.2, 0.5],
  [1.5, 0.8],
]
const STRANDED = 0.03
const WRITES = 1

const total = (outcomes: readonly Outcome[], what: (outcome: Outcome) => number): number =>
  outcomes.reduce((sum, outcome) => sum + what(outcome), 0)

function rowsOf(ratio: number, blockedAtMost: number): readonly Row[] {
  const pools: Outcome[] = []
  const statics: Outcome[] = []
  for (let index = 0; index < COMPANIES; index += 1) {
    const company = companyOf(FIRST_SEED + index)
    const sum = Math.floor(wantedBy(company) / ratio)
    pools.push(withPool(FIRST_SEED + index, company, { credits: credits(sum), share: 'need', min: credits(0) }))
    statics.push(withStaticCaps(company, sum))
  }
  const [ours, theirs] = [total(pools, (one) => one.blockedDays), total(statics, (one) => one.blockedDays)]
  const stranded = median(pools.map((one) => one.stranded))
  const mostWrites = pools.reduce((most, one) => Math.max(most, one.writesPerMemberDay), 0)
  const violations = total(pools, (one) => one.violations)
  const row = (figure: string, ...rest: [limit: string, measured: string, met: boolean, ratio?: number]): Row =>
    judged('G22', `demand ${ratio}: ${figure}`, ...rest)
  return [
    row(
      'blocked person-days, pool / static',
      `<= ${blockedAtMost} x`,
      `${ours} / ${theirs}`,
      ours <= blockedAtMost * theirs,
      ours / theirs,
    ),
    row('credits left while somebody was blocked, median', `<= ${percent(STRANDED)}`, percent(stranded), stranded <= STRANDED),
    row('writes a member and day, most of all companies', `<= ${WRITES}`, mostWrites.toFixed(2), mostWrites <= WRITES),
    row('half hours with the sum above the credits', '0', String(violations), violations === 0),
  ]
}

publish(
  `Pools, ${COMPANIES} companies a ratio`,
  BLOCKED.flatMap(([ratio, limit]) => rowsOf(ratio, limit)),
)
