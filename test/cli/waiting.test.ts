import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../src/cli/shared/context.ts'
import { tellOfWaiting } from '../../src/cli/shared/each.ts'
import { fakeClock } from '../support/clock.ts'

function command() {
  const [clock, stderr] = [fakeClock(), new PassThrough()]
  const waiting = tellOfWaiting({ clock, stderr, secrets: createSecrets() }, 'acme')
  return { ...waiting, clock, told: (): string => String(stderr.read() ?? '') }
}

describe('a command that waits for the rate limit', () => {
  test('says so once, when nothing but refusals came for a while', async () => {
    const { onRequest, clock, told } = command()
    onRequest({ outcome: 'rate_limited' })
    await clock.advance(9_000)
    expect(told()).toBe('')
    onRequest({ outcome: 'rate_limited' })
    await clock.advance(1_000)
    expect(told()).toBe('note: acme: the service refuses requests, because its rate limit is reached; waiting until it takes them\n')
    onRequest({ outcome: 'rate_limited' })
    await clock.advance(60_000)
    expect(told()).toBe('')
  })

  test('says nothing while others get through, nor once it is over, and keeps no process alive', async () => {
    const { onRequest, stop, clock, told } = command()
    onRequest({ outcome: 'rate_limited' })
    await clock.advance(9_000)
    onRequest({ outcome: 'ok' })
    await clock.advance(60_000)
    onRequest({ outcome: 'rate_limited' })
    stop()
    expect(clock.sleeping()).toBe(0)
    await clock.advance(60_000)
    expect(told()).toBe('')
  })
})
