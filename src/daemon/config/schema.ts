// The published JSON Schema (2020-12) of the config: what `capkeeper schema config` prints, and what editors complete and check with. What
// the parser takes the schema takes; it compares no two values and adds none up, so it refuses less.
import { type AnnotatedSchema, keysOf, published } from '../../policy/schema/check.ts'
import { SCHEMA } from './schema.generated.ts'

export const CONFIG_SCHEMA = published(SCHEMA)

const at = (schema: AnnotatedSchema | undefined, key: string): AnnotatedSchema => schema?.properties?.[key] ?? {}
const mappingOf = (schema: AnnotatedSchema): AnnotatedSchema | undefined => schema.anyOf?.find(({ properties }) => properties)
const WORKSPACE = at(SCHEMA, 'workspaces').items
const AUTH = at(SCHEMA, 'auth')
const KEYS = at(WORKSPACE, 'keys')
const GUARDS = at(WORKSPACE, 'guards')

/** The keys that each mapping of the config may have. */
export const CONFIG_KEYS = {
  document: keysOf(SCHEMA),
  metrics: keysOf(at(SCHEMA, 'metrics')),
  auth: keysOf(AUTH),
  viewer: keysOf(at(SCHEMA, 'viewers').items),
  workspace: keysOf(WORKSPACE),
  keys: keysOf(KEYS),
  keyReference: keysOf(at(KEYS, 'default')),
  guards: keysOf(GUARDS),
  breaker: keysOf(mappingOf(at(GUARDS, 'breaker'))),
  contested: keysOf(mappingOf(at(GUARDS, 'contested'))),
  rate: keysOf(at(WORKSPACE, 'rate')),
}
