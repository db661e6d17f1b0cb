// `doctor`'s checks of what the workspace's plan of the service offers: balance, add-on use, people, groups, agent analytics.

import type { ServiceReader } from '../../api/client.ts'
import type { KeyProbe } from '../../api/probe.ts'
import type { Roster } from '../../core/model/observed.ts'
import type { PolicySet } from '../../core/model/policy.ts'
import { DAY_MS } from '../../core/model/units.ts'
import { RANGE_DAYS, requestsOf } from '../../core/use/history.ts'
import { failureOf } from '../../daemon/collect/asking.ts'
import { historyPlan, wantedDays } from '../../daemon/collect/history.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import type { Ledger } from '../../ports.ts'
import { slowestPace } from '../shared/ledger/replica.ts'
import { count, people, span } from '../shared/text.ts'
import { failed, notChecked, ok, type Tell, warning } from './check.ts'

interface PlanInputs {
  /** Readers whose keys may have the permission; undefined where none has it. */
  readonly teams: ServiceReader | undefined
  readonly billing: ServiceReader | undefined
  readonly analytics: Pick<KeyProbe, 'tellsAddOn'> | undefined
  /** Set when the workspace has no caps, whatever the key. */
  readonly capless: ServiceReader | undefined
  /** Absent while the policies are invalid or none are given. */
  readonly set: PolicySet | undefined
  readonly ledger: Ledger | undefined
  readonly config: Pick<WorkspaceConfig, 'name' | 'rate' | 'usageLagMs' | 'historyDays'>
  readonly now: number
  readonly signal: AbortSignal
}

/** Tries one request of each kind. Resolves with the roster when it could be read; rejects only when `signal` aborts. */
export async function checkPlan(inputs: PlanInputs, tell: Tell): Promise<Roster | undefined> {
  const { teams, billing, analytics, capless, signal } = inputs
  const attempt = async (name: string, ask: () => Promise<void>, grave = failed): Promise<void> => {
    try {
      await ask()
    } catch (error) {
      signal.throwIfAborted()
      tell(name, grave(failureOf(error).message))
    }
  }
  if (capless) tell('caps', NO_CAPS)
  const balanceReader = billing ?? capless
  if (balanceReader) await attempt('balance', () => checkBalance(balanceReader, signal, tell))
  else tell('balance', notChecked('the credit balance: no key may read it'))
  if (analytics) await attempt('addOnUse', () => checkAddOn(analytics, inputs, tell), warning)
  else tell('addOnUse', notChecked('add-on use by person: no key may read it; it is estimated'))
  if (!teams) {
    tell('people', notChecked('people, groups and agent analytics: no key may read them'))
    return undefined
  }
  let roster: Roster | undefined
  await attempt('people', async () => {
    roster = await teams.readRoster(signal)
    checkPeople(roster, tell)
  })
  await checkGroups(teams, inputs, tell)
  let hasCredits = true
  await attempt('agentCredits', async () => {
    hasCredits = await checkRuns(teams, inputs, tell)
  })
  const listed = roster
  if (!hasCredits) tell('past', warning('the past of people is not told: runs carry no credits on this plan'))
  else if (listed) await attempt('past', () => checkPast(teams, listed, inputs, tell), warning)
  return roster
}

const NO_CAPS = failed(
  'this workspace has no caps, whatever the key: none can be read or set; people, use and reports go on',
  'another plan of the service has them; until then mode: audit keeps measuring',
)

async function checkAddOn(key: Pick<KeyProbe, 'tellsAddOn'>, { now, signal }: PlanInputs, tell: Tell): Promise<void> {
  const isTold = await key.tellsAddOn(now, signal)
  tell('addOnUse', ok(isTold ? 'add-on use by person is told, so it is measured' : 'add-on use by person is not told, so it is estimated'))
}

