// The small schemas that values of the chart are made of, in draft-07, which every Helm 3 and 4 reads. Patterns are within what Go and
// JavaScript both take.
/** Any JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** A map in which no key is taken that is not named. */
export const map = (properties: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
})

export const TEXT = { type: 'string' }
export const SOME_TEXT = { type: 'string', minLength: 1 }
export const YES_NO = { type: 'boolean' }
/** A whole number of at least `minimum`. */
export const atLeast = (minimum: number): JsonSchema => ({ type: 'integer', minimum })

/** Kubernetes' own structures are handed on as they are; the API server checks them. */
export const OBJECT = { type: 'object' }
export const OBJECTS = { type: 'array', items: OBJECT }
/** Labels, annotations, selectors: numbers and booleans have to be quoted. */
export const TEXTS = { type: 'object', additionalProperties: TEXT }

/** Texts whose names the chart sets none of itself: the same key twice is no YAML. */
export const textsWithout = (reserved: readonly string[]): JsonSchema => ({ ...TEXTS, propertyNames: { not: { enum: reserved } } })

/** Objects that take no name, or other value, that the chart has itself. */
export const objectsWithout = (key: string, reserved: readonly string[]): JsonSchema => ({
  type: 'array',
  items: { ...OBJECT, properties: { [key]: { not: { enum: reserved } } } },
})

/** Whether something is there: `auto` asks the cluster for the kind of object. */
export const AUTO = { enum: [true, false, 'auto'] }

/** The name of an object of somebody else's, or of an entry of one; `''` for none where it may be left out. */
export const NAME = { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }
export const NAME_OR_NONE = { type: 'string', maxLength: 253, pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' }
export const ENTRY = { type: 'string', maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' }
/** What a label may be. */
export const LABEL_OR_NONE = { type: 'string', maxLength: 63, pattern: '^([a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?)?$' }
/** What a Service may be called, with room for what a StatefulSet adds to its pods' labels. */
export const FULLNAME_OR_NONE = { type: 'string', maxLength: 52, pattern: '^([a-z]([-a-z0-9]*[a-z0-9])?)?$' }

/** A duration of Go: 90s, 1m30s. */
export const DURATION = { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' }
/** A duration of Prometheus with one unit, so that the chart can compare it: 30s, 2m. */
export const SCRAPE_INTERVAL = { type: 'string', pattern: '^[1-9][0-9]*(s|m|h)$' }
/** A quantity of bytes that the chart can compare: 1Gi, 500Mi. */
export const BYTES = { type: 'string', pattern: '^[1-9][0-9]*(k|M|G|T|Ki|Mi|Gi|Ti)?$' }

const DIGEST = { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' }
export const IMAGE = map({ repository: SOME_TEXT, tag: TEXT, digest: DIGEST })
export const OWN_IMAGE = map({
  repository: SOME_TEXT,
  tag: TEXT,
  digest: DIGEST,
  pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
})
export const RESOURCES = map({ requests: OBJECT, limits: OBJECT, claims: OBJECTS })

/** Environment of a container; names that the chart sets itself are refused, because a second one would win or lose by chance. */
export const envWithout = (reserved: readonly string[]): JsonSchema => ({
  type: 'array',
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: { ...SOME_TEXT, ...(reserved.length > 0 ? { not: { enum: reserved } } : {}) } },
  },
})

/** When and how often a probe asks; what it asks is the chart's. */
export const PROBE = map({
  initialDelaySeconds: atLeast(0),
  periodSeconds: atLeast(1),
  timeoutSeconds: atLeast(1),
  failureThreshold: atLeast(1),
  successThreshold: atLeast(1),
})
