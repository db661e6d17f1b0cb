// A progress bar for long work, on stderr and only when that is a terminal; elsewhere nothing at all. It leaves the terminal as it found
// it, also when the work is aborted or the process ends in the middle.
import type { Output } from './context.ts'

export interface Progress {
  /** How much is done; `total` may be learned on the way. */
  update(done: number, total?: number): void
  /** Takes the bar off the screen; safe to call twice. */
  stop(): void
}

const NO_PROGRESS: Progress = { update: () => undefined, stop: () => undefined }

/** Shows `label [====    ] done/total`; the caller stops it, an aborted signal and the end of the process do so too. */
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
  let running = true
  const stop = (): void => {
    if (!running) return
    running = false
    bar.stop()
    signal?.removeEventListener('abort', stop)
    process.off('exit', stop)
  }
  bar.start(total, 0)
  signal?.addEventListener('abort', stop, { once: true })
  process.on('exit', stop)
  return {
    update(done, newTotal) {
      if (!running) return
      if (newTotal !== undefined && newTotal !== bar.getTotal()) bar.setTotal(newTotal)
      bar.update(done)
    },
    stop,
  }
}

export interface SweepProgress {
  /** More is going to be done. */
  readonly expect: (items: { readonly length: number }) => void
  /** One more is done. */
  readonly one: () => void
  /** So many more are done. */
  readonly some: (more: number) => void
  readonly stop: () => void
}

/** One bar for sweeps that go on side by side; it appears when there is enough to wait for. */
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
