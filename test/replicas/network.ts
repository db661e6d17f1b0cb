// Where one replica lives: on the machine itself, or in a network namespace of the kernel, joined to the machine by one pair of interfaces, in which
// packets can get lost. Lost ones are sent again by the kernel, later and later, also after the process has given up. Only root can make one.
import { execFileSync } from 'node:child_process'
import { now } from './time.ts'

/** `all`: nothing comes through. `answers`: what is sent arrives, and nothing comes back. */
export type Loss = 'all' | 'answers'

export interface Network {
  /** Where the machine listens for the replica. */
  readonly machine: string
  /** Where the replica listens. */
  readonly replica: string
  /** How a program is started in it. */
  started(program: string, argv: readonly string[]): readonly [program: string, argv: readonly string[]]
  /** Packets to and from these ports of the machine get lost, until none are named any more. */
  lose(ports: readonly number[], loss?: Loss): void
  /**
   * When bytes may have left that came in `at`, on a connection that was opened `openedAt`: what was lost is sent again within twice the time that the
   * loss has lasted, because the kernel doubles its waits.
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
    // It was not made.
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
