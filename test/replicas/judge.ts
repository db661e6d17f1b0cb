// Judges replicas from outside: by the requests that services received and by the leases that the database recorded. It has a model of its
// own, and reads nothing of the program but its log, where reporting is the rule.
import type { Audit, Given } from './audit.ts'
import type { Arrival, Landing, Service } from './service.ts'

/** docs/replicas.md: a lease outlasts the time that a write may take. */
const WRITE_MS = 10_000
/** Clocks are read at different moments. */
const SLACK_MS = 5

export interface Violation {
  readonly rule: string
  readonly found: string
}

/** The replica with this id in the database. */
type PlaceOf = (holder: string) => number | undefined

/** When a replica was stopped, killed or cut off. */
export interface Trouble {
  readonly place: number
  readonly fromAt: number
  readonly untilAt: number
}

export interface Evidence {
  readonly audit: Pick<Audit, 'given'>
  readonly service: Pick<Service, 'arrivals' | 'landings'>
  readonly placeOf: PlaceOf
  readonly troubles: readonly Trouble[]
  /** From the fault that is judged. */
  readonly sinceAt: number
}

export const violationsOf = (evidence: Evidence): readonly Violation[] => [
  ...overlaps(evidence),
  ...sentWithoutLease(evidence),
  ...writtenTwice(evidence),
  ...oldPolicies(evidence),
]

const time = (at: number): string => new Date(at).toISOString().slice(11, 23)

const perWorkspace = (given: readonly Given[]): ReadonlyMap<string, readonly Given[]> => {
  const all = new Map<string, Given[]>()
  for (const one of [...given].sort((a, b) => a.at - b.at)) all.set(one.workspace, [...(all.get(one.workspace) ?? []), one])
  return all
}

/** No lease is given while another may still be valid, unless that one was released. */
function overlaps({ audit, sinceAt }: Evidence): readonly Violation[] {
  return [...perWorkspace(audit.given)].flatMap(([workspace, given]) =>
    given.flatMap((one, place): readonly Violation[] => {
      const before = given[place - 1]
      if (one.at < sinceAt || !before?.holder || one.holder === undefined || before.holder === one.holder) return []
      if (before.until <= one.at + SLACK_MS) return []
      const found = `${workspace}: ${before.holder} until ${time(before.until)}, ${one.holder} from ${time(one.at)}`
      return [{ rule: 'one lease at a time', found }]
    }),
  )
}

/** The lease of a workspace at a moment, by the database. */
const givenAt = (given: readonly Given[], at: number): Given | undefined => given.findLast((one) => one.at <= at)

/** A write leaves its process only under a lease that outlasts the time it may take. */
function sentWithoutLease({ audit, service, placeOf, sinceAt }: Evidence): readonly Violation[] {
  const all = perWorkspace(audit.given)
  return service.arrivals.flatMap((write): readonly Violation[] => {
    if (write.arrivedAt < sinceAt) return []
    const lease = givenAt(all.get(write.workspace) ?? [], write.sentAt)
    const isHolder = lease?.holder !== undefined && placeOf(lease.holder) === write.sender
    const leftMs = lease ? Math.round(lease.until - write.sentAt) : 0
    if (isHolder && leftMs >= WRITE_MS - write.connectedInMs) return []
    const found = `${told(write)}; ${isHolder ? `its lease lasted ${leftMs} ms more` : `the lease was of ${lease?.holder ?? 'no replica'}`}`
    return [{ rule: 'a write leaves under a lease that outlasts it', found }]
  })
}

const told = ({ workspace, sender, value, sentAt, arrivedAt }: Arrival): string =>
  `${workspace} ${value} by replica ${sender}, sent ${time(sentAt)}, come ${time(arrivedAt)}`

const isInTrouble = (troubles: readonly Trouble[], place: number | undefined, fromAt: number, untilAt: number): boolean =>
  troubles.some((one) => one.place === place && one.fromAt <= untilAt && one.untilAt >= fromAt)

/** A stored cap is not written again, except once after the answer to the first write was lost. */
function writtenTwice({ service, troubles, sinceAt }: Evidence): readonly Violation[] {
  const before = new Map<string, Landing>()
  const again = new Map<string, number>()
  return service.landings.flatMap((landing): readonly Violation[] => {
    const { workspace, write, value } = landing
    const first = before.get(workspace)
    before.set(workspace, landing)
    const isSame = write !== undefined && first?.write !== undefined && first.value === value && landing.before === value
    const times = isSame ? (again.get(workspace) ?? 0) + 1 : 0
    again.set(workspace, times)
    if (!isSame || landing.at < sinceAt || !first.write) return []
    // The later one may have been under way already.
    const isDoubted =
      first.write.answeredAt === undefined ||
      write.sentAt <= (first.write.answeredAt ?? 0) + SLACK_MS ||
      isInTrouble(troubles, first.write.sender, first.write.sentAt, (first.write.answeredAt ?? first.at) + 1_000)
    if (isDoubted && times === 1) return []
    return [{ rule: 'nothing is written twice beyond the one in doubt', found: `${told(write)}, after ${told(first.write)}` }]
  })
}

/** Caps of policies rise with each revision: a lower one must not be sent after a higher one. */
function oldPolicies({ service, sinceAt }: Evidence): readonly Violation[] {
  const newest = new Map<string, Arrival>()
  return [...service.arrivals]
    .sort((a, b) => a.sentAt - b.sentAt)
    .flatMap((write): readonly Violation[] => {
      const before = newest.get(write.workspace)
      if (!before || (write.value ?? 0) > (before.value ?? 0)) newest.set(write.workspace, write)
      if (!before || (write.value ?? 0) >= (before.value ?? 0) || write.arrivedAt < sinceAt) return []
      return [{ rule: 'no old policy is written', found: `${told(write)}, after ${told(before)}` }]
    })
}

/** Writes that took effect over a newer cap: they have to be reported. */
export const lateLandings = ({ service, sinceAt }: Pick<Evidence, 'service' | 'sinceAt'>): readonly Landing[] =>
  service.landings.filter(({ at, write, before, value }) => {
    if (write === undefined || at < sinceAt || before === undefined || value === undefined || before === value) return false
    return before > value && before >= LOWEST_CAP
  })

/** The lowest cap of policies; foreign caps are lower. */
export const LOWEST_CAP = 1_000
