import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../src/cli/shared/context.ts'
import { progressBar, sweepProgress } from '../../src/cli/shared/progress.ts'
import { tellLine } from '../../src/cli/shared/text.ts'

const GONE = '\u001b[2K'

const terminal = (): PassThrough & { isTTY: true; columns: number } =>
  Object.assign(new PassThrough(), { isTTY: true as const, columns: 80 })

describe('the progress bar', () => {
  test('shows its label and how much is done, and takes itself off the screen', async () => {
    const stream = terminal()
    const bar = await progressBar(10, 'reading caps', stream)
    bar.update(5)
    bar.stop()
    bar.stop()
    const written = String(stream.read())
    expect(written).toContain('reading caps [')
    expect(written).toContain('/10')
    expect(written.endsWith(GONE)).toBe(true)
  })

  test('is gone when the work is aborted', async () => {
    const stream = terminal()
    const aborting = new AbortController()
    const bar = await progressBar(10, 'reading caps', stream, aborting.signal)
    bar.update(5)
    aborting.abort()
    expect(String(stream.read()).endsWith(GONE)).toBe(true)
    bar.update(6)
    expect(stream.read()).toBeNull()
  })

  test('shows nothing before the first update, so that other output remains where it is', async () => {
    const stream = terminal()
    const waiting = await sweepProgress('writing caps', stream)
    waiting.stop()
    expect(stream.read()).toBeNull()
  })

  test('is hidden for a message, and comes back below it', async () => {
    const stream = terminal()
    const bar = await progressBar(10, 'reading caps', stream)
    bar.update(5)
    tellLine({ stderr: stream, secrets: createSecrets() }, 'the balance could not be read')
    bar.update(6)
    bar.stop()
    const [before = '', after = ''] = String(stream.read()).split('the balance could not be read\n')
    expect(before.endsWith(GONE)).toBe(true)
    // From the place where the bar began anew.
    expect(after.startsWith('\u001b7')).toBe(true)
    expect(after.endsWith(GONE)).toBe(true)
  })

  test('leaves no listener on the process', async () => {
    const before = process.listenerCount('exit')
    const bar = await progressBar(10, 'x', terminal())
    bar.stop()
    expect(process.listenerCount('exit')).toBe(before)
  })
})
