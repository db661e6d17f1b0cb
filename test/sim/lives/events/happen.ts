// The effect of each kind of event on a simulated life, and the end of a storm.
import { stream } from '../../../../src/sandbox/company/company.ts'
import { settleTeam } from '../envelope.ts'
import type { Life } from '../life.ts'
import type { SimEvent } from '../scenario.ts'
import { FILES } from './files.ts'
import { OTHERS } from './others.ts'
import { PEOPLE } from './people.ts'
import { POLICIES } from './policies.ts'
import { POOLS } from './pools.ts'
import { PROCESSES } from './processes.ts'
import { TEAMS } from './teams.ts'
import { type Acts, resume } from './tools.ts'

const ACTS: Acts = { ...PEOPLE, ...POLICIES, ...OTHERS, ...POOLS, ...PROCESSES, ...TEAMS, ...FILES }

export function happen(life: Life, event: SimEvent): void {
  life.note(`* ${event.kind}`)
  ACTS[event.kind](life, stream(life.scenario.seed, `event/${event.name}`))
  life.emit({ kind: 'world', what: event.kind })
}

/** Ends faults and changes: one process runs, enforces, and has the right time. */
export function calm(life: Life): void {
  life.note('* calm')
  life.broken = undefined
  settleTeam(life)
  life.peopleFile?.repair(true)
  life.channels.clear()
  life.company.gone.clear()
  life.company.dark.clear()
  life.company.locked.clear()
  life.company.behind.clear()
  life.keyFile.number = life.keysIssued()
  life.configure({})
  life.wallOffsetMs = 0
  life.serviceOffsetMs = 0
  resume(life)
  if (life.process) {
    life.process.doom = undefined
    life.setMode('enforce')
    life.published()
  } else {
    life.setMode('enforce')
    life.start()
  }
  life.emit({ kind: 'calm' })
}
