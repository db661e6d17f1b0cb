// What stops a person first, from what pages and messages know of a workspace. The rule is in core/use/first-stop.ts; this only gathers its inputs.
import type { PersonStatus, WorkspaceView } from '../../core/model/events.ts'
import type { Person } from '../../core/model/observed.ts'
import type { Instant } from '../../core/model/units.ts'
import { declaredIn } from '../../core/resolve/desired.ts'
import { type FirstStop, firstStop } from '../../core/use/first-stop.ts'
import type { DesiredState } from '../cycle/state.ts'

export interface StopFacts {
  readonly view: Pick<WorkspaceView, 'people' | 'roster' | 'balance' | 'pools' | 'use'>
  readonly desiredState?: DesiredState | undefined
}

const byAddress = new WeakMap<WorkspaceView['people'], ReadonlyMap<string, PersonStatus>>()

/** Made once for each view, because 50,000 people may ask. */
export function shownAt(people: WorkspaceView['people']): ReadonlyMap<string, PersonStatus> {
  const known = byAddress.get(people) ?? new Map(people.map((one) => [one.email, one]))
  byAddress.set(people, known)
  return known
}

export function stopOf({ view, desiredState }: StopFacts, person: Person, now: Instant): FirstStop {
  const shown = shownAt(view.people).get(person.email)
  const pool = desiredState && declaredIn(desiredState.inputs).pools.placeOf(person.email)?.pool.name
  const figures = view.pools?.find(({ name }) => name === pool)?.figures
  return firstStop({
    now,
    cycle: view.roster?.cycle ?? view.balance?.cycle,
    own:
      typeof shown?.cap === 'number' && shown.used !== undefined
        ? { cap: shown.cap, addOn: shown.used, used: person.used, creditsPerSeat: view.balance?.creditsPerSeat }
        : undefined,
    pool: figures,
    balance: view.use?.figures,
  })
}
