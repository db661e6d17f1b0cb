// History is kept 400 days (docs/configuration.md), as a clock says that had time to be put right.
import { expect, test } from 'vitest'
import { configText, place, policyText } from '../e2e/world.ts'
import { DAY, HOUR } from '../support/declare.ts'
import { serving } from '../support/inside.ts'
import { historyOf, intentFor, open, raise, TEAM } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'

test('old history goes once a day, and not in the first hour: the clock of a machine that has just started may be wrong', async () => {
  const at = place()
  const [file, address] = [at.path('capkeeper.db'), 'http://127.0.0.1:9']
  const real = realClock()
  const store = await open(file)
  const acme = await store.workspace('acme', address)
  for (const days of [401, 399.5, 1]) {
    const [change, writtenAt] = [raise(TEAM, 1, 2), real.now() - days * DAY]
    await acme.recordOutcome(await acme.recordIntent(intentFor(change)), historyOf(change, writtenAt), 'kept')
  }
  await store.close()
  const kept = async () => (await (await (await open(file, 'read')).workspace('acme', undefined)).history()).length
  let aheadMs = 0
  const waits: { readonly ms: number; readonly signal: AbortSignal | undefined; readonly end: () => void }[] = []
  const clock = {
    ...real,
    now: () => real.now() + aheadMs,
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms < HOUR) return real.sleep(ms, signal)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      signal?.addEventListener('abort', reject)
      waits.push({ ms, signal, end: resolve })
      return promise
    },
  }
  at.write('policies/acme.yaml', policyText('team: {cap: 500}'))
  const workspace = { name: 'acme', baseUrl: address, keys: { default: { env: 'KEY' } }, policies: [at.path('policies')] }
  const config = at.write('config.yaml', configText([workspace], { ledger: file, listen: '127.0.0.1:0' }))
  const daemon = await serving(['run', '--config', config], /"page":"(\S+?)"/, { KEY: 'sandbox-admin' }, clock)
  const seen: (readonly [waitsMs: number, kept: number])[] = []
  for (const turn of [0, 1, 2]) {
    const wait = await until('the next wait', () => waits[turn])
    seen.push([wait.ms, await kept()])
    aheadMs = turn * DAY
    if (turn < 2) wait.end()
  }
  expect(seen).toEqual([
    [HOUR, 3],
    [DAY, 2],
    [DAY, 1],
  ])
  await daemon.end()
  expect(waits.map(({ signal }) => signal?.aborted)).toEqual([true, true, true])
})
