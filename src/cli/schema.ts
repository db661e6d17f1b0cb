// `schema policy|config`: the JSON Schema with which editors complete and check policy and config files.
import { SCHEMA as CONFIG } from '../daemon/config/schema.generated.ts'
import { published } from '../policy/schema/check.ts'
import { SCHEMA as POLICY } from '../policy/schema/schema.generated.ts'
import { action, COMMANDS } from './shared/command.ts'
import { EXIT } from './shared/context.ts'

// The published JSON Schemas (2020-12) of config and policies, for editors: `capkeeper schema`, and the files of `init`. What a parser takes its
// schema takes. A schema sees values after YAML and one document at a time, so it refuses less: 1e3 is 1000 to it, and it knows nothing of
// duplicates, of time zones, of groups declared elsewhere or of workspaces.

export const CONFIG_SCHEMA = published(CONFIG)
export const POLICY_SCHEMA = published(POLICY)

export const schemaText = (kind: 'policy' | 'config'): string =>
  `${JSON.stringify(kind === 'policy' ? POLICY_SCHEMA : CONFIG_SCHEMA, undefined, 2)}\n`

export const register = action(COMMANDS.schema, (kind, _flags, cli) => {
  cli.stdout.write(schemaText(kind))
  cli.finish(EXIT.done)
})
