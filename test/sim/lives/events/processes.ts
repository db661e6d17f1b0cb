// Events of the process, its clocks, its config and its key.
import { DEFAULT_GUARDS } from '../../../../src/core/model/change.ts'
import { HOUR_MS } from '../../../../src/core/model/units.ts'
import { between, type Draw, pick } from '../../../../src/sandbox/company/company.ts'
import type { Life } from '../life.ts'
import { addShortGrant } from '../policy-edits.ts'
import { MINUTE_MS, NO_SHARES } from '../scenario.ts'
import { type Acts, later, pause, redraw, resume, stir, stormMs, whenWriting } from './tools.ts'

export function doomed(life: Life, draw: Draw, doom: NonNullable<Life['process']>['doom']): void {
  if (!life.process) return
  life.process.doom = doom
  const restart = pick(draw, [1, 5, 60, 1200]) * 1000
  const { process } = life
  if (draw() < 0.8) stir(life, draw)
  const look = (): void => {
    if (process.alive) life.clock.later(MINUTE_MS, look)
    else life.startLater(restart)
  }
  look()
}

export const PROCESSES = {
  kill: (life, draw) => {
    life.process?.kill()
    life.startLater(pick(draw, [1, 5, 60, 1200]) * 1000)
  },
  'kill-at-ledger': (life, draw) =>
    doomed(life, draw, { kind: 'ledger', left: between(draw, 1, 12), when: draw() < 0.5 ? 'before' : 'after' }),
  'kill-at-request': (life, draw) => doomed(life, draw, { kind: 'request', left: between(draw, 1, 40), arrives: draw() < 0.5 }),
  stop: (life, draw) => {
    const after = pick(draw, [1, 60, 600]) * 1000
    void life.process?.stop().then(() => life.startLater(after))
  },
  'second-process': (life, draw) => {
    life.start()
    // A rolling update: the old process ends, the new one tries again.
    if (draw() < 0.5) life.clock.later(MINUTE_MS, () => void life.process?.stop().then(() => life.startLater(1000)))
    life.startLater(between(draw, 1, 30) * 1000)
  },
  'wall-jump': (life, draw) => {
    life.wallOffsetMs = pick(draw, [0, 0, 60_000, -60_000, HOUR_MS, -HOUR_MS, 26 * HOUR_MS, -30 * HOUR_MS, 4 * MINUTE_MS])
  },
  'clock-skew': (life, draw) => {
    life.serviceOffsetMs = pick(draw, [0, 0, 2 * MINUTE_MS, -4 * MINUTE_MS, 10 * MINUTE_MS, -3 * HOUR_MS])
    if (draw() < 0.3) return
    addShortGrant(life, draw)
    life.published()
  },
  pause: (life, draw) => {
    const lengthMs = between(draw, 5, 600) * MINUTE_MS
    if (draw() < 0.3) return pause(life, lengthMs)
    // During a plan.
    redraw(life, draw)
    whenWriting(life, () => pause(life, lengthMs))
  },
  resume,
  // Foreign changes or edits of policies continue meanwhile.
  mode: (life, draw) => {
    life.setMode(pick(draw, ['audit', 'paused', 'enforce']))
    if (draw() < 0.7) stir(life, draw)
  },
  config: (life, draw) => {
    const { rate } = life.scenario
    life.configure({
      intervalMs: pick(draw, [5, 15, 30, 45]) * MINUTE_MS,
      guards: draw() < 0.5 ? DEFAULT_GUARDS : { ...DEFAULT_GUARDS, ...NO_SHARES },
      rate: life.scenario.isSlow ? rate : { start: 5, max: pick(draw, [5, 10, 50]), concurrency: pick(draw, [1, 4, 8]) },
    })
    if (draw() < 0.5) stir(life, draw)
  },
  // The file with the new key is written before the old key is refused, or after.
  'key-rotated': (life, draw) => {
    const take = (): void => {
      life.keyFile.number = life.keysIssued()
    }
    life.issueKey()
    if (draw() < 0.5) take()
    life.refuseOldKeys()
    later(life, between(draw, 1, 1800) * 1000, take)
    if (draw() < 0.5) stir(life, draw)
  },
  'long-pause': (life, draw) => {
    pause(life, between(draw, 10, 30) * HOUR_MS)
    redraw(life, draw)
  },
  // No process runs for hours, while policy and service change.
  absence: (life, draw) => {
    life.process?.kill()
    redraw(life, draw)
    life.startLater(Math.min(between(draw, 2, 14) * HOUR_MS, stormMs(life)))
  },
  sighup: (life) => life.process?.daemon?.hurry(),
} satisfies Partial<Acts>
