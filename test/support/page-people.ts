// Made-up documents about groups and people, the input of their pages.

import type {
  GroupDocument,
  GroupEntry,
  GroupListDocument,
  PersonDocument,
  PersonEntry,
  PersonListDocument,
} from '../../src/daemon/http/documents/types.ts'
import { ago, DAY, dayOf, headOf, place } from './page-parts.ts'

const GROUPS: readonly GroupEntry[] = ['Platform', 'Data', 'Payments', 'Mobile', 'Support'].map((name, index) => ({
  id: `grp_${name.toLowerCase()}`,
  name,
  known: index !== 4,
  members: 40 - index * 5,
  cap: 1_500,
  observed: 1_500,
  state: 'in_sync',
  used: 30_000 / (index + 1),
  share: 0.3 / (index + 1),
  bands: { uncapped: 0, under_50: 25 - index * 4, '50_to_85': 8, '85_to_95': 4, '95_to_100': index, at_cap: index === 0 ? 3 : 0 },
  near: 4 + index,
  source: place(20 + index),
  readAt: ago(600_000),
}))

export const groupListOf = (overrides: Partial<GroupListDocument> = {}): GroupListDocument => ({
  ...headOf('GroupList'),
  total: GROUPS.length,
  page: 1,
  limit: 50,
  items: GROUPS,
  ...overrides,
})

const CHAIN: GroupDocument['chain'] = [
  {
    kind: 'grant',
    scope: 'ada@example.com',
    cap: 4_000,
    wins: true,
    why: 'the narrowest scope decides, and a grant beats a rule',
    state: 'active',
    until: '2026-11-28T00:00:00.000Z',
    reason: 'migration lead',
    ticket: 'OPS-12',
    source: place(40),
  },
  { kind: 'cap', scope: 'group:grp_platform', cap: 1_500, wins: false, why: 'a narrower scope decides', source: place(24) },
  { kind: 'cap', scope: 'team', cap: 500, wins: false, why: 'a narrower scope decides', source: place(8) },
]

const EXPLAINED = {
  chain: CHAIN,
  desired: 4_000,
  state: 'in_sync',
  readings: [
    { scope: 'ada@example.com', observed: 4_000, readAt: ago(60_000) },
    { scope: 'team', observed: 800, readAt: ago(60_000) },
  ],
  nextReadingAt: ago(-240_000),
  history: [
    {
      at: ago(5 * DAY),
      scope: 'ada@example.com',
      effect: 'raise',
      from: 2_500,
      to: 4_000,
      cause: 'policy',
      result: 'applied',
      reason: 'migration lead',
      source: place(40),
      planId: '42bc86716855f9f4',
      revision: '0123456789abcdef',
    },
    {
      at: ago(9 * DAY),
      scope: 'ada@example.com',
      effect: 'set',
      from: 'none',
      to: 2_500,
      cause: 'policy',
      result: 'applied',
      planId: '197cd26a3f2c47f7',
      revision: '0123456789abcdef',
    },
  ],
  conditions: ['The grant ends on 28 Nov: the cap goes back to 1500.', 'A change at policies/acme.yaml:24 would not change it.'],
} satisfies Partial<PersonDocument>

export const groupOf = (): GroupDocument => ({
  ...headOf('Group'),
  ...EXPLAINED,
  id: 'grp_platform',
  name: 'Platform',
  known: true,
  members: 40,
  cap: 1_500,
  observed: 1_500,
  used: 30_000,
  addOn: 12_000,
  share: 0.3,
  bands: { uncapped: 0, under_50: 25, '50_to_85': 8, '85_to_95': 4, '95_to_100': 0, at_cap: 3 },
  near: 7,
  use: { days: Array.from({ length: 20 }, (_, index) => ({ day: dayOf(index), used: 900 + (index % 5) * 200 })) },
  top: [{ person: 'ada@example.com', cap: 4_000, addOn: 3_950, band: '95_to_100' }],
  topOmitted: 39,
})

const personEntry = (index: number): PersonEntry => ({
  person: index === 0 ? 'ada@example.com' : `person${index}@example.com`,
  status: 'approved',
  groups: [{ id: 'grp_platform', name: 'Platform' }],
  cap: 1_500,
  from: 'group:grp_platform',
  declared: 1_500,
  rule: { kind: 'group', name: 'group:grp_platform', source: place(24) },
  used: 2_000 - index,
  addOn: Math.max(0, 1_500 - index * 10),
  headRoom: Math.min(1_500, index * 10),
  share: Math.max(0, 1 - index / 150),
  band: index === 0 ? 'at_cap' : index < 8 ? '95_to_100' : index < 22 ? '85_to_95' : '50_to_85',
  state: 'in_sync',
})

export const personListOf = (overrides: Partial<PersonListDocument> = {}): PersonListDocument => ({
  ...headOf('PersonList'),
  total: 5_000,
  page: 1,
  limit: 50,
  items: Array.from({ length: 50 }, (_, index) => personEntry(index)),
  bands: { uncapped: 2, under_50: 4_000, '50_to_85': 700, '85_to_95': 200, '95_to_100': 80, at_cap: 18 },
  groups: GROUPS.map(({ id, name }) => ({ id, name })),
  rules: [
    { name: 'group:grp_platform', people: 40 },
    { name: 'team', people: 160 },
  ],
  ...overrides,
})

export const personOf = (overrides: Partial<PersonDocument> = {}): PersonDocument => ({
  ...headOf('Person'),
  ...personEntry(0),
  ...EXPLAINED,
  cap: 4_000,
  from: 'ada@example.com',
  addOn: 3_150,
  headRoom: 850,
  share: 0.79,
  band: '50_to_85',
  guards: [],
  use: {
    days: Array.from({ length: 20 }, (_, index) => ({
      day: dayOf(index),
      burned: 160,
      addOn: 165 * index,
      cap: index < 9 ? 'none' : index < 15 ? 2_500 : 4_000,
      ...((index === 9 || index === 15) && { changed: true }),
    })),
    runsOutOn: '2026-11-26',
    paceADay: 160,
  },
  ...overrides,
})
