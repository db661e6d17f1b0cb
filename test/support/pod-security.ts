// The Pod Security Standard "restricted", rule by rule, for the pods of this repository:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec'

type Container = IPodSpec['containers'][number]

const VOLUMES = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret']
const PROFILES = ['RuntimeDefault', 'Localhost']

/** Why a namespace that enforces the standard would refuse a pod; empty when it would not. */
export function restrictedOffences(pod: IPodSpec): readonly string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers]
  const hosts = [pod.hostNetwork && 'hostNetwork', pod.hostPID && 'hostPID', pod.hostIPC && 'hostIPC']
  const kinds = (pod.volumes ?? []).flatMap(({ name, ...source }) => Object.keys(source).map((kind) => ({ name, kind })))
  return [
    ...hosts.filter((host) => typeof host === 'string').map((host) => `the pod has ${host}`),
    ...(pod.securityContext?.sysctls?.length ? ['the pod sets sysctls'] : []),
    ...(pod.securityContext?.runAsUser === 0 ? ['the pod runs as root'] : []),
    ...kinds.filter(({ kind }) => !VOLUMES.includes(kind)).map(({ name, kind }) => `the volume ${name} is a ${kind}`),
    ...containers.flatMap((container) => containerOffences(container, pod).map((what) => `${container.name} ${what}`)),
  ]
}

function containerOffences({ securityContext: own, ports }: Container, { securityContext: shared }: IPodSpec): readonly string[] {
  const profile = own?.seccompProfile?.type ?? shared?.seccompProfile?.type
  const rules: readonly (readonly [isKept: boolean, what: string])[] = [
    [own?.privileged !== true, 'is privileged'],
    [own?.allowPrivilegeEscalation === false, 'may gain privileges'],
    [own?.capabilities?.drop?.includes('ALL') === true, 'keeps capabilities'],
    [(own?.capabilities?.add ?? []).every((name) => name === 'NET_BIND_SERVICE'), 'adds capabilities'],
    [(own?.runAsNonRoot ?? shared?.runAsNonRoot) === true, 'may run as root'],
    [own?.runAsUser !== 0, 'runs as root'],
    [profile !== undefined && PROFILES.includes(profile), 'has no seccomp profile'],
    [own?.procMount === undefined || own.procMount === 'Default', 'unmasks /proc'],
    [(ports ?? []).every(({ hostPort }) => hostPort === undefined), 'takes a port of the node'],
  ]
  return rules.flatMap(([isKept, what]) => (isKept ? [] : [what]))
}
