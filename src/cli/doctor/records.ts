// `doctor`'s checks of the ledger's records of one workspace: its binding, open intents, the learned pace, and evidence of how the deployment
// works. It never writes.

import { ASPECTS, addObservation, type LatestEvidence, type Observation, type ServiceEvidence } from '../../core/interpret/evidence.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { seenIn } from '../../daemon/cycle/seen.ts'
import type { LedgerReport, LedgerStore } from '../../daemon/ledger/ledger.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { learnedPaces } from '../shared/ledger/learned-pace.ts'
import { count, shortTime, span } from '../shared/text.ts'
import { failed, notChecked, ok, type Tell, warning } from './check.ts'

/** The ledger of one workspace; undefined when it has no records of it at this address. */
export async function recordsOf(
  store: LedgerStore,
  config: WorkspaceConfig,
  report: LedgerReport,
  tell: Tell,
): Promise<Ledger | undefined> {
  const current = report.workspaces.find((one) => one.workspace === config.name && one.current)
  if (!current) {
    tell('binding', ok(`nothing is recorded of ${config.name} yet`))
    return undefined
  }
  if (current.baseUrl !== '' && config.baseUrl !== '' && current.baseUrl !== config.baseUrl) {
    tell(
      'binding',
      failed(
        `the ledger is bound to ${current.baseUrl}, and the address now is ${config.baseUrl}`,
        'if the workspace has moved, start run or apply with --rebind; else correct --base-url',
      ),
    )
    return undefined
  }
  const { owned, openIntents, quarantined, approvals, history } = current
  const amounts = [
    count(owned, 'cap of ours', 'caps of ours'),
    count(history, 'line of history', 'lines of history'),
    count(approvals, 'approval'),
  ]
  tell('binding', ok(`bound to ${current.baseUrl || 'no address yet'}: ${amounts.join(', ')}`))
  tell(
    'intents',
    openIntents === 0
      ? ok('no write is open')
      : warning(`${count(openIntents, 'write')} without a known end`, 'the next cycle reads what became of it; run the daemon or apply'),
  )
  const ledger = await store.workspace(config.name, undefined)
  const names = ledger.quarantined().map(({ scope, code }) => `${scopeKey(scope)} (${code})`)
  const shown = names.slice(0, 3).join(', ')
  tell(
    'quarantine',
    quarantined === 0
      ? ok('no scope is quarantined')
      : warning(
          `${count(quarantined, 'scope')} left alone: ${shown}${names.length > 3 ? ', …' : ''}`,
          '`capkeeper explain SCOPE` says why',
        ),
  )
  return ledger
}

/** When it was used last, and whether it is paused. */
export async function checkActivity(ledger: Ledger, { clock }: { readonly clock: Clock }, tell: Tell): Promise<void> {
  const now = clock.now()
  const pause = await ledger.pause(now)
  if (pause) tell('pause', warning(`paused until ${shortTime(pause.untilAt)}: ${pause.reason}`, '`capkeeper resume` ends it'))
  const readAt = ledger.fact('usage')?.roster.readAt
  const [last] = await ledger.history({ limit: 1 })
  const wrote = last ? `the last write ${span(now - last.at)} ago` : 'nothing written yet'
  if (readAt === undefined) tell('activity', ok(`no cycle has read people yet, ${wrote}`))
  else tell('activity', ok(`people read ${span(now - readAt)} ago, ${wrote}`))
}

/** The learned pace of each key. */
export function checkPace(ledger: Ledger | undefined, tell: Tell): void {
  const learned = learnedPaces(ledger?.fact('pace')).map(
    ({ key, rate, isMet }) => `${key} ${Number(rate.toFixed(2))}/s${isMet ? ', the limit was met' : ''}`,
  )
  tell('pace', learned.length > 0 ? ok(`requests per second learned: ${learned.join('; ')}`) : notChecked('no rate is learned yet'))
}

const ASPECT_TEXT = {
  caps: 'team and group caps',
  reads: 'reads',
  zero: 'a cap of 0',
  spelling: 'the name of the cap',
  errors: 'errors',
} as const

/** What is recorded together with what doctor itself has just seen in answers. */
export const seenNow = (ledger: Ledger | undefined, observations: readonly Observation[], now: number): ServiceEvidence =>
  observations.reduce<ServiceEvidence>((seen, observation) => addObservation(seen, observation, now), ledger ? seenIn(ledger) : {})

export function checkSeen(seen: ServiceEvidence, { capSemantics }: WorkspaceConfig, now: number, tell: Tell): void {
  for (const aspect of ASPECTS) {
    const finding: LatestEvidence | undefined = seen[aspect]
    if (!finding) continue
    const text = `${ASPECT_TEXT[aspect]}: ${finding.value}, seen ${span(now - finding.at)} ago: ${finding.evidence}`
    const configured = capSemantics === 'layered' ? 'layered' : 'copied'
    if (aspect === 'caps' && finding.value !== configured)
      tell(aspect, warning(text, `capSemantics is ${capSemantics}; set capSemantics: ${finding.value}`))
    else if (finding.before) {
      const { value, at, evidence } = finding.before
      tell(aspect, warning(`${text}; ${span(now - at)} ago it was ${value}: ${evidence}`, 'the deployment changed, or answers unevenly'))
    } else tell(aspect, ok(text))
  }
  const unseen = ASPECTS.filter((aspect) => !seen[aspect]).map((aspect) => ASPECT_TEXT[aspect])
  if (unseen.length > 0) tell('unseen', notChecked(`not seen yet: ${unseen.join(', ')}`))
}
