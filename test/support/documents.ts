// Documents over made-up views, with records that a test may give.
import type { WorkspaceView } from '../../src/core/model/events.ts'
import { createLibrary, elsewhereSource, type Library, sourceOf } from '../../src/daemon/http/documents/make.ts'
import type { Records, WorkspaceFacts, WorkspaceSource } from '../../src/daemon/http/documents/types.ts'
import { EMAIL_LABELS, hashLabels, type PeopleLabels } from '../../src/daemon/http/labels.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import type { Clock } from '../../src/ports.ts'
import { fakeClock } from './clock.ts'
import type { World } from './world.ts'

/** A ledger without records. */
export const NO_RECORDS: Records = {
  history: async () => [],
  runs: async () => [],
  useOfPerson: async () => [],
  addOnOfPerson: async () => [],
  gradesOfPerson: async () => [],
  fact: async () => undefined,
}

interface LibraryOf {
  readonly views: () => readonly WorkspaceView[]
  readonly people?: PeopleLabels
  readonly clock?: Clock
  readonly records?: Records
  readonly facts?: (view: WorkspaceView) => Omit<WorkspaceFacts, 'view'>
  readonly health?: () => { readonly configValid: boolean; readonly ledgerWritable: boolean }
  readonly requestUrl?: string
}

/** People as hashes. */
export const HASHED_LABELS = hashLabels(sha256, 'a-salt')

/** Each call is another state, so that a test sees its latest change. */
export function libraryOf({ views, people = EMAIL_LABELS, clock = fakeClock(), records = NO_RECORDS, ...options }: LibraryOf): Library {
  let looks = 0
  return createLibrary({
    hashed: HASHED_LABELS,
    sources: () =>
      views().map(
        (view): WorkspaceSource => ({
          name: view.workspace,
          version: () => ++looks,
          view: () => view,
          facts: async () => ({ ...options.facts?.(view), view }),
          records,
        }),
      ),
    daemon: () => ({ version: '0.1.0', ...(options.health?.() ?? { configValid: true, ledgerWritable: true }) }),
    people,
    clock,
    ...(options.requestUrl !== undefined && { requestUrl: () => options.requestUrl }),
  })
}

/** The same world on another replica, which has these policies. */
export const libraryElsewhere = (world: World, policy?: Parameters<typeof elsewhereSource>[0]['policy']): Library => {
  const view: WorkspaceView = JSON.parse(JSON.stringify(world.view()))
  const one = { settings: world.workspace.config, view, policy }
  const source = elsewhereSource(
    one,
    () => 1,
    async () => world.ledger,
    world.clock,
  )
  return libraryOver(() => world, { sources: () => [source] })
}

/** Over a world as it is now, whose clock stands still. */
export function libraryOver(
  world: () => Pick<World, 'workspace' | 'clock'>,
  { people = EMAIL_LABELS, version = () => 1, ...more }: Partial<Parameters<typeof createLibrary>[0]> & { version?: () => number } = {},
): Library {
  return createLibrary({
    sources: () => [sourceOf(world().workspace, version)],
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people,
    hashed: HASHED_LABELS,
    clock: { ...world().clock, monotonic: () => 0 },
    ...more,
  })
}
