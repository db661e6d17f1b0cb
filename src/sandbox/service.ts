// The operations of the service as functions over its data, and which permission each needs. Each checks the key first, then the fields, then
// what they name (docs/sandbox.md, Behaviour). Knows nothing of HTTP and faults; refusals are thrown as `Refusal`, and nothing else is thrown.
import type { BalanceAnswer, GetUsageConfigAnswer } from '../api/wire.ts'
import type { Operation } from '../core/model/observed.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { MAX_CAP } from '../core/model/units.ts'

import { analytics } from './analytics/analytics.ts'
import { cascadeAnalytics } from './cascade.ts'
import { type Fields, fieldsOf, flagField, Refusal, textField, wholeField } from './refusal.ts'
import { type Answer, int64, type ServiceContext, userPageAnalytics } from './roster.ts'
import type { Permission, Store, StoredKey } from './store.ts'
import { cycleAt, formatSeconds } from './time.ts'

/** docs/service.md, Requests. */
export const PERMISSION_OF: Readonly<Record<Operation, Permission>> = {
  Analytics: 'Analytics Read',
  UserPageAnalytics: 'Teams Read-only',
  CascadeAnalytics: 'Teams Read-only',
  GetUsageConfig: 'Billing Read',
  UsageConfig: 'Billing Write',
  GetTeamCreditBalance: 'Billing Read',
}

/** The key of a request, checked before the rest of it; 401 when it is missing or unknown. */
export function authenticate(store: Store, body: unknown): StoredKey {
  const secret = fieldsOf(body)['service_key']
  const key = typeof secret === 'string' ? store.key(secret) : undefined
  if (!key) throw new Refusal(401, secret === undefined ? 'missing service key' : 'invalid service key')
  return key
}

/**
 * How a plan without caps refuses, whatever the key may do (docs/service.md, Errors). Choice: a valid read of a cap
 * gets the code for invalid requests, and the others the code for forbidden ones; both codes were seen.
 */
export const WITHOUT_CAPS: Readonly<Partial<Record<Operation, number>>> = {
  GetUsageConfig: 400,
  UsageConfig: 403,
  GetTeamCreditBalance: 403,
}

/** Answers one request with a known key: checks the plan and the permission (403), then calls the operation. */
export function answer(context: ServiceContext, key: StoredKey, operation: Operation, body: unknown): Answer {
  const refusedForGood = context.switches.plan === 'no-caps' ? WITHOUT_CAPS[operation] : undefined
  if (refusedForGood !== undefined) throw new Refusal(refusedForGood, `${operation} is not available for this team`)
  const permission = PERMISSION_OF[operation]
  if (!key.permissions.includes(permission)) throw new Refusal(403, `insufficient permissions: ${operation} needs ${permission}`)
  const fields = fieldsOf(body)
  switch (operation) {
    case 'GetUsageConfig':
      return getUsageConfig(context, key, fields)
    case 'UsageConfig':
      return usageConfig(context, key, fields)
    case 'UserPageAnalytics':
      return userPageAnalytics(context, key, fields)
    case 'GetTeamCreditBalance':
      return getTeamCreditBalance(context)
    case 'CascadeAnalytics':
      return cascadeAnalytics(context, key, fields)
    case 'Analytics':
      return analytics(context, key, fields)
  }
}

/** docs/service.md, GetUsageConfig. */
function getUsageConfig({ caps, switches, store, quirks }: ServiceContext, key: StoredKey, fields: Fields): GetUsageConfigAnswer {
  const scope = scopeOf(store, key, fields)
  const cap = quirks?.staleRead ? caps.readStale(scope) : caps.read(scope)
  if (cap === undefined) return {}
  return {
    addOnCreditCap: switches.capSpelling === 'snake' ? undefined : cap,
    add_on_credit_cap: switches.capSpelling === 'camel' ? undefined : cap,
  }
}

