// Work that is asked for again while it runs: it runs once more afterwards, however often it was asked for. So a thousand signals read the
// files twice, and what was read last is what counts.

/** `run` with never two at a time; resolves when a run that began after the call is through. `run` reports its own failures. */
export function oneAtATime(run: () => void | Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const through = Promise.resolve(run()).finally(() => {
      if (running === through) running = undefined
    })
    running = through
    return through
  }
  return () => {
    if (!running) return begin()
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }
}
