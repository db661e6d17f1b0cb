// Abort signals that many short requests share with something long-lived, such as the daemon's own stop: listeners are always taken off
// again, so that a signal that lives for months does not gather them.

type Signals = readonly (AbortSignal | undefined)[]

/** Calls back at once, or as soon as, one of the signals has aborted; at most once. The returned function takes the listeners off. */
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
  // Nothing to join: so it is with every request of a sweep.
  if (only && others.length === 0) return work(only)
  const joined = new AbortController()
  const release = onAbort(signals, (reason) => joined.abort(reason))
  try {
    return await work(joined.signal)
  } finally {
    release()
  }
}
