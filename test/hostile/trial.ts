// Attacks on one daemon at the same time, and what they did: whether the daemon ended, how long /livez and a foreign change waited at worst, and its memory.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { realClock } from '../support/real-clock.ts'
import type { Order } from './attacker.ts'
import { atEnd, CAP, type Daemon, pause, type Service, watchLife } from './world.ts'

export interface Outcome {
  /** Why it ended; undefined: it did not. */
  readonly ended: string | undefined
  readonly livezMs: number
  readonly healedMs: number
  readonly peakMiB: number
  /** Bytes of answers that the attacker read. */
  readonly bytes: number
}

interface Trial {
  /** Their names. */
  readonly attacks: readonly string[]
  readonly on: Daemon
  readonly good: Service
  readonly attacker: Attacker
  readonly share: number
  readonly forMs: number
}

const clock = realClock()
const HEAL_MS = 60_000
const LOOK_MS = 10

export interface Attacker {
  run(order: Order): Promise<number>
}

/** Starts the process that attacks. */
export function startAttacker(): Attacker {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), { execArgv: ['--no-warnings'] })
  atEnd(() => child.kill('SIGKILL'))
  return {
    run: (order) =>
      new Promise((resolve, reject) => {
        child.once('message', (answer: { readonly bytes?: number; readonly error?: string }) =>
          answer.bytes === undefined ? reject(new Error(answer.error)) : resolve(answer.bytes),
        )
        child.send(order)
      }),
  }
}

export async function tried({ attacks, on, good, attacker, share, forMs }: Trial): Promise<Outcome> {
  const watch = watchLife(on)
  const over = attacker.run({ names: attacks, url: on.url, share, forMs })
  await pause(Math.min(500, forMs / 4))
  const healedMs = await healed(on, good)
  const bytes = await over
  const livezMs = await watch.stop()
  const ended = on.ended()
  return { ended, livezMs, healedMs, bytes, peakMiB: ended === undefined ? on.peakMiB() : Number.NaN }
}

/** How long a foreign change stays. */
async function healed(on: Daemon, good: Service): Promise<number> {
  const beganMs = clock.monotonic()
  good.cap = 9
  while (good.cap !== CAP) {
    if (on.ended() !== undefined || clock.monotonic() - beganMs > HEAL_MS) return Number.POSITIVE_INFINITY
    await pause(LOOK_MS)
  }
  return clock.monotonic() - beganMs
}
