// Work that is done once for each object, such as a plan or a roster, and whose result is forgotten with the object.

/** Keeps what `make` gives for each object; the object must not change. */
export function onceFor<Of extends object, Made extends object | number | string>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>()
  return (of) => {
    const before = known.get(of)
    if (before !== undefined) return before
    const made = make(of)
    known.set(of, made)
    return made
  }
}
