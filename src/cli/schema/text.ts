// The JSON Schemas for editors as text, for `schema` and `init`.
import { CONFIG_SCHEMA } from '../../daemon/config/schema.ts'
import { POLICY_SCHEMA } from '../../policy/schema/schema.ts'

export const schemaText = (kind: 'policy' | 'config'): string =>
  `${JSON.stringify(kind === 'policy' ? POLICY_SCHEMA : CONFIG_SCHEMA, undefined, 2)}\n`