async function checkBalance(reader: ServiceReader, signal: AbortSignal, tell: Tell): Promise<void> {
  const balance = await reader.readBalance(signal)
  if (balance === 'unavailable') {
    const effect = 'use beyond the seat is an upper bound where it is not measured, and maxRaise and forecasts of the balance are off'
    return tell(
      'balance',
      warning(`this plan has no credit balance: ${effect}`, 'an enterprise-tier plan has it; nothing else depends on it'),
    )
  }
  tell('balance', ok(`the credit balance is there: ${count(balance.seats, 'seat')}, ${balance.addOnAvailable} add-on credits`))
}

function checkPeople(roster: Roster, tell: Tell): void {
  if (roster.people.length === 0) {
    tell('people', failed('the roster came without anybody', 'is the key limited to a group that is empty?'))
    return
  }
  tell('people', ok(`${people(roster.people.length)} on the roster`))
  const counted = roster.people.filter(({ used }) => used !== undefined).length
  const none = warning('the roster tells no credits used', 'nobody can be seen near their cap')
  tell('use', counted > 0 ? ok('the roster tells the credits used') : none)
}

/** A declared name that the service does not know is the commonest mistake of a first policy. */
async function checkGroups(reader: ServiceReader, { set, signal }: PlanInputs, tell: Tell): Promise<void> {
  let known = 0
  for (const { scope, name } of set?.groups ?? []) {
    try {
      await reader.readGroup({ id: scope.id, name }, signal)
      known += 1
    } catch (error) {
      signal.throwIfAborted()
      const { kind, message } = failureOf(error)
      const way = `correct the name beside id ${scope.id} in the policy; it must be the group's name on the service`
      tell(`group ${scope.id}`, failed(`${name} (${scope.id}): ${message}`, kind === 'not_found' ? way : undefined))
    }
  }
  if (known > 0) tell('groups', ok(`the service knows ${count(known, 'declared group')} by name`))
}

/** Returns whether runs may carry credits. */
async function checkRuns(reader: ServiceReader, { now, signal }: PlanInputs, tell: Tell): Promise<boolean> {
  const { rows: runs } = await reader.readRuns({ fromAt: (Math.floor(now / DAY_MS) - 29) * DAY_MS }, signal)
  if (runs.length === 0) tell('agentCredits', notChecked('agent analytics: nobody used an agent in the last 30 days'))
  else if (runs.some(({ used }) => used !== undefined)) tell('agentCredits', ok('agent analytics tell the credits used by model'))
  else tell('agentCredits', warning('agent analytics tell no credits on this plan: use by model is not known'))
  return runs.length === 0 || runs.some(({ used }) => used !== undefined)
}

/** Past days that are meant where the config turns them off. */
const PAST_DAYS = 180

/** What of the past the service tells, and what reading it costs. Somebody whom nobody knows must have no runs. */
async function checkPast(reader: ServiceReader, roster: Roster, { ledger, config, now, signal }: PlanInputs, tell: Tell): Promise<void> {
  const fromAt = (Math.floor(now / DAY_MS) - 29) * DAY_MS
  const ofNobody = await reader
    .readRuns({ fromAt, email: `nobody-${now.toString(36)}@capkeeper.invalid` }, signal)
    .catch((error: unknown) => {
      signal.throwIfAborted()
      const { kind } = failureOf(error)
      if (kind === 'not_found' || kind === 'invalid') return { rows: [] }
      throw error
    })
  if (ofNobody.rows.length > 0) {
    const why = 'the past of people is not told: a question about one person is answered with the use of others'
    return tell('past', warning(why, 'only the past of the team and of groups is known'))
  }
  const days = config.historyDays || PAST_DAYS
  const wanted = wantedDays(now, days)
  const plan = ledger && (await historyPlan({ ledger, clock: { now: () => now }, config }, { roster, wanted }))
  const requests = plan ? requestsOf(plan).people : roster.people.length * Math.ceil(days / RANGE_DAYS)
  const rate = slowestPace(ledger?.fact('pace'), config.rate.start)
  const pace = `about ${span((requests / rate) * 1_000)} at ${Number(rate.toPrecision(2))} a second`
  const cost = `reading ${days} days takes ${count(requests, 'request')} at most, ${pace}`
  tell('past', ok(`the past of people is told by day: ${requests === 0 ? 'all of it is known' : cost}`))
}
