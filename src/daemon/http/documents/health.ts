// How the daemon runs one workspace: the service model with its evidence, requests, the age of readings, and settings.

import { serviceModel } from '../../../core/interpret/service-model.ts'
import { GUARD_CODES } from '../../../core/model/change.ts'
import { guardText } from '../../../core/plan/reviewed.ts'
import { medianMs, type RequestsOf } from '../../conditions/requests.ts'
import { seenEntries } from '../status/status.ts'
import type { DaemonFacts, Showing, WorkspaceFacts } from './facts.ts'
import { headOf, ratio, rfc3339 } from './show.ts'
import { daemonPart, historyOf, stateOf, warningTexts } from './summary.ts'
import type { HealthDocument } from './types.ts'

export function healthDocument(facts: WorkspaceFacts, daemon: DaemonFacts, showing: Showing): HealthDocument {
  const { view, settings, readings } = facts
  const { people } = showing
  const { pause: _, ...lasting } = stateOf(view, showing)
  const { copying, ...model } = serviceModel(settings ?? { capSemantics: 'layered' }, view.seen ?? {})
  const managed = view.scopes.flatMap(({ state, readAt }) => (state === 'skipped' || readAt === undefined ? [] : [readAt]))
  const failed = [...(readings?.values() ?? [])].filter(({ failure }) => failure !== undefined).length
  const oldest = managed.reduce<number | undefined>((least, at) => (least === undefined || at < least ? at : least), undefined)
  return {
    ...headOf('Health', showing),
    workspace: view.workspace,
    ...daemonPart(daemon),
    ...lasting,
    ...(view.ratePerSecond !== undefined && { ratePerSecond: ratio(view.ratePerSecond) }),
    ...(view.history && { history: historyOf(view.history) }),
    ...(view.clockSkewMs !== undefined && { clockSkewSeconds: view.clockSkewMs / 1000 }),
    model: { ...model, ...(copying !== undefined && { copying: people.text(copying) }) },
    seen: seenEntries(view.seen ?? {}, people),
    operations: (facts.requests ?? []).map(operationEntry),
    unread: failed,
    ...(oldest !== undefined && { oldestReadingAt: rfc3339(oldest) }),
    settings: settingsOf(facts),
    warnings: warningTexts(view, showing),
    replicas: (daemon.replicas ?? []).map(({ name, isHere }) => ({
      name: people.text(name),
      ...(isHere && { version: daemon.version }),
      keeps: view.lease?.holder === name,
    })),
  }
}

function operationEntry(one: RequestsOf): HealthDocument['operations'][number] {
  const { operation, requests, failed, lastFailure } = one
  const median = medianMs(one)
  return {
    operation,
    requests,
    failed,
    ...(lastFailure && { lastFailure: { at: rfc3339(lastFailure.at), outcome: lastFailure.outcome } }),
    ...(median !== undefined && { medianMs: Math.round(median * 10) / 10 }),
  }
}

function settingsOf({ settings }: WorkspaceFacts): HealthDocument['settings'] {
  return {
    interval: (settings?.intervalMs ?? 0) / 1000,
    usageInterval: (settings?.usageIntervalMs ?? 0) / 1000,
    capSemantics: settings?.capSemantics ?? '',
    capReads: settings?.capReads ?? 'auto',
    onDrift: settings?.onDrift ?? '',
    prune: settings?.prune ?? false,
    approvals: settings?.approvals ?? 'separate',
    guards: settings ? Object.fromEntries(GUARD_CODES.map((name) => [name, guardText(name, settings.guards[name])])) : {},
  }
}
