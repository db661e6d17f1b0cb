// `npm run replicas:check -- [--faults 100] [--seed 1] [--only TEXT] [--replicas 3] [--workspaces 6]`: real daemons on a real PostgreSQL
// under one fault after the other, judged from outside. Prints each fault as it ends and a table; exit code 1 on any violation.
import { parseArgs } from 'node:util'
import { stream } from '../../src/sandbox/company/company.ts'
import { hasPostgres } from '../support/postgres.ts'
import type { FaultKind } from './course.ts'
import { FAULTS } from './faults.ts'
import { canLosePackets } from './network.ts'
import { drawn, type Judged, runFault } from './run.ts'
import { now } from './time.ts'
import { startWorld } from './world.ts'

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    replicas: { type: 'string', default: '3' },
    workspaces: { type: 'string', default: '6' },
    log: { type: 'boolean', default: false },
  },
})

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

function table(judged: readonly Judged[]): string {
  const kinds = [...new Set(judged.map(({ kind }) => kind))].sort()
  const rows = kinds.map((kind) => {
    const of = judged.filter((one) => one.kind === kind)
    const violations = of.reduce((sum, one) => sum + one.violations.length, 0)
    const late = of.reduce((sum, one) => sum + one.late, 0)
    const writes = of.reduce((sum, one) => sum + one.writes, 0)
    const doubted = of.flatMap(({ doubtedMs }) => doubtedMs ?? [])
    const worst = [of.map((one) => one.keptAgainMs), doubted].map((all) => (all.length === 0 ? '' : seconds(Math.max(...all))))
    return [kind, of.length, violations, ...worst, late, writes]
  })
  const heads = ['fault', 'times', 'violations', 'kept again', 'in doubt', 'late', 'writes']
  const all = [heads, ...rows.map((row) => row.map(String))]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '))
    .join('\n')
}

async function main(): Promise<number> {
  if (!hasPostgres) {
    console.error('PostgreSQL is not installed here (Debian: postgresql-15)')
    return 2
  }
  const networks = canLosePackets()
  const lackOf = ({ lacks, needsNetworks }: FaultKind): string | undefined =>
    lacks ?? (needsNetworks && !networks ? 'network namespace with a packet filter, which only root can have' : undefined)
  const kinds = FAULTS.filter(({ name }) => name.includes(values.only ?? ''))
  for (const kind of kinds) {
    const lack = lackOf(kind)
    if (lack !== undefined) console.log(`left out: ${kind.name}; there is no ${lack}`)
  }
  const seed = Number(values.seed)
  const faults = drawn(
    kinds.filter((kind) => lackOf(kind) === undefined),
    seed,
    Number(values.faults),
  )
  const world = await startWorld({ replicas: Number(values.replicas), workspaces: Number(values.workspaces), networks })
  const judged: Judged[] = []
  let isOver = false
  // The fault under way ends first, so that nothing of it remains.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isOver = true
    })
  }
  try {
    for (const [number, kind] of faults.entries()) {
      if (isOver) break
      const startedAt = now()
      const one = await runFault(world, kind, number, stream(seed, `fault/${number}`))
      judged.push(one)
      console.log(
        `${number + 1}/${faults.length} ${kind.name}: kept again after ${seconds(one.keptAgainMs)}${one.late > 0 ? `, ${one.late} late` : ''}`,
      )
      for (const { rule, found } of one.violations) console.log(`  !! ${rule}: ${found}`)
      if (one.violations.length > 0 && values.log)
        for (const { place, log } of world.replicas) console.log(`replica ${place}\n${log(startedAt).join('\n')}`)
    }
  } finally {
    console.log(`\n${table(judged)}`)
    await world.close()
  }
  const violations = judged.reduce((sum, one) => sum + one.violations.length, 0)
  const writes = judged.reduce((sum, one) => sum + one.writes, 0)
  console.log(
    `\n${judged.length} faults, ${writes} writes, ${violations} violations; worst time to be kept again ${seconds(Math.max(0, ...judged.map((one) => one.keptAgainMs)))}`,
  )
  return violations > 0 ? 1 : 0
}

process.exitCode = await main()
