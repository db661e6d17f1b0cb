// Runs work one at a time: requests that arrive while it runs lead to one more run afterwards, however many they are.

/** Runs `run`, never two at a time; resolves when a run that began after the call has ended. `run` reports its own failures. */
export function oneAtATime(run: () => void | Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const ended = Promise.resolve(run()).finally(() => {
      if (running === ended) running = undefined
    })
    running = ended
    return ended
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