/** docs/service.md, UsageConfig. A cap is 0 to 2147483647 (choice: the range of a 32-bit integer). */
function usageConfig({ caps, switches, store }: ServiceContext, key: StoredKey, fields: Fields): Answer {
  const cap = wholeField(fields, 'set_add_on_credit_cap', MAX_CAP)
  const clear = flagField(fields, 'clear_add_on_credit_cap')
  if (cap !== undefined && clear) throw new Refusal(400, 'only one of set_add_on_credit_cap and clear_add_on_credit_cap may be given')
  if (cap === undefined && !clear) throw new Refusal(400, 'one of set_add_on_credit_cap and clear_add_on_credit_cap is required')
  if (cap === 0 && switches.zeroCap === 'rejected') throw new Refusal(400, 'set_add_on_credit_cap must be greater than 0')
  caps.write(scopeOf(store, key, fields), cap)
  return switches.writeBody === 'empty' ? undefined : {}
}

/**
 * Exactly one of the three scope fields must be given (400), and the scope must exist (404). A key limited to one group gets 403 for any
 * other scope. E-mails are compared trimmed and without regard to case. Choices.
 */
function scopeOf(store: Store, key: StoredKey, fields: Fields): Scope {
  const groupId = textField(fields, 'group_id')
  const email = textField(fields, 'user_email')
  const scopes = [
    ...(flagField(fields, 'team_level') ? [TEAM] : []),
    ...(groupId === undefined ? [] : [groupScope(groupId)]),
    ...(email === undefined ? [] : [userScope(email)]),
  ]
  const [scope] = scopes
  if (!scope) throw new Refusal(400, 'no scope: one of team_level, group_id and user_email is required')
  if (scopes.length > 1) throw new Refusal(400, 'more than one scope: only one of team_level, group_id and user_email may be given')
  requireKnown(store, scope)
  if (key.groupId !== undefined && !isWithin(store, key.groupId, scope)) {
    throw new Refusal(403, 'insufficient permissions: this service key is limited to one group')
  }
  return scope
}

function requireKnown(store: Store, scope: Scope): void {
  if (scope.kind === 'group' && !store.groups().some((group) => group.id === scope.id)) throw new Refusal(404, 'invalid group id')
  if (scope.kind === 'user' && !store.person(scope.email)) throw new Refusal(404, 'invalid user e-mail')
}

function isWithin(store: Store, groupId: string, scope: Scope): boolean {
  if (scope.kind === 'team') return false
  if (scope.kind === 'group') return scope.id === groupId
  const person = store.person(scope.email)
  return person !== undefined && store.members(groupId).has(person.id)
}

/**
 * docs/service.md, GetTeamCreditBalance. Add-on use is each person's use in the cycle beyond their seat's credits, summed over all rows and
 * rounded once to whole credits. Without an enterprise plan: 403 (choice), the error that the interface names.
 */
function getTeamCreditBalance({ store, switches, now }: ServiceContext): BalanceAnswer {
  if (switches.plan === 'team') throw new Refusal(403, 'plan without the feature: GetTeamCreditBalance needs an enterprise-tier plan')
  const cycle = cycleAt(now)
  const perSeat = store.meta('creditsPerSeat') ?? 0
  const used = store.usedCents({ fromAt: cycle.startAt, untilAt: now })
  const addOnCents = used.values().reduce((sum, cents) => sum + Math.max(0, cents - perSeat * 100), 0)
  const figures = {
    promptCreditsPerSeat: perSeat,
    numSeats: store.meta('seats') ?? 0,
    addOnCreditsAvailable: store.meta('addOnAvailable') ?? 0,
    addOnCreditsUsed: Math.round(addOnCents / 100),
  }
  const shown = Object.entries(figures).filter(([, value]) => value !== 0 || switches.zeros === 'kept')
  return {
    ...Object.fromEntries(shown.map(([name, value]) => [name, int64(value, switches)])),
    billingCycleStart: formatSeconds(cycle.startAt),
    billingCycleEnd: formatSeconds(cycle.endAt),
  }
}
