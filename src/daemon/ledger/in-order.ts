/** Returns a function that runs actions one after the other, in the order of the calls; a failed action does not stop the next. */
export function inOrder(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (action) => {
    const next = last.then(action)
    last = next.catch(() => undefined)
    return next
  }
}
