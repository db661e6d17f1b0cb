import { expect, test } from 'vitest'
import { fakeClock } from '../../support/clock.ts'
import { serve } from '../../support/serve.ts'

/** A page that takes this long to make; `ask` gets it, and it begins with how often it was made. `waits`: until so many have asked. */
async function page({ makeMs = 0, bytes = 1, waits = 0, fails = 0 }) {
  const clock = fakeClock()
  const all = Promise.withResolvers<void>()
  let [made, asked] = [0, 0]
  async function* ledger(): AsyncGenerator<string> {
    made += 1
    if (made <= fails) throw new Error('the ledger is away')
    if (waits > 0) await all.promise
    await clock.advance(makeMs)
    yield String(made).padEnd(bytes)
  }
  const ledgerGate = () => {
    asked += 1
    if (asked === waits) all.resolve()
    return undefined
  }
  const { url } = await serve({ clock, ledger, ledgerGate })
  const ask = async () => {
    const answer = await fetch(`${url}/ledger`)
    return answer.ok ? (await answer.text()).slice(0, 1) : String(answer.status)
  }
  return { clock, ask }
}

test('a page is made once for all requests that come while it is made', async () => {
  const { ask } = await page({ waits: 50 })
  expect(new Set(await Promise.all(Array.from({ length: 50 }, ask)))).toEqual(new Set(['1']))
})

test.each([
  ['that costs something is shared four times as long as it took to make', { makeMs: 10 }, 39, '1'],
  ['is made anew after that', { makeMs: 10 }, 40, '2'],
  ['is made anew each time when it costs nothing', {}, 0, '2'],
  ['is shared for a while when it is large, so that few of them are in memory', { bytes: 2_000_000 }, 14_900, '1'],
])('a page %s', async (_, how, waitMs, second) => {
  const { clock, ask } = await page(how)
  const first = await ask()
  await clock.advance(waitMs)
  expect([first, await ask()]).toEqual(['1', second])
})

test('a page that could not be made is tried again', async () => {
  const { ask } = await page({ fails: 1 })
  expect([await ask(), await ask()]).toEqual(['500', '2'])
})

test('a long text lets others go on while it is put together', async () => {
  const clock = fakeClock()
  let [atMs, turns] = [0, 0]
  async function* ledger(): AsyncGenerator<string> {
    for (let piece = 0; piece < 10; piece += 1) {
      atMs += 10
      yield String(piece)
    }
  }
  const sleep: typeof clock.sleep = (ms, signal) => {
    if (ms > 1) return clock.sleep(ms, signal)
    turns += 1
    return Promise.resolve()
  }
  const { url } = await serve({ clock: { ...clock, monotonic: () => atMs, sleep }, ledger })
  expect(await (await fetch(`${url}/ledger`)).text()).toBe('0123456789')
  expect(turns).toBe(5)
})
