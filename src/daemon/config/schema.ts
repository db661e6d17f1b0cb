// The published JSON Schema (2020-12) of the config: what `capkeeper schema config` prints, and what editors complete and check with. What
// the parser takes the schema takes; it compares no two values and adds none up, so it refuses less.
import { published } from '../../policy/schema/check.ts'
import { SCHEMA } from './schema.generated.ts'

export const CONFIG_SCHEMA = published(SCHEMA)
