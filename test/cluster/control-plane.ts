// Starts a whole Kubernetes of one node inside namespaces of its own (network, mounts, processes), which end with it: etcd, API server, controller
// manager, scheduler, containerd and kubelet. It listens on loopback and on addresses of that network alone, and knows nothing of capkeeper.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../support/real-clock.ts'
import { IMAGES } from './images.ts'
import { CNI_PLUGINS, PARTS } from './parts.ts'

const clock = realClock()

const API = 'https://127.0.0.1:6443'
const NODE_ADDRESS = '10.99.0.1'
const TOKEN = 'admin-of-a-cluster-that-ends-with-the-test'
/** Generous: other work of the machine may hold it up. */
const WITHIN_MS = 240_000

/** A cluster that runs. */
export interface Cluster {
  readonly kubeconfig: string
  /** Takes an image archive onto the node. */
  load(file: string): void
  /** The last lines that each part wrote, for when something went wrong. */
  logs(): string
  stop(): Promise<void>
}

interface Part {
  readonly name: string
  readonly child: ChildProcess
  readonly log: string
}

/** Starts all parts and waits until the node is ready. `folder` holds everything that they write. */
export async function startCluster(folder: string, say: (line: string) => void): Promise<Cluster> {
  const parts: Part[] = []
  const start = (name: string, program: string, argv: readonly string[]): void => {
    const log = join(folder, `${name}.log`)
    // Into a file at once: the scenes keep this process busy, and a part whose pipe is full stands still.
    const file = openSync(log, 'w')
    const child = spawn(program, [...argv], { stdio: ['ignore', file, file] })
    closeSync(file)
    parts.push({ name, child, log })
  }
  network()
  const kubeconfig = writeFiles(folder)
  start('etcd', 'etcd', ['--data-dir', join(folder, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'])
  start('apiserver', join(PARTS, 'kube-apiserver'), apiServerFlags(folder))
  const kubectl = (...argv: readonly string[]) => spawnSync('kubectl', ['--kubeconfig', kubeconfig, ...argv], { encoding: 'utf8' })
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    const end = clock.monotonic() + WITHIN_MS
    while (!isSo()) {
      const ended = parts.find(({ child }) => child.exitCode !== null)
      if (ended || clock.monotonic() > end)
        throw new Error(`${ended ? `${ended.name} ended before` : 'in vain waited for'} ${what}\n${tails(parts)}`)
      await clock.sleep(500)
    }
    say(`${what}`)
  }
  await until('API server ready', () => kubectl('get', '--raw', '/readyz').status === 0)
  const common = ['--kubeconfig', kubeconfig, '--leader-elect=false']
  const accounts = ['--service-account-private-key-file', join(folder, 'sa.key'), '--root-ca-file', join(folder, 'certs/apiserver.crt')]
  start('controller-manager', join(PARTS, 'kube-controller-manager'), [
    ...common,
    ...accounts,
    '--authentication-kubeconfig',
    kubeconfig,
    '--authorization-kubeconfig',
    kubeconfig,
  ])
  start('scheduler', join(PARTS, 'kube-scheduler'), [
    ...common,
    '--authentication-kubeconfig',
    kubeconfig,
    '--authorization-kubeconfig',
    kubeconfig,
  ])
  start('containerd', 'containerd', ['--config', join(folder, 'containerd.toml')])
  const ctr = (...argv: readonly string[]) =>
    spawnSync('ctr', ['--address', join(folder, 'containerd.sock'), '--namespace', 'k8s.io', ...argv], { encoding: 'utf8' })
  await until('containerd ready', () => ctr('version').status === 0)
  start('kubelet', join(PARTS, 'kubelet'), [
    '--kubeconfig',
    kubeconfig,
    '--config',
    join(folder, 'kubelet.yaml'),
    '--node-ip',
    NODE_ADDRESS,
    '--hostname-override',
    'node1',
    '--root-dir',
    join(folder, 'kubelet'),
    '--cert-dir',
    join(folder, 'kubelet/pki'),
  ])
  start('dns', process.execPath, ['--no-warnings', join(import.meta.dirname, 'dns.ts'), NODE_ADDRESS, API, TOKEN])
  await until(
    'node ready',
    () => kubectl('get', 'node', 'node1', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}').stdout === 'True',
  )
  // The taint of a node that is not ready goes some moments after it is.
  await until('node open for pods', () => kubectl('get', 'node', 'node1', '-o', 'jsonpath={.spec.taints}').stdout === '')
  return {
    kubeconfig,
    load(file) {
      const { status, stderr } = ctr('images', 'import', file)
      if (status !== 0) throw new Error(`ctr images import ${file}: ${stderr}`)
    },
    logs: () => tails(parts),
    async stop() {
      for (const { child } of parts.toReversed()) {
        child.kill('SIGTERM')
        await Promise.race([new Promise((resolve) => child.once('exit', resolve)), clock.sleep(5_000)])
      }
    },
  }
}

const tails = (parts: readonly Part[]): string =>
  parts.map(({ name, log }) => `== ${name}\n${readFileSync(log, 'utf8').split('\n').slice(-12).join('\n')}`).join('\n')

/** Loopback, and an address of the node; pods come onto a bridge of their own. */
function network(): void {
  const ip = (...argv: readonly string[]): void => void execFileSync('ip', [...argv])
  ip('link', 'set', 'lo', 'up')
  ip('link', 'add', 'node0', 'type', 'bridge')
  ip('address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'node0')
  ip('link', 'set', 'node0', 'up')
  // The API server will not start without a default route; it leads nowhere.
  ip('route', 'add', 'default', 'dev', 'node0')
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
}

const apiServerFlags = (folder: string): readonly string[] => [
  '--etcd-servers=http://127.0.0.1:2379',
  `--cert-dir=${join(folder, 'certs')}`,
  '--bind-address=127.0.0.1',
  '--secure-port=6443',
  `--advertise-address=${NODE_ADDRESS}`,
  '--endpoint-reconciler-type=none',
  '--service-cluster-ip-range=10.98.0.0/24',
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${join(folder, 'sa.pub')}`,
  `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
  `--token-auth-file=${join(folder, 'tokens.csv')}`,
  '--authorization-mode=RBAC',
  '--kubelet-preferred-address-types=InternalIP',
]

/** Every file that a part reads; gives the kubeconfig. */
function writeFiles(folder: string): string {
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  for (const name of ['etcd', 'certs', 'cni', 'kubelet']) mkdirSync(join(folder, name), { mode: 0o700 })
  execFileSync('openssl', ['genrsa', '-out', join(folder, 'sa.key'), '2048'], { stdio: 'ignore' })
  execFileSync('openssl', ['rsa', '-in', join(folder, 'sa.key'), '-pubout', '-out', join(folder, 'sa.pub')], { stdio: 'ignore' })
  put('tokens.csv', `${TOKEN},admin,admin,system:masters\n`)
  put('resolv.conf', '')
  put('containerd.toml', containerdConfig(folder))
  put('kubelet.yaml', kubeletConfig(folder))
  put('cni/10-bridge.conflist', JSON.stringify(CNI))
  return put(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: API, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'admin', user: { token: TOKEN } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
      'current-context': 'test',
    }),
  )
}

const CNI = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.97.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
}

const containerdConfig = (folder: string): string => `version = 2
root = "${folder}/containerd"
state = "${folder}/containerd-state"
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${IMAGES.pause}"
  # Some machines take away the right to be spared by the kernel's killer.
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "${CNI_PLUGINS}"
  conf_dir = "${folder}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`

/** Small and quick: changed ConfigMaps and secrets arrive within seconds, and no cgroup of the machine is managed. */
const kubeletConfig = (folder: string): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${folder}/containerd.sock`,
    address: NODE_ADDRESS,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [NODE_ADDRESS],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    evictionHard: { 'memory.available': '1Mi' },
    imageGCHighThresholdPercent: 100,
    syncFrequency: '5s',
    readOnlyPort: 0,
    volumePluginDir: join(folder, 'plugins'),
  })
