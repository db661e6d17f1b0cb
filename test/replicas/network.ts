// The network of one replica: that of the machine, or a namespace of the kernel, joined to the machine by a pair of interfaces, in which
// packets can be lost. The kernel sends lost packets again at growing intervals, also after the process has given up. Only root can make
// one.
import { execFileSync } from 'node:child_process'
import { now } from './time.ts'

/** `all`: nothing arrives. `answers`: requests arrive, and no answer returns. */
export type Loss = 'all' | 'answers'

export interface Network {
  /** The address where the machine listens for the replica. */
  readonly machine: string
  /** The address where the replica listens. */
  readonly replica: string
  /** The command that starts a program in it. */
  started(program: string, argv: readonly string[]): readonly [program: string, argv: readonly string[]]
  /** Loses packets to and from these ports of the machine; an empty list ends it. */
  lose(ports: readonly number[], loss?: Loss): void
  /**
   * When bytes may have left that arrived `at`, on a connection that was opened `openedAt`: lost packets are sent again within twice the
   * time that the loss has lasted, because the kernel doubles its waits.
   */
  leftAt(at: number, openedAt: number): number
  close(): void
}

const LOOPBACK = '127.0.0.1'

/** No packets get lost on it. */
export const machineNetwork: Network = {
  machine: LOOPBACK,
  replica: LOOPBACK,
  started: (program, argv) => [program, argv],
  lose() {
    throw new Error('packets get lost in a network namespace only')
  },
  leftAt: (at) => at,
  close() {},
}

const ip = (...argv: readonly string[]): void => void execFileSync('ip', argv, { stdio: 'pipe' })

/** Whether this machine and this user can have network namespaces with a packet filter: makes one, and removes it. */
export function canLosePackets(): boolean {
  const name = `capkeeper-${process.pid}`
  try {
    ip('netns', 'add', name)
    execFileSync('ip', ['netns', 'exec', name, 'iptables', '-w', '-A', 'INPUT', '-p', 'tcp', '--sport', '1', '-j', 'DROP'], {
      stdio: 'pipe',
    })
    return true
  } catch {
    return false
  } finally {
    removed(name)
  }
}

function removed(name: string): void {
  try {
    ip('netns', 'del', name)
  } catch {
    // It did not exist.
  }
}

/** Makes the namespace of a place; addresses are of the block for tests of networks (RFC 2544). */
export function openNetwork(place: number): Network {
  const name = `capkeeper-${process.pid}-${place}`
  const outside = `ck${process.pid % 100_000}-${place}`
  const block = `198.18.${process.pid % 256}`
  const [machine, replica] = [`${block}.${4 * place + 1}`, `${block}.${4 * place + 2}`]
  const close = (): void => {
    process.off('exit', close)
    removed(name)
  }
  process.once('exit', close)
  ip('netns', 'add', name)
  ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'machine', 'netns', name)
  ip('addr', 'add', `${machine}/30`, 'dev', outside)
  ip('link', 'set', outside, 'up')
  ip('-n', name, 'addr', 'add', `${replica}/30`, 'dev', 'machine')
  ip('-n', name, 'link', 'set', 'machine', 'up')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  const rules = (...argv: readonly string[]): void => ip('netns', 'exec', name, 'iptables', '-w', ...argv)
  let lost: { readonly fromAt: number; readonly untilAt: number } | undefined
  return {
    machine,
    replica,
    started: (program, argv) => ['ip', ['netns', 'exec', name, program, ...argv]],
    lose(ports, loss = 'all') {
      rules('-F')
      for (const port of ports.map(String)) {
        rules('-A', 'INPUT', '-p', 'tcp', '--sport', port, '-j', 'DROP')
        if (loss === 'all') rules('-A', 'OUTPUT', '-p', 'tcp', '--dport', port, '-j', 'DROP')
      }
      if (ports.length > 0) lost = { fromAt: now(), untilAt: Number.POSITIVE_INFINITY }
      else if (lost) lost = { ...lost, untilAt: now() }
    },
    leftAt(at, openedAt) {
      if (!lost || openedAt > lost.untilAt || at < lost.fromAt) return at
      return at <= lost.untilAt + 2 * (lost.untilAt - lost.fromAt) ? Math.max(openedAt, lost.fromAt) : at
    },
    close,
  }
}
