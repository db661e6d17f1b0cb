// The published JSON Schema (2020-12) of the config, for `capkeeper schema config` and editors. It accepts everything that the parser accepts, and more,
// because it does not compare values.
import { published } from '../../policy/schema/check.ts'
import { SCHEMA } from './schema.generated.ts'

export const CONFIG_SCHEMA = published(SCHEMA)
