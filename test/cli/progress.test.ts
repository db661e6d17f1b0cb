import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { progressBar } from '../../src/cli/shared/progress.ts'

const terminal = (): PassThrough & { isTTY: true; columns: number } =>
  Object.assign(new PassThrough(), { isTTY: true as const, columns: 80 })

describe('the progress bar', () => {
  test('writes nothing where there is no terminal', async () => {
    const stream = new PassThrough()
    const bar = await progressBar(10, 'reading caps', stream)
    bar.update(5)
    bar.stop()
    expect(stream.read()).toBeNull()
  })

  test('shows its label and how much is done, and takes itself off the screen', async () => {
    const stream = terminal()
    const bar = await progressBar(10, 'reading caps', stream)
    bar.update(5)
    bar.stop()
    bar.stop()
    const written = String(stream.read())
    expect(written).toContain('reading caps [')
    expect(written).toContain('/10')
    expect(written.endsWith('\u001b[2K')).toBe(true)
  })

  test('is gone when the work is aborted', async () => {
    const stream = terminal()
    const aborting = new AbortController()
    const bar = await progressBar(10, 'reading caps', stream, aborting.signal)
    aborting.abort()
    expect(String(stream.read()).endsWith('\u001b[2K')).toBe(true)
    bar.update(6)
    expect(stream.read()).toBeNull()
  })

  test('leaves no listener on the process', async () => {
    const before = process.listenerCount('exit')
    const bar = await progressBar(10, 'x', terminal())
    bar.stop()
    expect(process.listenerCount('exit')).toBe(before)
  })
})
