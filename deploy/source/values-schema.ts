// values.schema.json of the chart. What a workspace, its metrics and the rest of the config may hold comes from the config's own schema, so
// that Helm refuses what capkeeper would refuse; what is explained comes from the comments of values.yaml, so that it is written once.
import { CONFIG_SCHEMA } from '../../src/cli/schema.ts'
import { explanationsOf } from './explanations.ts'
import type { JsonSchema } from './value-types.ts'
import {
  AUTO,
  atLeast,
  BYTES,
  DURATION,
  ENTRY,
  envWithout,
  FULLNAME_OR_NONE,
  IMAGE,
  LABEL_OR_NONE,
  map,
  NAME,
  NAME_OR_NONE,
  OBJECT,
  OBJECTS,
  OWN_IMAGE,
  objectsWithout,
  PROBE,
  RESOURCES,
  SCRAPE_INTERVAL,
  SOME_TEXT,
  TEXT,
  TEXTS,
  textsWithout,
  YES_NO,
} from './value-types.ts'

const {
  workspaces = {},
  metrics = {},
  people = {},
  ...otherKeys
}: Readonly<Record<string, JsonSchema>> = Object(CONFIG_SCHEMA['properties'])
/** The chart decides these itself. */
const OF_CHART = ['apiVersion', 'kind', 'listen', 'ledger']
const others = Object.fromEntries(Object.entries(otherKeys).filter(([key]) => !OF_CHART.includes(key)))

/** They would take the place of what the chart puts into the config, or of what it sets itself. */
const RESERVED_ENV = ['NODE_OPTIONS', 'CAPKEEPER_CONFIG', 'CAPKEEPER_LEDGER', 'CAPKEEPER_POLICIES', 'CAPKEEPER_BASE_URL']
const LABELS = textsWithout([
  ...['name', 'instance', 'component', 'version', 'managed-by'].map((name) => `app.kubernetes.io/${name}`),
  'helm.sh/chart',
])
const VOLUMES = objectsWithout('name', ['config', 'keys', 'tmp'])
const MOUNTS = objectsWithout('mountPath', ['/etc/capkeeper', '/var/run/secrets/capkeeper', '/tmp'])
const MODE = { enum: ['enforce', 'audit', 'paused'] }

/** In a release each workspace needs a name and an address: nothing else says them. */
const WORKSPACES = {
  type: 'array',
  minItems: 1,
  items: { ...Object(workspaces['items']), required: ['name', 'baseUrl'] },
}

const POLICY_FILES = { type: 'object', propertyNames: { pattern: '^[-_a-zA-Z0-9][-._a-zA-Z0-9]*\\.ya?ml$' }, additionalProperties: TEXT }

const whenEnabled = (then: JsonSchema): JsonSchema => ({
  if: { properties: { enabled: { const: true } }, required: ['enabled'] },
  then,
})

const GIT_SYNC = map(
  {
    enabled: YES_NO,
    repository: TEXT,
    ref: SOME_TEXT,
    folder: { type: 'string', pattern: '^([^/].*)?$' },
    period: DURATION,
    existingSecret: NAME_OR_NONE,
    username: TEXT,
    sshSecret: NAME_OR_NONE,
    extraArgs: { type: 'array', items: TEXT },
    extraEnv: envWithout([]),
    extraVolumeMounts: OBJECTS,
    image: IMAGE,
    resources: RESOURCES,
    securityContext: OBJECT,
  },
  whenEnabled({ properties: { repository: { minLength: 1 } }, required: ['repository'] }),
)

const S3 = map({
  bucket: { type: 'string', pattern: '^[-._/a-zA-Z0-9]*$' },
  provider: SOME_TEXT,
  endpoint: TEXT,
  region: TEXT,
  existingSecret: NAME_OR_NONE,
  image: IMAGE,
})

const BACKUP = map({
  enabled: YES_NO,
  schedule: SOME_TEXT,
  timeZone: TEXT,
  keep: atLeast(1),
  existingClaim: NAME_OR_NONE,
  s3: S3,
  resources: RESOURCES,
})

