// Kubernetes manifests for tests: read from the output of kustomize and Helm, and checked against the schemas of Kubernetes and of the
// Prometheus operator, unknown fields included.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import { type IStatefulSet, StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { parseAllDocuments } from 'yaml'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: unknown
}

/** All documents of a stream, read as Kubernetes reads them: by YAML 1.1. */
export function manifestsOf(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { version: '1.1', merge: false })
  if ('empty' in documents) return []
  const broken = documents.flatMap(({ errors }) => errors)
  if (broken.length > 0) throw new Error(broken.map(({ message }) => message).join('\n'))
  return documents.map((document) => document.toJS()).filter((value) => value !== null)
}

export const named = ({ kind, metadata }: Manifest): string => `${kind} ${metadata?.name}`

export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind)

/** The only StatefulSet, which must exist. */
export function statefulSet(manifests: readonly Manifest[]): IStatefulSet {
  const [found, ...more] = manifests.filter((manifest) => StatefulSet.is(manifest))
  if (!found || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} StatefulSets, not one`)
  return found
}

/** The workload of the daemon: the only StatefulSet or Deployment. */
export function workload(manifests: readonly Manifest[]): IStatefulSet | IDeployment {
  const deployment = manifests.find((manifest) => Deployment.is(manifest))
  return deployment ?? statefulSet(manifests)
}

const load = createRequire(import.meta.url)

/** The schema of a kind, which its package has below the version: clusters drop versions that are not stable. */
function modelOf({ apiVersion, kind }: Manifest) {
  const home = apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
  if (!/(^|\/)v\d+$/.test(apiVersion)) return undefined
  try {
    return load(fileURLToPath(import.meta.resolve(`${home}/${apiVersion}/${kind}`)))[kind]
  } catch {
    return undefined
  }
}

/** The faults of a manifest by the schema of its kind; a kind without a schema is a fault too. */
export function schemaOffences(manifest: Manifest): readonly string[] {
  const model = modelOf(manifest)
  if (!model) return [`${named(manifest)}: there is no schema for ${manifest.apiVersion} ${manifest.kind}`]
  const read = new Set<string>()
  try {
    Reflect.apply(model.prototype.validate, watched(manifest, '', read), [])
  } catch (error) {
    return [`${named(manifest)}: ${error instanceof Error ? error.message : String(error)}`]
  }
  return unread(manifest, '', read).map((path) => `${named(manifest)}: the schema does not know ${path}`)
}

/** The validators ignore fields that they do not know, so a field that they never read is in no schema. */
function watched<T>(value: T, path: string, read: Set<string>): T {
  if (value === null || typeof value !== 'object') return value
  return new Proxy(value, {
    get(target, key) {
      const inner: unknown = Reflect.get(target, key)
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return inner
      read.add(`${path}.${key}`)
      return watched(inner, `${path}.${key}`, read)
    },
  })
}

function unread(value: unknown, path: string, read: ReadonlySet<string>): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) =>
    read.has(`${path}.${key}`) ? unread(inner, `${path}.${key}`, read) : [`${path}.${key}`],
  )
}

/** Runs a program that prints manifests; throws its error output. */
export function rendered(program: string, ...argv: readonly string[]): readonly Manifest[] {
  const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${stderr}`)
  return manifestsOf(stdout)
}
