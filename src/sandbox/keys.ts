// The keys that a fixture brought, beside those that are always there. They guard nothing but invented data, and so may be shown.
import { SANDBOX_KEYS } from './sandbox.ts'
import type { Store, StoredKey } from './store.ts'

/** By their texts. */
export function addedKeys(store: Store): readonly StoredKey[] {
  const secrets = store.select('SELECT secret FROM keys ORDER BY secret', []).map(([secret]) => String(secret))
  return secrets.filter((secret) => !SANDBOX_KEYS.some((key) => key.secret === secret)).flatMap((secret) => store.key(secret) ?? [])
}
