// A progress bar on stderr, only when that is a terminal. It leaves the terminal as it found it, also when the work is aborted or the process
// ends. The bar overwrites its own line, so `takeOffScreen` must hide it before anything else is written.
import type { Output } from './context.ts'

export interface SweepProgress extends Disposable {
  /** Adds to the total. */
  readonly expect: (items: { readonly length: number }) => void
  readonly one: () => void
  readonly some: (more: number) => void
  /** Takes the bar off the screen; safe to call twice. */
  readonly stop: () => void
}

const nothing = (): void => undefined
const NO_PROGRESS: SweepProgress = { expect: nothing, one: nothing, some: nothing, stop: nothing, [Symbol.dispose]: nothing }

/** Functions that hide the bars now showing on a stream. */
const showing = new WeakMap<Output, Set<() => void>>()

/** Hides the bars on this stream; each shows again with its next update. */
export function takeOffScreen(stream: Output): void {
  for (const hide of showing.get(stream) ?? []) hide()
}

/**
 * One bar for sweeps that run side by side. Shows `label [====    ] done/total` from the first change of a figure on, until the caller stops it,
 * the signal aborts or the process ends. `more` adds to it.
 */
export async function sweepProgress(
  label: string,
  stream: Output,
  signal?: AbortSignal,
  { expected = 0, more: note = () => '' }: { readonly expected?: number; readonly more?: (done: number, total: number) => string } = {},
): Promise<SweepProgress> {
  if (stream.isTTY !== true || signal?.aborted) return NO_PROGRESS
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar({
    stream,
    format: `${label} [{bar}] {value}/{total}{note}`,
    barsize: Math.max(10, Math.min(40, (stream.columns ?? 80) - label.length - note(0, expected).length - 20)),
    clearOnComplete: true,
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
  })
  const hides = showing.get(stream) ?? new Set()
  showing.set(stream, hides)
  let [done, total, ended] = [0, expected, false]
  const hide = (): void => {
    if (hides.delete(hide)) bar.stop()
  }
  const stop = (): void => {
    if (ended) return
    ended = true
    hide()
    signal?.removeEventListener('abort', stop)
    process.off('exit', stop)
  }
  signal?.addEventListener('abort', stop, { once: true })
  process.on('exit', stop)
  const change = (more: number, moreTotal: number): void => {
    done += more
    total += moreTotal
    if (ended || total === 0) return
    if (!hides.has(hide)) {
      takeOffScreen(stream)
      hides.add(hide)
      bar.start(total, done, { note: note(done, total) })
    }
    if (total !== bar.getTotal()) bar.setTotal(total)
    bar.update(done, { note: note(done, total) })
  }
  return {
    ...{ expect: ({ length }) => change(0, length), one: () => change(1, 0), some: (more) => change(more, 0) },
    ...{ stop, [Symbol.dispose]: stop },
  }
}
