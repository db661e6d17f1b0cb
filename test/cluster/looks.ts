// How scenes look at a release: its pod, its page, and a mark of everything that Helm could have changed.
import { parse } from 'yaml'
import { must, type World } from './world.ts'

const NAMESPACE = ['-n', 'capkeeper'] as const
const KINDS = 'statefulsets,services,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,persistentvolumeclaims'

/** One field of the pod, as kubectl prints it. */
export const ofPod = (world: World, path: string): string =>
  world.try('kubectl', ...NAMESPACE, 'get', 'pod', 'capkeeper-0', '-o', `jsonpath={${path}}`).said

export const podId = (world: World): string => ofPod(world, '.metadata.uid')
export const isReady = (world: World): boolean => ofPod(world, '.status.conditions[?(@.type=="Ready")].status') === 'True'

/** A page of the daemon, through the API server. */
export const page = (world: World, path: string): string =>
  world.try('kubectl', 'get', '--raw', `/api/v1/namespaces/capkeeper/pods/capkeeper-0:9464/proxy${path}`).said

/** Caps written since the daemon started. */
export function written(world: World): number {
  const lines = page(world, '/metrics').match(/^capkeeper_changes_total\{.*result="applied".*\} (\d+)$/gm) ?? []
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Versions of all objects of the namespace but the pod's, the hooks' and the status': they change whenever one is written. */
export function mark(world: World): string {
  const { items } = JSON.parse(world.run('kubectl', ...NAMESPACE, 'get', KINDS, '-o', 'json'))
  const seen = items.map((one: { readonly kind: string; readonly metadata: Readonly<Record<string, unknown>> }) => {
    const { name, generation, uid } = one.metadata
    return { kind: one.kind, name, generation, uid, data: Object(one).data, spec: Object(one).spec }
  })
  return JSON.stringify(seen.filter(({ name }: { readonly name: string }) => !name.includes('-validate')))
}

/** The upgrade as the guide has it. */
export const UPGRADE = 'helm upgrade capkeeper deploy/helm/capkeeper --namespace capkeeper --values my-values.yaml'

/** Runs an upgrade that has to be refused with these words, and looks that nothing was changed. */
export function mustRefuse(world: World, words: string, ...flags: readonly string[]): void {
  const before = mark(world)
  const { status, said } = world.try('bash', '-c', `${UPGRADE} "$@"`, 'bash', ...flags)
  must(status !== 0, `an upgrade with ${flags.join(' ')} is refused`)
  must(said.includes(words), `it says "${words}", but: ${said}`)
  must(mark(world) === before, `nothing was changed by ${flags.join(' ')}`)
}

/** The last YAML block of the guide that has a text. */
export function blockOf(guide: string, text: string): string {
  const found = [...guide.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const block = found.find((one) => one.includes(text))
  if (block === undefined) throw new Error(`the guide has no block with ${text}`)
  parse(block)
  return block
}
