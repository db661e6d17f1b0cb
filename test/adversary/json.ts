// Reads JSON of unknown shape: each step returns undefined when the value is not as expected, and never throws.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The value of a text, or undefined when it is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value under these keys and indices. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let here = value
  for (const step of path) {
    if (here === null || typeof here !== 'object') return undefined
    here = Array.isArray(here) ? here[Number(step)] : here[String(step)]
  }
  return here
}

export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The text there, or an empty one. */
export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}
