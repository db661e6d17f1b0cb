// The published JSON Schema (2020-12) of policies: what `capkeeper schema policy` prints, and what editors complete and check with. What the
// parser takes the schema takes. It sees values after YAML and one document at a time, so it refuses less: 1e3 is 1000 to it, and it knows
// nothing of duplicates, of time zones, of groups declared elsewhere or of workspaces.
import { published } from './check.ts'
import { SCHEMA } from './schema.generated.ts'

export const POLICY_SCHEMA = published(SCHEMA)
