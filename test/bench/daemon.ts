// capkeeper's daemon in a process of its own, as `run` starts it, on a clock that can be put forward: so that a cycle is due when the bench
// wants one and not five minutes later. Everything else is what users run. Arguments: the flags of `run`.

import { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { underSignals } from '../../src/api/transport/queue.ts'
import { runCli } from '../../src/cli/program.ts'
import { createSecrets, type World } from '../../src/cli/shared/context.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import type { Clock } from '../../src/ports.ts'
import { type Cost, costOf, serveRemote } from './remote.ts'

/** A cycle as its log line tells it, and what it cost the process. */
export interface CycleCost extends Cost {
  readonly result: string
  readonly totalMs: number
}

let aheadMs = 0
const sleepers = new Set<AbortController>()

const clock: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() + aheadMs,
  async sleep(ms, signal) {
    for (const endAt = clock.monotonic() + ms; clock.monotonic() < endAt; ) {
      const woken = new AbortController()
      sleepers.add(woken)
      // As cheap as the daemon's own: it sleeps with almost every request.
      const asleep = underSignals([signal, woken.signal], (either) => systemClock.sleep(endAt - clock.monotonic(), either))
      await asleep.catch(() => signal?.throwIfAborted())
      sleepers.delete(woken)
    }
  },
}

function putForward(ms: number): void {
  aheadMs += ms
  for (const sleeper of sleepers) sleeper.abort()
}

let finished = Promise.withResolvers<{ readonly result: string; readonly totalMs: number }>()

/** Reads the log, one JSON line at a time, for the end of cycles. */
const stderr = new Writable({
  decodeStrings: false,
  write(text: string | Buffer, _encoding, done) {
    for (const line of String(text).split('\n')) {
      if (line.includes('"cycle ')) finished.resolve(JSON.parse(line))
      else if (process.env['BENCH_LOG']) process.stderr.write(`${line}\n`)
    }
    done()
  },
})

const world: World = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr,
  env: process.env,
  clock,
  secrets: createSecrets(),
  signals: { on: () => () => undefined, exit: (code) => process.exit(code) },
}

/** The cycle that begins when `begin` is called, until its log line. */
async function cycle(begin: () => void): Promise<CycleCost> {
  finished = Promise.withResolvers()
  let line = { result: '', totalMs: 0 }
  const cost = await costOf(async () => {
    begin()
    line = await finished.promise
    // What the loop still has to do once the line is out belongs to the cycle as well.
    await nextTurn()
  })
  return { ...cost, result: line.result, totalMs: line.totalMs }
}

serveRemote({
  /** Starts the daemon, and gives its first cycle. */
  start: () => cycle(() => void runCli(process.argv.slice(2), world)),
  /** Makes the next sweep due. */
  sweep: (ms: number) => cycle(() => putForward(ms)),
})
