// The permissions that each key holds, compared with its uses. A key shows by its name and its source, never by its text.
import { type KeyName, type KeySources, keyNameFor } from '../../api/keys.ts'
import type { Holding, KeyProbe, ProbedKey } from '../../api/probe.ts'
import { PERMISSION_NAME, PERMISSIONS, type Permission } from '../../api/wire.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { present } from '../shared/text.ts'
import { type CheckStatus, type Finding, failed, notChecked, ok, type Tell, warning } from './check.ts'

/** The permissions of one key. */
export type KeyReport = ReturnType<typeof reportOf>

interface KeyInputs {
  readonly config: WorkspaceConfig
  readonly keys: readonly ProbedKey[]
  /** False: a refusal says nothing about permissions here. */
  readonly keyFirst: boolean
  readonly now: number
  readonly signal: AbortSignal
}

type Held = Readonly<Record<Permission, Holding>>

/** Tries each key, and reports on each. Rejects only when `signal` aborts. */
export async function checkKeys(inputs: KeyInputs, tell: Tell) {
  const { config, keys, keyFirst, now, signal } = inputs
  const held = new Map<KeyProbe, Held>()
  const unclear: Holding = { kind: 'unclear', message: 'this service checks a request before its key, so a refusal says nothing' }
  for (const key of keys) {
    if ('problem' in key) continue
    const [analyticsRead, teamsRead] = [await key.mayRead('analyticsRead', now, signal), await key.mayRead('teamsRead', now, signal)]
    const billingRead = await key.mayRead('billingRead', now, signal)
    const mayWrite = keyFirst ? await key.mayWrite(signal) : unclear
    // A workspace without caps refuses every key.
    const isOfPlan = billingRead.lacksFeature && mayWrite.kind === 'lacking'
    const billingWrite: Holding = isOfPlan ? { ...mayWrite, kind: 'unclear', lacksFeature: true } : mayWrite
    const found = { analyticsRead, teamsRead, billingRead, billingWrite }
    held.set(key, found)
    const odd = `the service accepted a write of ${key.names.join(', ')} that named no cap, for nobody`
    if (found.billingWrite.accepted) tell('oddWrite', warning(odd, 'look at the caps, and tell whoever runs the service'))
  }
  const reports = keys.map((key) => {
    const found = 'problem' in key ? undefined : held.get(key)
    const report = reportOf(key, config, found)
    const names = key.names.join(', ')
    if ('problem' in key) tell(names, failed(`${names}: ${key.problem}`, 'write the key there, or correct keys'))
    else tell(names, judge(report, found, config))
    return report
  })
  for (const permission of PERMISSIONS.filter((one) => !keyNameFor(config.keys, one))) {
    const message = `no key is configured for ${PERMISSION_NAME[permission]}`
    tell(permission, lack(permission, config, message, `set keys.${permission} or keys.default`))
  }
  const usedFor = (permission: Permission, passes: (found: Held) => boolean): KeyProbe | undefined =>
    held.entries().find(([key, found]) => isFor(key, permission, config) && passes(found))?.[0]
  return {
    reports,
    /** The key for a permission, unless it was found to lack it. A key whose permission is unclear is tried again by its real use. */
    able: (permission: Permission) => usedFor(permission, (found) => mayBeAsked(found[permission])),
    /** The key that reads caps, when the workspace itself has no caps, whatever the key. */
    capless: usedFor('billingRead', ({ billingRead }) => billingRead.lacksFeature === true),
  }
}

/** Whether the configuration uses the key for a permission. */
const isFor = ({ names }: Pick<KeyProbe, 'names'>, permission: Permission, { keys }: WorkspaceConfig): boolean =>
  names.some((name) => name === keyNameFor(keys, permission))

const sourceOf = (source: KeySources[KeyName]): string =>
  !source ? '' : 'file' in source ? `file ${source.file}` : `environment variable ${source.env}`

function reportOf({ names }: ProbedKey, config: WorkspaceConfig, held: Held | undefined) {
  const { keys } = config
  const [first = 'default'] = names
  return {
    names,
    /** `file PATH` or `environment variable NAME`. */
    source: [...new Set(names.map((name) => sourceOf(keys[name])))].join(', ') || sourceOf(keys[first]),
    /** The permissions that the configuration uses it for. */
    uses: PERMISSIONS.filter((permission) => isFor({ names }, permission, config)),
    permissions: held && {
      analyticsRead: held.analyticsRead.kind,
      teamsRead: held.teamsRead.kind,
      billingRead: held.billingRead.kind,
      billingWrite: held.billingWrite.kind,
    },
  }
}

const listed = (permissions: readonly Permission[]): string => permissions.map((one) => PERMISSION_NAME[one]).join(', ')

/** A missing permission counts more than an unclear one, and that more than one too many. */
function judge(report: KeyReport, held: Held | undefined, config: WorkspaceConfig): Finding {
  const name = `${report.names.join(', ')} (${report.source})`
  if (!held) return notChecked(`${name}: not asked`)
  const kinds = (kind: Holding['kind']): readonly Permission[] => PERMISSIONS.filter((one) => held[one].kind === kind)
  const [has, lacks, unclear] = [kinds('held'), kinds('lacking'), kinds('unclear')]
  const parts = present(
    has.length > 0 && `holds ${listed(has)}`,
    has.length + unclear.length === 0 && 'holds nothing',
    lacks.length > 0 && lacks.length < PERMISSIONS.length && `lacks ${listed(lacks)}`,
    unclear.length > 0 && `could not tell ${listed(unclear)}`,
  )
  const text = `${name} ${parts.join('; ')}`
  if (lacks.length === PERMISSIONS.length)
    return failed(`${text}; ${held.billingRead.message ?? 'refused'}`, 'is it the right key, and still valid?')
  const gravity = (one: Permission): CheckStatus => lack(one, config, '', '').status
  const missing = report.uses.filter((one) => lacks.includes(one) && gravity(one) !== 'ok')
  // What the workspace itself lacks is no fault of the key; the checks of the plan say it.
  const doubts = report.uses.filter((one) => unclear.includes(one) && !held[one].lacksFeature)
  const [doubt] = doubts
  if (missing.length > 0 || doubt) {
    // A read that got no clear answer is as bad as a refused one. The request for a write proves less.
    const wanting = [...missing, ...doubts.filter((one) => one !== 'billingWrite')].map(gravity)
    return {
      status: wanting.includes('failed') ? 'failed' : wanting.length > 0 ? 'warning' : 'not_checked',
      message: doubt ? `${text} (${held[doubt].message ?? 'no answer'})` : text,
      hint:
        missing.length > 0
          ? `give it ${listed(missing)}, or name keys that have them: ${missing.map((one) => `keys.${one}`).join(', ')}`
          : 'try again when the service answers',
    }
  }
  const way = 'take Billing Write away from it: a key that only reads should not be able to write'
  const isTooMuch = has.includes('billingWrite') && !report.uses.includes('billingWrite')
  return isTooMuch ? warning(`${text}, but is used for reading only`, way) : ok(text)
}

/** How bad a missing permission is: caps cannot be kept, or only figures of use are missing. */
function lack(permission: Permission, { mode }: WorkspaceConfig, message: string, hint: string): Finding {
  if (permission === 'analyticsRead') return warning(message, hint)
  if (permission === 'billingWrite' && mode !== 'enforce') return ok(`${message}; mode is ${mode}, so nothing is written`)
  return failed(message, hint)
}

const mayBeAsked = ({ kind, lacksFeature }: Holding): boolean => kind !== 'lacking' && !lacksFeature
