// The past of people with real processes (G28): `collect` killed with SIGKILL at 100 requests and started again each time, the size of a ledger
// in PostgreSQL, and an edit of the policies beside a daemon that collects. A number as its argument is how often `collect` is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { asked, kept, partsOf, run, type Service, service, sorted } from '../support/collecting.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { realClock } from '../support/real-clock.ts'
import type { SandboxFixture } from '../support/sandbox.ts'
import { atMost, exactly, median, publish, type Row, seconds, told } from './bench.ts'
import { build, MAIN } from './built.ts'
import { configOf, type Folder, openFolder, policyText } from './world.ts'

const kills = Number(process.argv[2] ?? 100)
const DAYS = 60
const EDITS = 10
const LATENCY_MS = 20
const RATE = 10
const clock = realClock()

const started = (argv: readonly string[], folder: Folder): ChildProcess =>
  spawn(process.execPath, [MAIN, ...argv], { cwd: folder.path, stdio: 'ignore' })

const ended = (child: ChildProcess): Promise<number | null> => new Promise((done) => child.once('exit', (code) => done(code)))

const placeOf = ({ url }: SandboxFixture) => ({ url, key: 'sandbox-admin' })

/** A cap that no guard holds: nobody is near it. */
const policyOf = (email: string, cap: number): string => policyText('bench', { users: [{ email, cap }] })

const HIGH = 900_000

const someone = ({ roster }: Service): string => {
  const [first] = roster.people
  if (!first) throw new Error('nobody is there')
  return first.email
}

/** Resolves once the service has answered so many more requests, or the process has ended. */
async function served(one: SandboxFixture, more: number, child: ChildProcess): Promise<void> {
  const wanted = one.calls.count() + more
  while (one.calls.count() < wanted && child.exitCode === null) await clock.sleep(1)
}

/** Days as the ledger has them beside those that the service tells. */
async function wrongDays(file: string, one: Service): Promise<number> {
  const store = await openLedger({ file, mode: 'read', clock })
  const ledger = await store.workspace('bench', one.fixture.url)
  const [found, truth] = [sorted(await kept(ledger, one)), sorted(one.truth)]
  await store.close()
  const known = new Map(found)
  return truth.filter(([place, cents]) => known.get(place) !== cents).length + found.filter(([place]) => !one.truth.has(place)).length
}

async function killedRows(): Promise<readonly Row[]> {
  const folder = openFolder()
  const one = await service({ people: 200, groups: 2, days: DAYS + 10, clock }, { clock, wantedFor: DAYS })
  const config = configOf(placeOf(one.fixture), folder, policyOf(someone(one), HIGH))
  const argv = ['collect', '--config', config, '--days', String(DAYS)]
  one.fixture.calls.clear()
  let killed = 0
  for (; killed < kills; killed += 1) {
    const child = started(argv, folder)
    const end = ended(child)
    // The first requests of each run are about the team: a run gets beyond them, and ends at another place each time.
    await served(one.fixture, 3 + (killed % 11), child)
    if (child.exitCode !== null) break
    await clock.sleep(killed % 7)
    child.kill('SIGKILL')
    await end
  }
  const code = await ended(started(argv, folder))
  const whole = asked(one).length
  const wrong = await wrongDays(join(folder.path, 'capkeeper.db'), one)
  await one.fixture.close()
  return [
    exactly('G28', `exit code of the run after ${killed} killed with SIGKILL`, code ?? -1, 0),
    exactly('G28', 'days that are wrong after it', wrong, 0),
    told('G28', 'requests about people of all runs, and people', `${whole}, 200`),
  ]
}

async function postgresRows(): Promise<readonly Row[]> {
  if (!hasPostgres) return [told('G28', 'bytes a person-day in PostgreSQL', 'not measured: PostgreSQL is not installed')]
  const people = 300
  const server = await startPostgres()
  const one = await service({ people, groups: 8, days: 190, clock }, { clock, wantedFor: 180 })
  const address = await server.create()
  const name = new URL(address).pathname.slice(1)
  const store = await openLedger({ file: address, mode: 'write', clock, env: {} })
  const size = async (): Promise<number> => Number((await server.sql(name, SIZE))[0]?.['size'])
  const ledger = await store.workspace('bench', one.fixture.url)
  const before = await size()
  await run(one, partsOf(one, ledger), { concurrency: 8 })
  const bytes = ((await size()) - before) / (people * 180)
  await store.close()
  await server.remove()
  await one.fixture.close()
  return [atMost('G28', 'bytes a person-day in PostgreSQL, indexes included, of 60', bytes.toFixed(1), bytes / 60, 1)]
}

const SIZE = `SELECT sum(pg_total_relation_size(c.oid)) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'capkeeper' AND c.relname IN ('person', 'person_use', 'known_days')`

/** Seconds from each edit of the file to the first request that sets its cap. */
async function editTimes(history: 'off' | '180d'): Promise<readonly number[]> {
  const folder = openFolder()
  const one = await service({ people: 300, groups: 2, days: 190, clock, latency: LATENCY_MS }, { clock })
  const { fixture } = one
  const email = someone(one)
  const rate = { start: RATE, max: RATE, concurrency: 8 }
  const config = configOf(placeOf(fixture), folder, policyOf(email, HIGH), { history, rate })
  const child = started(['run', '--config', config], folder)
  const end = ended(child)
  const capOf = (): number | undefined => fixture.capOf(email)
  while (capOf() !== HIGH) await clock.sleep(10)
  const times: number[] = []
  for (let edit = 1; edit <= EDITS; edit += 1) {
    await clock.sleep(2_000)
    const began = performance.now()
    folder.write('policy.yaml', policyOf(email, HIGH + edit))
    while (capOf() !== HIGH + edit) await clock.sleep(1)
    times.push((performance.now() - began) / 1000)
  }
  child.kill('SIGTERM')
  await end
  await fixture.close()
  return times
}

async function editRows(): Promise<readonly Row[]> {
  const [collecting, resting] = [await editTimes('180d'), await editTimes('off')]
  const most = 1 + (2 * LATENCY_MS) / 1000
  return [
    atMost(
      'G28',
      `seconds from an edit to the cap, beside collecting at ${RATE}/s: the longest of ${EDITS}`,
      seconds(Math.max(...collecting) * 1000),
      Math.max(...collecting) / most,
      1,
    ),
    told('G28', 'the same: median, and without collecting', `${median(collecting).toFixed(2)}, ${median(resting).toFixed(2)}`),
  ]
}

build()
publish('The past of people, with real processes', [...(await killedRows()), ...(await postgresRows()), ...(await editRows())])
process.exit(0)
