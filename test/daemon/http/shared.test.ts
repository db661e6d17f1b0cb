import { describe, expect, test } from 'vitest'
import { gathered, sharePage } from '../../../src/daemon/http/server.ts'
import { fakeClock } from '../../support/clock.ts'

describe('a page that is shared', () => {
  /** A page that takes this long to make, and counts how often it was. */
  function page(makeMs: number, bytes = 1) {
    const clock = fakeClock()
    const made = { times: 0 }
    const shared = sharePage(clock, async () => {
      made.times += 1
      await clock.advance(makeMs)
      return String(made.times).padEnd(bytes)
    })
    return { clock, made, shared }
  }

  test('is made once for all requests that come while it is made', async () => {
    const { made, shared } = page(100)
    const pages = await Promise.all(Array.from({ length: 200 }, () => shared()))
    expect(made.times).toBe(1)
    expect(new Set(pages).size).toBe(1)
  })

  test('is shared four times as long as it took to make', async () => {
    const { clock, made, shared } = page(100)
    await shared()
    await clock.advance(399)
    await shared()
    expect(made.times).toBe(1)
    await clock.advance(1)
    expect(String(await shared())).toBe('2')
  })

  test('is made anew each time when it costs nothing', async () => {
    const { made, shared } = page(0)
    for (const _ of [1, 2, 3]) await shared()
    expect(made.times).toBe(3)
  })

  test('is shared for a while when it is large, so that few of them are in memory', async () => {
    const { clock, made, shared } = page(1, 2_000_000)
    await shared()
    await clock.advance(14_900)
    await shared()
    expect(made.times).toBe(1)
  })

  test('that could not be made is tried again', async () => {
    const failures = [new Error('the ledger is away')]
    const shared = sharePage(fakeClock(), async () => {
      const failure = failures.pop()
      if (failure) throw failure
      return 'there'
    })
    await expect(shared()).rejects.toThrow('away')
    expect(String(await shared())).toBe('there')
  })
})

test('a long text lets others go on while it is put together', async () => {
  const turns: number[] = []
  let atMs = 0
  async function* pieces(): AsyncGenerator<string> {
    for (let piece = 0; piece < 10; piece += 1) {
      atMs += 10
      yield String(piece)
    }
  }
  const sleep = async (ms: number): Promise<void> => void turns.push(ms)
  expect(String(await gathered(pieces(), { monotonic: () => atMs, sleep }))).toBe('0123456789')
  expect(turns).toHaveLength(5)
})
