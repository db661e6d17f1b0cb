// The keys of config and policies, mapping by mapping, from their schemas, for tests that compare documents with all of them.
import { SCHEMA as CONFIG } from '../../src/daemon/config/schema.generated.ts'
import { type AnnotatedSchema, keysOf } from '../../src/policy/schema/check.ts'
import { SCHEMA as POLICY } from '../../src/policy/schema/schema.generated.ts'
import { inside } from './inside.ts'

const at = (schema: AnnotatedSchema | undefined, key: string): AnnotatedSchema => schema?.properties?.[key] ?? {}
const mappingOf = (schema: AnnotatedSchema): AnnotatedSchema | undefined => schema.anyOf?.find(({ properties }) => properties)
const WORKSPACE = at(CONFIG, 'workspaces').items
const AUTH = at(CONFIG, 'auth')
const KEYS = at(WORKSPACE, 'keys')
const GUARDS = at(WORKSPACE, 'guards')

/** The keys of each mapping of the config. */
export const CONFIG_KEYS = {
  document: keysOf(CONFIG),
  metrics: keysOf(at(CONFIG, 'metrics')),
  auth: keysOf(AUTH),
  viewer: keysOf(at(CONFIG, 'viewers').items),
  workspace: keysOf(WORKSPACE),
  keys: keysOf(KEYS),
  keyReference: keysOf(at(KEYS, 'default')),
  guards: keysOf(GUARDS),
  breaker: keysOf(mappingOf(at(GUARDS, 'breaker'))),
  contested: keysOf(mappingOf(at(GUARDS, 'contested'))),
  rate: keysOf(at(WORKSPACE, 'rate')),
}

const SPEC = at(POLICY, 'spec')

/** The keys of each mapping of a policy. */
export const POLICY_KEYS = {
  document: keysOf(POLICY),
  metadata: keysOf(at(POLICY, 'metadata')),
  spec: keysOf(SPEC),
  team: keysOf(at(SPEC, 'team')),
  group: keysOf(at(SPEC, 'groups').items),
  user: keysOf(at(SPEC, 'users').items),
  grant: keysOf(at(SPEC, 'grants').items),
  rule: keysOf(at(SPEC, 'rules').items),
  pool: keysOf(at(SPEC, 'pools').items),
}

/** The schema that `capkeeper schema` prints. */
export const publishedSchema = async (kind: 'policy' | 'config'): Promise<object> => JSON.parse((await inside(['schema', kind])).stdout)
