// A progress bar for long work, on stderr and only when that is a terminal; elsewhere nothing at all. It leaves the terminal as it found
// it, also when the work is aborted or the process ends in the middle. It goes back to where it began, so nothing may be said while it
// shows: it comes with the first thing that is done, and `takeOffScreen` hides it before anything else is written.
import type { Output } from './context.ts'

export interface Progress {
  /** How much is done; `total` may be learned on the way. */
  update(done: number, total?: number): void
  /** Takes the bar off the screen; safe to call twice. */
  stop(): void
}

const NO_PROGRESS: Progress = { update: () => undefined, stop: () => undefined }

/** How to hide the bars that show on a stream now. */
const showing = new WeakMap<Output, Set<() => void>>()

/** Hides the bars on this stream; they come back with the next thing that is done. */
export function takeOffScreen(stream: Output): void {
  for (const hide of showing.get(stream) ?? []) hide()
}

/** Shows `label [====    ] done/total` once something is done; the caller stops it, an aborted signal and the end of the process do so too. */
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
