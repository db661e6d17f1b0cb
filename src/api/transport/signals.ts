// Abort signals that many short requests share with something long-lived, such as the daemon's stop. Listeners are always removed, so that
// they do not pile up on a signal that lives for months.

type Signals = readonly (AbortSignal | undefined)[]

/** Calls back once, when the first of the signals aborts or if one already has. The returned function removes the listeners. */
export function onAbort(signals: Signals, callback: (reason: unknown) => void): () => void {
  const present = signals.filter((signal) => signal !== undefined)
  const release = (): void => {
    for (const signal of present) signal.removeEventListener('abort', fire)
  }
  const fire = (): void => {
    release()
    callback(present.find((signal) => signal.aborted)?.reason)
  }
  if (present.some((signal) => signal.aborted)) fire()
  else for (const signal of present) signal.addEventListener('abort', fire, { once: true })
  return release
}

/** Runs work under a signal that aborts when any of several does. */
export async function underSignals<Value>(signals: Signals, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const [only, ...others] = signals.filter((signal) => signal !== undefined)
  // The common case: every request of a sweep has one signal.
  if (only && others.length === 0) return work(only)
  const joined = new AbortController()
  const release = onAbort(signals, (reason) => joined.abort(reason))
  try {
    return await work(joined.signal)
  } finally {
    release()
  }
}
