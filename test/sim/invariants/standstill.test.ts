// Which readings of a smaller roster are believed, by the simulation's own record: scenes in which a team write is planned.
import { expect, it } from 'vitest'
import type { Hold, Plan } from '../../../src/core/model/change.ts'
import type { Scene, Step } from '../steps.ts'
import { approvedIn } from '../world/answers.ts'
import { rosterDoubt } from './standstill.ts'

/** A roster with so many approved people at that minute; `none`: without any. A reading that an edit interrupts emits no event. */
type Rosters = readonly (readonly [atMinutes: number, approved: number | 'none', isCutOff?: 'cut off'])[]

/** Violations by a team write that is planned after these readings, at that minute. */
function said(rosters: Rosters, plannedAt: number): readonly string[] {
  const found: string[] = []
  let minutes = 0
  const scene = {
    scenario: { capSemantics: 'layered', switches: {} },
    elapsed: () => minutes * 60_000,
    policies: () => [],
    now: () => 0,
  } as unknown as Scene
  const watch = rosterDoubt.watch(scene, { checked: () => undefined, violated: (message) => found.push(message) })
  for (const [at, approved, cut] of rosters) {
    minutes = at
    watch({ kind: 'answered', process: 1, operation: 'UserPageAnalytics', approved: approved === 'none' ? 'unread' : approved })
    if (!cut) watch({ kind: 'told', process: 1, event: { kind: 'usage-read' } } as unknown as Step)
  }
  minutes = plannedAt
  const change = { scope: { kind: 'team' }, from: 100, to: 200, disposition: { kind: 'ready' } }
  const plan = { changes: [change], holds: [] as Hold[] } as unknown as Plan
  watch({ kind: 'told', process: 1, event: { kind: 'planned', workspace: 'acme', at: 0, plan } })
  watch({ kind: 'request', process: 1, operation: 'UsageConfig', scope: 'team', to: 200 } as Step)
  return found
}

const DOUBTED: readonly (readonly [title: string, rosters: Rosters, plannedAt: number])[] = [
  [
    'a first short reading',
    [
      [0, 40],
      [15, 30],
    ],
    16,
  ],
  [
    'a first short reading, however old',
    [
      [0, 40],
      [15, 30],
    ],
    90,
  ],
  [
    'a second one that agrees too soon',
    [
      [0, 40],
      [15, 30],
      [24, 30],
    ],
    25,
  ],
  [
    'a second one that does not agree',
    [
      [0, 40],
      [15, 30],
      [30, 28],
    ],
    31,
  ],
  [
    'one that agrees too soon with the one that did not agree',
    [
      [0, 40],
      [15, 30],
      [30, 28],
      [39, 28],
    ],
    40,
  ],
  [
    'two that agree, of less than half',
    [
      [0, 40],
      [15, 19],
      [30, 19],
    ],
    31,
  ],
  [
    'a fall from what was good, after two that agree of less than half',
    [
      [0, 40],
      [15, 15],
      [30, 15],
      [45, 22],
    ],
    46,
  ],
  [
    'a short reading and an empty one',
    [
      [0, 40],
      [15, 30],
      [30, 'none'],
    ],
    31,
  ],
]

it.each(DOUBTED)('a team write is a violation after %s', (_title, rosters, plannedAt) => {
  expect(said(rosters, plannedAt)).not.toEqual([])
})

const BELIEVED: readonly (readonly [title: string, rosters: Rosters, plannedAt: number])[] = [
  [
    'a fall by a fifth',
    [
      [0, 40],
      [15, 32],
    ],
    16,
  ],
  [
    'two that agree, ten minutes apart',
    [
      [0, 40],
      [15, 30],
      [26, 29],
    ],
    27,
  ],
  [
    'two that agree, of half',
    [
      [0, 40],
      [15, 20],
      [30, 20],
    ],
    31,
  ],
  [
    'two that agree, with an empty one in between',
    [
      [0, 40],
      [15, 30],
      [20, 'none'],
      [30, 30],
    ],
    31,
  ],
  [
    'two that agree, after one of less than half',
    [
      [0, 4],
      [15, 1],
      [30, 3],
      [45, 2],
    ],
    46,
  ],
  [
    'a short reading that an edit cut off, and then one that is spoiled',
    [
      [0, 40],
      [15, 30, 'cut off'],
      [16, 'none'],
    ],
    17,
  ],
  [
    'a reading that is whole again',
    [
      [0, 40],
      [15, 10],
      [30, 40],
    ],
    31,
  ],
]

it.each(BELIEVED)('a team write is no violation after %s', (_title, rosters, plannedAt) => {
  expect(said(rosters, plannedAt)).toEqual([])
})

it('an empty roster is no reading, and one without approved people is', () => {
  const answer = (rows: readonly object[]) => ({ status: 200, headers: {}, body: JSON.stringify({ userTableStats: rows }) })
  expect(approvedIn(answer([]))).toBeUndefined()
  expect(approvedIn(answer([{ teamStatus: 'USER_TEAM_STATUS_PENDING' }]))).toBe(0)
})
