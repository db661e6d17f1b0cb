// The pace of the real daemon over a reload of its configuration, seen from the service.
import { expect, test } from 'vitest'
import { until } from '../support/process.ts'
import { world } from './world.ts'

const RATE = 1.25
const GAP_MS = 1_000 / RATE
/** What a busy machine may make the first request that counts later by; three reloads that forget the pace save more. */
const UNEVEN_MS = 1_000

test('a reload of the configuration sends no request sooner than the pace allows', async () => {
  const at = await world({ settings: { rate: { start: RATE, max: RATE } } })
  const daemon = await at.daemon()
  const { log } = at.service.calls
  for (const interval of ['310ms', '320ms', '330ms']) {
    const before = log.length
    await until('a request', () => log.length > before)
    const config = JSON.parse(at.read('config.yaml'))
    at.write('config.yaml', JSON.stringify({ ...config, workspaces: [{ ...config.workspaces[0], interval }] }))
    const loaded = (): number => daemon.log().filter(({ msg }) => msg === 'configuration loaded').length
    const count = loaded()
    await until('the reload', () => loaded() > count)
  }
  const soFar = log.length
  await until('two more requests', () => log.length >= soFar + 2)
  // The first request is late by what it loads.
  const calls = log.slice(1)
  const tookMs = (calls.at(-1)?.at ?? 0) - (calls[0]?.at ?? 0)
  expect(tookMs).toBeGreaterThanOrEqual((calls.length - 1) * GAP_MS - UNEVEN_MS)
})
