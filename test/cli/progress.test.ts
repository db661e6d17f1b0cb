// What a terminal shows on stderr while a command reads caps: how far it has come, that it waits for the rate limit, and nothing once it is over.
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { listen } from '../api/world.ts'
import { world } from '../e2e/world.ts'
import { begin } from '../support/inside.ts'
import { hurriedClock, realClock } from '../support/real-clock.ts'

const GONE = '\u001b[2K'
/** From the place where a bar begins. */
const BEGUN = '\u001b7'
const NOTE = 'note: acme: the service refuses requests, because its rate limit is reached; waiting until it takes them, for 5 min at most\n'

/** The address of a service behind which another one stands: it refuses for its rate what `refuses` says. */
async function inFrontOf(target: string, refuses: (path: string, body: string) => boolean, headers = {}): Promise<string> {
  const { url, close } = await listen(async (request, response, body) => {
    if (refuses(request.url ?? '', String(body))) return response.writeHead(429, headers).end('{"error":"rate limit exceeded"}')
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${target}${request.url}`, init)
    return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  onTestFinished(close)
  return url
}

/** `import` on a terminal, of a team, a group and four people; the service refuses the reads of caps that `refuses` names, by number and time. */
async function imported(refuses: (read: number, atMs: number) => boolean, rate = 2) {
  const one = await world({ sandbox: { people: 4, groups: 1 }, settings: { rate: { start: rate, max: rate, concurrency: 1 } } })
  const clock = hurriedClock()
  const startedMs = clock.monotonic()
  let reads = 0
  const url = await inFrontOf(one.service.url, (path) => {
    if (!path.endsWith('/GetUsageConfig')) return false
    reads += 1
    return refuses(reads, clock.monotonic() - startedMs)
  })
  const listeners = process.listenerCount('exit')
  const { stderr, ended } = begin(['import', ...one.flags, '--base-url', url], {}, undefined, clock)
  Object.assign(stderr, { isTTY: true, columns: 80 })
  const ran = await ended
  expect(process.listenerCount('exit')).toBe(listeners)
  return ran
}

test('the bar counts what was read, gives way to what is said, comes back below it, and is gone at the end', async () => {
  let refusedAtMs: number | undefined
  const { code, stderr } = await imported((read, atMs) => {
    if (read < 3) return false
    refusedAtMs ??= atMs
    return atMs - refusedAtMs < 30_000
  })
  const [before = '', after = '', ...more] = stderr.split(NOTE)
  expect([code, more]).toEqual([0, []])
  expect(before).toMatch(/reading caps \[-+\] 0\/5.*reading caps \[=+-+\] 2\/5/)
  expect([before.endsWith(GONE), after.startsWith(BEGUN), after.endsWith(GONE)]).toEqual([true, true, true])
})

test('nothing is said while other requests get through, however long it takes', async () => {
  let lastMs = 0
  const { code, stderr } = await imported((read, atMs) => {
    lastMs = atMs
    return read === 2 || read === 4
  }, 0.2)
  expect([code, stderr.includes('refuses'), lastMs > 20_000]).toEqual([0, false, true])
})

describe('a service that takes no request', () => {
  /** Runs a command with a service that refuses everything like this, from the `from`th write on or from the start. */
  async function refused(words: string, headers: Readonly<Record<string, string>> = {}, from = 0) {
    const one = await world({ policy: 'team: {cap: 500}\nusers: [{email: oncall@example.com, cap: 700}]', sandbox: { people: 9 } })
    const kinds = { asked: 0, writes: 0 }
    const refuses = (path: string): boolean => {
      kinds.asked += 1
      if (path.endsWith('/UsageConfig')) kinds.writes += 1
      return kinds.writes >= from
    }
    const url = await inFrontOf(one.service.url, refuses, headers)
    const ran = await begin([...words.split(' '), ...one.flags, '--base-url', url], {}, undefined, hurriedClock(0.005)).ended
    return { ...ran, ...kinds }
  }

  test.each(['plan', 'import', 'audit', 'report', 'doctor', 'explain team', 'apply --yes'])(
    'ends `%s` after five minutes, and says once that it waits',
    async (words) => {
      const { code, stdout, stderr } = await refused(words)
      expect([code, stdout + stderr]).toEqual([
        1,
        expect.stringContaining('because its rate limit is reached, and a command waits for 5 min at most'),
      ])
      expect(stderr.split(NOTE)).toHaveLength(2)
    },
  )

  test('ends a command at once where it says to wait for longer', async () => {
    const { code, stderr, asked } = await refused('plan', { 'retry-after': '3600' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('a command waits for 5 min at most')])
    expect([stderr.includes('note:'), asked < 9]).toEqual([false, true])
  })

  test('leaves `apply` done in part where something was written before', async () => {
    const { code, stdout, stderr } = await refused('apply --yes', {}, 2)
    expect([code, stdout, stderr]).toEqual([
      4,
      expect.stringContaining('Applied: 1 set'),
      expect.stringContaining('a command waits for 5 min at most'),
    ])
  })
})

test('the bar of collect tells the requests that were made, their rate and the time that is left', async () => {
  const one = await world({ sandbox: { people: 4, groups: 1, days: 40 } })
  const { stderr, ended } = begin(['collect', ...one.flags, '--days', '10'], {}, undefined, hurriedClock())
  Object.assign(stderr, { isTTY: true, columns: 80 })
  expect((await ended).stderr).toMatch(/ranges \[[-=]+\] \d+\/4, \d+ requests, [\d.]+\/s, \d+ m?s left/)
})

test('beside a daemon collect rests for ten minutes once the service refuses a request for its rate', async () => {
  const one = await world({ sandbox: { people: 30, groups: 1, days: 40 }, settings: { rate: { start: 40, max: 40, concurrency: 8 } } })
  const daemon = await openLedger({ file: one.path('ledger.db'), mode: 'write', clock: realClock() })
  onTestFinished(() => daemon.close())
  const clock = hurriedClock(0.001)
  const asked: number[] = []
  const url = await inFrontOf(one.service.url, (_path, body) => body.includes('@example.com') && asked.push(clock.monotonic()) === 3)
  const { code, stderr } = await begin(['collect', ...one.flags, '--days', '10', '--base-url', url], {}, undefined, clock).ended
  const [rest] = asked.flatMap((at, index) => (at - (asked[index - 1] ?? at) > 500_000 ? [index] : []))
  // The one that was refused is asked again; no other was on its way.
  expect([code, stderr.includes('resting for 10 min'), rest]).toEqual([0, true, 4])
})
