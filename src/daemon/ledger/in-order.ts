// One thing after the other: who asks while something is under way waits for it, whatever becomes of it.

/** Runs what it is given in the order in which it was asked. */
export function inOrder(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (action) => {
    const next = last.then(action)
    last = next.catch(() => undefined)
    return next
  }
}
