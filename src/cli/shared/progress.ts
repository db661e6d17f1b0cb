// A progress bar on stderr, only when that is a terminal. It leaves the terminal as it found it, also when the work is aborted or the process
// ends. The bar overwrites its own line, so `takeOffScreen` must hide it before anything else is written.
import type { Output } from './context.ts'

interface Progress {
  /** `total` may change on the way. */
  update(done: number, total?: number): void
  /** Takes the bar off the screen; safe to call twice. */
  stop(): void
}

const NO_PROGRESS: Progress = { update: () => undefined, stop: () => undefined }

/** Functions that hide the bars now showing on a stream. */
const showing = new WeakMap<Output, Set<() => void>>()

/** Hides the bars on this stream; each shows again with its next update. */
export function takeOffScreen(stream: Output): void {
  for (const hide of showing.get(stream) ?? []) hide()
}

/** Shows `label [====    ] done/total` from the first update on, until the caller stops it, the signal aborts or the process ends. */
export async function progressBar(total: number, label: string, stream: Output, signal?: AbortSignal): Promise<Progress> {
  if (stream.isTTY !== true || signal?.aborted) return NO_PROGRESS
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar({
    stream,
    format: `${label} [{bar}] {value}/{total}`,
    barsize: Math.max(10, Math.min(40, (stream.columns ?? 80) - label.length - 20)),
    clearOnComplete: true,
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
  })
  const hides = showing.get(stream) ?? new Set()
  showing.set(stream, hides)
  let ended = false
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
  let all = total
  return {
    update(done, newTotal = all) {
      all = newTotal
      if (ended || all === 0) return
      if (!hides.has(hide)) {
        takeOffScreen(stream)
        hides.add(hide)
        bar.start(all, done)
      }
      if (all !== bar.getTotal()) bar.setTotal(all)
      bar.update(done)
    },
    stop,
  }
}

export interface SweepProgress {
  /** Adds to the total. */
  readonly expect: (items: { readonly length: number }) => void
  readonly one: () => void
  readonly some: (more: number) => void
  readonly stop: () => void
}

/** One bar for sweeps that run side by side. */
export async function sweepProgress(label: string, stream: Output, signal?: AbortSignal): Promise<SweepProgress> {
  let total = 0
  let done = 0
  const bar = await progressBar(0, label, stream, signal)
  return {
    expect(items) {
      total += items.length
      bar.update(done, total)
    },
    one() {
      done += 1
      bar.update(done, total)
    },
    some(more) {
      done += more
      bar.update(done, total)
    },
    stop: bar.stop,
  }
}
