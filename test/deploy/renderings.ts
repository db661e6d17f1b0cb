// Everything of deploy/ that prints manifests: kustomize on the base and each overlay, Helm on the chart with each of its values files.
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, rendered } from '../support/kubernetes.ts'
import type { Outside } from '../support/references.ts'
import { type Checked, DEPLOY, hasProgram, runProgram } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

interface Rendering {
  readonly title: string
  /** The programs, one of which does it. */
  readonly needs: string
  readonly isThere: boolean
  readonly manifests: () => readonly Manifest[]
  readonly outside: Outside
}

export const CHART = join(DEPLOY, 'helm/capkeeper')
export const hasHelm = hasProgram('helm', 'version')
export const hasKustomize = hasProgram('kustomize', 'version')
/** An old kubectl has a kustomize in it that knows neither components nor folders as resources, and does not tell which. */
export const hasKubectl = /"kustomizeVersion": "v5\./.test(runProgram('kubectl', ['version', '--client', '--output=json']).said)

const [KUSTOMIZE, ...BUILD] = hasKustomize ? (['kustomize', 'build'] as const) : (['kubectl', 'kustomize'] as const)

export const kustomized = (folder: string): readonly Manifest[] => rendered(KUSTOMIZE, ...BUILD, join(DEPLOY, 'kubernetes', folder))

/** A kustomization of somebody else's, written for this one look; `deploy` in it is a link to deploy/kubernetes. */
export function kustomizedBy(lines: string): readonly Manifest[] {
  const folder = temporaryFolder()
  symlinkSync(join(DEPLOY, 'kubernetes'), join(folder, 'deploy'))
  writeFileSync(join(folder, 'kustomization.yaml'), lines)
  return rendered(KUSTOMIZE, ...BUILD, folder)
}

/** A cluster as the chart wants it, with the Prometheus operator; a Helm built from source knows of none by itself. */
const CLUSTER = [
  ...['--kube-version', '1.35.0'],
  ...['PodMonitor', 'PrometheusRule', 'ServiceMonitor'].flatMap((kind) => ['--api-versions', `monitoring.coreos.com/v1/${kind}`]),
] as const
const TEMPLATE = ['template', 'capkeeper', CHART, '--namespace', 'capkeeper'] as const

const templates = new Map<string, readonly Manifest[]>()

/** Release and hooks, rendered once for the same flags. */
function templated(flags: readonly string[]): readonly Manifest[] {
  const key = JSON.stringify(flags)
  const manifests = templates.get(key) ?? rendered('helm', ...TEMPLATE, ...CLUSTER, ...flags)
  templates.set(key, manifests)
  return manifests
}

const isHook = ({ metadata }: Manifest): boolean => metadata.annotations?.['helm.sh/hook'] !== undefined

/** What a release consists of; its hooks are not part of it. */
export const helmed = (...flags: readonly string[]): readonly Manifest[] => templated(flags).filter((one) => !isHook(one))

/** As `helmed`, for a cluster without the Prometheus operator. */
export const helmedWithoutOperator = (...flags: readonly string[]): readonly Manifest[] =>
  rendered('helm', ...TEMPLATE, '--kube-version', '1.35.0', '--no-hooks', ...flags)

/** What runs before an install or an upgrade, and with `helm test`. */
export const hooksOf = (...flags: readonly string[]): readonly Manifest[] => templated(flags).filter(isHook)

/** What Helm says when it refuses. */
export const refusal = (...flags: readonly string[]): Checked => runProgram('helm', [...TEMPLATE, ...CLUSTER, ...flags])

const kustomization = (folder: string, ...outside: Outside): Rendering => ({
  title: `kustomize ${folder}`,
  needs: 'kustomize 5, also in kubectl',
  isThere: hasKustomize || hasKubectl,
  manifests: () => kustomized(folder),
  outside: ['Secret capkeeper-keys', ...outside],
})

export const valuesFile = (name: string): string => join(CHART, `ci/${name}-values.yaml`)

const OUTSIDE: Readonly<Record<string, Outside>> = {
  existing: ['Secret vault-capkeeper', 'ConfigMap cap-policies', 'ConfigMap company-ca', 'ServiceAccount caps'],
  postgres: ['Secret capkeeper-keys', 'Secret capkeeper-db-app'],
  'git-sync': ['Secret capkeeper-keys', 'Secret cap-policies-token'],
}

const chart = (name: string | undefined): Rendering => ({
  title: `helm with ${name === undefined ? 'its defaults' : `the values ${name}`}`,
  needs: 'helm',
  isThere: hasHelm,
  manifests: () => (name === undefined ? helmed() : helmed('--values', valuesFile(name))),
  outside: OUTSIDE[name ?? ''] ?? ['Secret capkeeper-keys'],
})

const VALUES = readdirSync(join(CHART, 'ci')).map((file) => file.replace('-values.yaml', ''))

export const RENDERINGS: readonly Rendering[] = [
  kustomization('base'),
  kustomization('overlays/enforce'),
  kustomization('overlays/git-sync', 'Secret capkeeper-git'),
  chart(undefined),
  ...VALUES.map(chart),
]
