// The parts that a cluster is made of: what has to be on the machine, and what is built from Go modules when it is not. It names what is missing and
// decides nothing else; nothing is downloaded but Go modules, by Go itself.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Kubernetes that is run; its parts are built from the module of this version. */
export const KUBERNETES = '1.35.4'
const BUILT = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'] as const
/** Kept between runs, because a build takes half an hour on two cores. `CAPKEEPER_CLUSTER_PARTS` names another folder. */
export const PARTS = process.env['CAPKEEPER_CLUSTER_PARTS'] ?? join(tmpdir(), 'capkeeper-cluster-parts')
/** Where Debian has the plugins of containernetworking-plugins. */
export const CNI_PLUGINS = '/usr/lib/cni'

/** Program, and the package of Debian that has it. */
const INSTALLED = [
  ['etcd', 'etcd-server'],
  ['containerd', 'containerd'],
  ['runc', 'runc'],
  ['ip', 'iproute2'],
  ['unshare', 'util-linux'],
  ['openssl', 'openssl'],
  ['kubectl', 'kubectl'],
  ['helm', 'helm.sh/helm/v3/cmd/helm, by go install'],
] as const

const isThere = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** What is missing, with where it comes from; an empty list when a cluster can be made. */
export function missingParts(): readonly string[] {
  const needsGo = BUILT.some((name) => !existsSync(join(PARTS, name)))
  return [
    ...(process.platform === 'linux' && process.getuid?.() === 0 ? [] : ['root on Linux']),
    ...INSTALLED.filter(([program]) => !isThere(program)).map(([program, from]) => `${program} (${from})`),
    ...(existsSync(join(CNI_PLUGINS, 'bridge')) ? [] : ['the plugins bridge and host-local (containernetworking-plugins)']),
    ...(!isThere('go') ? ['go'] : []),
    ...(needsGo && process.env['CAPKEEPER_CLUSTER_BUILD'] === 'no' ? [`${BUILT.join(', ')} in ${PARTS}`] : []),
  ]
}

/** Builds what is not there yet, at low priority. The module of Kubernetes names its own libraries by folder; a build from outside names their versions. */
export function buildParts(say: (line: string) => void): void {
  mkdirSync(PARTS, { recursive: true })
  const wanted = BUILT.filter((name) => !existsSync(join(PARTS, name)))
  if (wanted.length > 0) writeModule(PARTS)
  for (const name of wanted) {
    say(`building ${name} ${KUBERNETES}`)
    const version = 'k8s.io/component-base/version'
    const [major = '', minor = ''] = KUBERNETES.split('.')
    const flags = [`-X ${version}.gitVersion=v${KUBERNETES}`, `-X ${version}.gitMajor=${major}`, `-X ${version}.gitMinor=${minor}`].join(
      ' ',
    )
    const argv = ['-n', '10', 'go', 'build', '-mod=mod', '-ldflags', flags, '-o', join(PARTS, name), `k8s.io/kubernetes/cmd/${name}`]
    execFileSync('nice', argv, { cwd: PARTS, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  buildPause()
}

function writeModule(folder: string): void {
  const { GoMod } = JSON.parse(
    execFileSync('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${KUBERNETES}`], { cwd: tmpdir(), encoding: 'utf8' }),
  )
  const libraries = [...readFileSync(GoMod, 'utf8').matchAll(/^\t(k8s\.io\/[\w-]+) => \.\/staging/gm)].map(([, name]) => name)
  const of = KUBERNETES.replace(/^1\./, 'v0.')
  const lines = [
    'module example.com/cluster',
    'go 1.25.0',
    `require k8s.io/kubernetes v${KUBERNETES}`,
    ...libraries.map((name) => `replace ${name} => ${name} ${of}`),
  ]
  writeFileSync(join(folder, 'go.mod'), `${lines.join('\n')}\n`)
}

/** The one process of a pod's sandbox, which waits to be ended. */
function buildPause(): void {
  const folder = join(PARTS, 'pause-source')
  if (existsSync(join(PARTS, 'pause'))) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'go.mod'), 'module example.com/pause\ngo 1.21\n')
  writeFileSync(
    join(folder, 'main.go'),
    'package main\n\nimport (\n\t"os"\n\t"os/signal"\n\t"syscall"\n)\n\nfunc main() {\n\tended := make(chan os.Signal, 1)\n\tsignal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)\n\t<-ended\n}\n',
  )
  execFileSync('go', ['build', '-o', join(PARTS, 'pause'), '.'], {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Versions of everything that takes part, for the guide. */
export function versions(): readonly string[] {
  const first = (program: string, ...argv: readonly string[]): string =>
    /\d+\.\d+\.\d+/.exec(spawnSync(program, argv, { encoding: 'utf8' }).stdout)?.[0] ?? 'unknown'
  return [
    `Kubernetes ${KUBERNETES} (API server, controller manager, scheduler, kubelet)`,
    `etcd ${first('etcd', '--version')}`,
    `containerd ${first('containerd', '--version')}`,
    `runc ${first('runc', '--version')}`,
    `kubectl ${first('kubectl', 'version', '--client')}`,
    `Helm ${/v(\d+\.\d+)/.exec(spawnSync('helm', ['version', '--short'], { encoding: 'utf8' }).stdout)?.[1] ?? '3'}`,
  ]
}
