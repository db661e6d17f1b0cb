// The configuration of a daemon after loading, for tests that start one without files.
import { DEFAULT_GUARDS } from '../../src/core/model/change.ts'
import type { Config, WorkspaceConfig } from '../../src/daemon/config/settings.ts'

const MINUTE = 60_000

export const workspaceConfig = (name: string, more: Partial<WorkspaceConfig> = {}): WorkspaceConfig => ({
  name,
  baseUrl: 'http://sandbox',
  keys: { default: { env: 'KEY' } },
  policies: ['policies'],
  mode: 'enforce',
  capSemantics: 'layered',
  capReads: 'auto',
  approvals: 'separate',
  intervalMs: 5 * MINUTE,
  usageIntervalMs: 15 * MINUTE,
  usageLagMs: 210 * MINUTE,
  onDrift: 'heal',
  prune: true,
  undeclaredUsers: 'ignore',
  guards: DEFAULT_GUARDS,
  rate: { start: 100, max: 100, concurrency: 8 },
  ...more,
})

export const configOf = (...workspaces: readonly WorkspaceConfig[]): Config => ({
  listen: { host: '127.0.0.1', port: 0 },
  people: 'email',
  ledger: ':memory:',
  approvals: 'separate',
  metrics: { perUser: 'off', userLabel: 'hash' },
  workspaces,
})
