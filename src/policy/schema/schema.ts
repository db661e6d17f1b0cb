// The published JSON Schema (2020-12) of policies: what `capkeeper schema policy` prints, and what editors complete and check with. What the
// parser takes the schema takes. It sees values after YAML and one document at a time, so it refuses less: 1e3 is 1000 to it, and it knows
// nothing of duplicates, of time zones, of groups declared elsewhere or of workspaces.
import { type AnnotatedSchema, keysOf, published } from './check.ts'
import { SCHEMA } from './schema.generated.ts'

export const POLICY_SCHEMA = published(SCHEMA)

const at = (schema: AnnotatedSchema | undefined, key: string): AnnotatedSchema => schema?.properties?.[key] ?? {}
const SPEC = at(SCHEMA, 'spec')

/** The keys that each mapping of a policy may have. */
export const POLICY_KEYS = {
  document: keysOf(SCHEMA),
  metadata: keysOf(at(SCHEMA, 'metadata')),
  spec: keysOf(SPEC),
  team: keysOf(at(SPEC, 'team')),
  group: keysOf(at(SPEC, 'groups').items),
  user: keysOf(at(SPEC, 'users').items),
  grant: keysOf(at(SPEC, 'grants').items),
  rule: keysOf(at(SPEC, 'rules').items),
  pool: keysOf(at(SPEC, 'pools').items),
}
