// What a terminal shows on stderr while a command reads caps: how far it has come, that it waits for the rate limit, and nothing once it is over.
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../api/world.ts'
import { world } from '../e2e/world.ts'
import { begin } from '../support/inside.ts'
import { hurriedClock } from '../support/real-clock.ts'

const GONE = '\u001b[2K'
/** From the place where a bar begins. */
const BEGUN = '\u001b7'
const NOTE = 'note: acme: the service refuses requests, because its rate limit is reached; waiting until it takes them, for 5 min at most\n'

/** `import` on a terminal, of a team, a group and four people; the service refuses the reads of caps that `refuses` names, by number and time. */
async function imported(refuses: (read: number, atMs: number) => boolean, rate = 2) {
  const one = await world({ sandbox: { people: 4, groups: 1 }, settings: { rate: { start: rate, max: rate, concurrency: 1 } } })
  const clock = hurriedClock()
  const startedMs = clock.monotonic()
  let reads = 0
  const { url, close } = await listen(async (request, response, body) => {
    const isRead = request.url?.endsWith('/GetUsageConfig') === true
    if (isRead) reads += 1
    if (isRead && refuses(reads, clock.monotonic() - startedMs)) return response.writeHead(429).end('{}')
    const answer = await fetch(`${one.service.url}${request.url}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  onTestFinished(close)
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
    const { url, close } = await listen(async (request, response, body) => {
      kinds.asked += 1
      if (request.url?.endsWith('/UsageConfig')) kinds.writes += 1
      if (kinds.writes >= from) return response.writeHead(429, headers).end('{"error":"rate limit exceeded"}')
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const answer = await fetch(`${one.service.url}${request.url}`, init)
      return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    onTestFinished(close)
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