const PERSISTENCE = map({
  existingClaim: NAME_OR_NONE,
  size: BYTES,
  storageClass: NAME_OR_NONE,
  accessMode: { enum: ['ReadWriteOnce', 'ReadWriteOncePod'] },
  retention: map({ whenDeleted: { enum: ['Retain', 'Delete'] }, whenScaled: { enum: ['Retain', 'Delete'] } }),
})

const LEDGER = map({
  kind: { enum: ['sqlite', 'postgres'] },
  postgres: map({
    replicas: atLeast(1),
    existingSecret: NAME_OR_NONE,
    entry: ENTRY,
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    to: OBJECTS,
  }),
})

const NETWORK_POLICY = map({
  enabled: YES_NO,
  prometheusNamespace: NAME,
  dnsNamespace: NAME,
  httpsTo: OBJECTS,
  extraIngressFrom: OBJECTS,
  extraEgress: OBJECTS,
})

const PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  workspaces: WORKSPACES,
  mode: MODE,
  people: { enum: [people['enum']].flat().filter((word) => word !== null) },
  metrics,
  config: map(others),
  logLevel: { enum: ['debug', 'info', 'warn', 'error'] },
  keys: map({ existingSecret: NAME, entry: ENTRY }, { required: ['existingSecret', 'entry'] }),
  policies: map({ files: POLICY_FILES, existingConfigMap: NAME_OR_NONE }),
  gitSync: GIT_SYNC,
  validation: map({ enabled: YES_NO, activeDeadlineSeconds: atLeast(10) }),
  image: OWN_IMAGE,
  imagePullSecrets: { type: 'array', items: map({ name: NAME }, { required: ['name'] }) },
  nameOverride: LABEL_OR_NONE,
  fullnameOverride: FULLNAME_OR_NONE,
  commonLabels: LABELS,
  nodeOptions: TEXT,
  resources: RESOURCES,
  ledger: LEDGER,
  persistence: PERSISTENCE,
  backup: BACKUP,
  extraEnv: envWithout(RESERVED_ENV),
  extraVolumes: VOLUMES,
  extraVolumeMounts: MOUNTS,
  extraObjects: OBJECTS,
  serviceAccount: map({ create: YES_NO, name: NAME_OR_NONE, annotations: TEXTS }),
  podAnnotations: textsWithout(['kubectl.kubernetes.io/default-container']),
  podLabels: LABELS,
  podSecurityContext: OBJECT,
  securityContext: OBJECT,
  probes: map({ startup: PROBE, liveness: PROBE, readiness: PROBE }),
  terminationGracePeriodSeconds: atLeast(10),
  nodeSelector: TEXTS,
  tolerations: OBJECTS,
  affinity: OBJECT,
  topologySpreadConstraints: OBJECTS,
  hostAliases: OBJECTS,
  dnsConfig: OBJECT,
  priorityClassName: NAME_OR_NONE,
  podDisruptionBudget: map({ enabled: YES_NO }),
  networkPolicy: NETWORK_POLICY,
  podMonitor: map({ enabled: AUTO, interval: SCRAPE_INTERVAL, labels: LABELS }),
  serviceMonitor: map({ enabled: YES_NO, interval: SCRAPE_INTERVAL, labels: LABELS }),
  prometheusRule: map({ enabled: AUTO, labels: LABELS, runbookUrl: TEXT }),
  dashboards: map({ enabled: YES_NO, labels: LABELS, annotations: TEXTS }),
}

/** The schema, with the explanations of `valuesYaml` put where they belong. */
export function valuesSchema(valuesYaml: string): JsonSchema {
  const explained = explanationsOf(valuesYaml)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the capkeeper chart',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(Object.entries(PROPERTIES).map(([name, schema]) => [name, described(schema, name, explained)])),
      // Helm hands this to every chart.
      global: OBJECT,
    },
    required: ['workspaces', 'mode'],
  }
}

function described(schema: JsonSchema, path: string, explained: ReadonlyMap<string, string>): JsonSchema {
  const { properties } = schema
  const own = explained.get(path)
  const inner =
    properties === null || typeof properties !== 'object'
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, described(one, `${path}.${name}`, explained)]),
          ),
        }
  return { ...schema, ...inner, ...(own === undefined ? {} : { description: own }) }
}
