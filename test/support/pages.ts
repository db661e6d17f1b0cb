// The pages of the console over the documents of the example, and a table of what they must say in which state.
import { createConsole } from '../../src/console/routes.ts'
import type { WorkspaceView } from '../../src/core/model/events.ts'
import { EVERYBODY } from '../../src/daemon/http/auth.ts'
import type { Query } from '../../src/daemon/http/documents/documents.ts'
import type { Documents } from '../../src/daemon/http/documents/make.ts'
import { NOW } from './declare.ts'
import { libraryOf } from './documents.ts'
import { ADA, exampleOf, exampleView } from './example.ts'
import { balanceOf, emptyView, fullView, HOUR, MINUTE, REFUSED } from './views.ts'

export const EXAMPLE = exampleOf()
export const ACME = '/workspaces/acme'

type About = Exclude<keyof Documents, 'parts'>
type Made<K extends About> = Awaited<ReturnType<Documents[K]>>
type Changes = { readonly [K in About]?: Partial<Made<K>> | ((made: Made<K>) => Partial<Made<K>>) }

/** The documents of the example with other parts. */
export function changed(changes: Changes): Documents {
  const names = Object.keys(changes) as About[]
  const change = async (name: About, asked: never[]) => {
    const made = await (EXAMPLE[name] as (...asked: never[]) => Promise<object>)(...asked)
    const other = changes[name] as object | ((made: object) => object)
    return { ...made, ...(typeof other === 'function' ? other(made) : other) }
  }
  return { ...EXAMPLE, ...Object.fromEntries(names.map((name) => [name, (...asked: never[]) => change(name, asked)])) }
}

/** Without settings, policies, plan and records. */
const views = (...all: readonly WorkspaceView[]): Documents => libraryOf({ views: () => all }).for(EVERYBODY)
const several = (count: number, change: Partial<WorkspaceView> = {}): Documents =>
  views(...Array.from({ length: count }, (_, index) => exampleView({ ...change, workspace: `team-${index}` })))

const { routes } = createConsole()

/** The markup of the page at a path. */
export async function pageAt(path: string, documents = EXAMPLE, query: Query = {}): Promise<string> {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const found = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(path)
    if (!found) continue
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]))
    return route.render(documents, { params, query, path })
  }
  throw new Error(`no page at ${path}`)
}

/** What a reader sees, roughly: the markup without tags. */
export const textOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,:;])/g, '')

/** What the timeline of the example tells, the newest first. */
export const { items: TIMELINE } = await EXAMPLE.changes('acme')
const HOLD_ID = exampleView().holds[0]?.id ?? ''
export const HOLD = `${ACME}/holds/${HOLD_ID}`
export const PERSON = `${ACME}/people/${ADA}`

type Cycle = NonNullable<Made<'comparison'>['figures']>['cycles'][number]
const blockedDays = { low: 7, middle: 7, high: 7 }
const recorded = ({ total, ...cycle }: Cycle) => ({ ...cycle, total: { ...total, beside: { ...total.beside, blockedDays } } })
/** As if caps were on record of a last cycle, after so many others. */
const withRecord = (others: number) =>
  changed({
    comparison: ({ figures: all }) => ({
      figures: all && { ...all, cycles: [...all.cycles.slice(0, others), ...all.cycles.map(recorded)] },
    }),
  })

/** The pages of the workspace acme, the overview, and what a person sees of themselves. */
export const PAGE_PATHS = [
  '/',
  ACME,
  ...['lead', 'groups', 'groups/grp_platform', 'people', 'changes', 'holds', 'policies', 'simulate', 'health'].map(
    (name) => `${ACME}/${name}`,
  ),
  PERSON,
  HOLD,
]

const NOTHING = views()
const FIRST = views(emptyView())
const BROKEN = exampleOf({ policy: fullView().policy })
const LATE = exampleOf({ balance: balanceOf({ cycle: { startAt: 0, endAt: 1 } }) })
const noBalance = { type: 'BalanceUnavailable', subject: 'acme', reason: 'NO_BALANCE', message: 'no balance', since: NOW } as const

const [SIMULATE, HEALTH] = [`${ACME}/simulate`, `${ACME}/health`]

/** Rows: the text, the page, the state. */
export const PAGE_STATES: readonly (readonly [says: string, path: string, state: Documents, text: string])[] = [
  ['what needs a person first', '/', EXAMPLE, 'Needs a person 5'],
  ['in the title of the window how much that is', '/', EXAMPLE, '(5) Overview · capkeeper'],
  ['how much is left', '/', EXAMPLE, 'Add-on credits left 864'],
  ['when it runs out', '/', EXAMPLE, 'Run out 24 Nov'],
  ['how many are at their cap', '/', EXAMPLE, 'People at their cap 4 of 30'],
  [
    'that nothing needs a person',
    '/',
    views(exampleView({ holds: [], scopes: [], conditions: [], people: [], use: undefined })),
    'Nothing needs a person',
  ],
  ['that there is no workspace', '/', NOTHING, 'No workspace yet.'],
  ['an unwritable ledger', '/', changed({ workspaces: { ledgerWritable: false } }), 'The ledger cannot be written, so no cap is written.'],
  ['that the config file is broken', '/', changed({ workspaces: { configValid: false } }), 'The config file is not valid.'],
  ['100 workspaces in a table', '/', several(100), '100 workspaces'],
  ['that nobody knows whether credits last', '/', exampleOf({ use: undefined }), 'Run out not known'],
  ['the same of one workspace', ACME, exampleOf({ use: undefined }), 'Run out not known needs 28 days of use'],
  ['that nothing was read yet', ACME, FIRST, 'The first cycle is under way.'],
  ['that the balance of this cycle is not known', ACME, LATE, 'Add-on credits left not known the balance of this cycle was not read yet'],
  ['nothing of the credits of the cycle then', ACME, LATE, 'even pace 5,000 10K 15K now'],
  [
    'that the plan has no balance',
    ACME,
    exampleOf({ balance: undefined, conditions: [noBalance] }),
    'Add-on credits left not known this plan has no credit balance',
  ],
  [
    'that use is not known, which is not 0',
    ACME,
    changed({
      workspace: { use: { readAt: '2026-11-20T11:52:30.001Z', ratios: {} } },
      creditsSeries: ({ days }) => ({ days: days.map(({ day }) => ({ day })) }),
    }),
    'The service reports no credits used on this plan',
  ],
  [
    'that no cap could be read, which is not that none is off',
    ACME,
    exampleOf({ scopes: exampleView().scopes.map((one) => ({ ...one, state: 'unknown' })) }),
    'Caps not in sync not known 0 scopes in sync, 14 unread or refused',
  ],
  ['how many caps are off, held ones among them', ACME, EXAMPLE, 'Caps not in sync 4 9 scopes in sync, 1 unread or refused'],
  [
    'nothing of when credits run out where the balance is not known',
    '/',
    several(5, { balance: undefined, use: undefined, mode: 'paused' }),
    'team-0 ! a hold to decide about ! paused 8,385 4 of 30 1 20 min ago',
  ],
  ['why a cap is not known', ACME, EXAMPLE, '! unknown 625 625 policies/acme.yaml:43 GetUsageConfig: connection refused'],
  ['audit mode', ACME, exampleOf({ mode: 'audit' }), 'nothing is ever written'],
  [
    'a pause with its reason and the way out',
    ACME,
    exampleOf({ mode: 'paused', pause: { untilAt: NOW + HOUR, pausedAt: NOW, reason: 'incident 12' } }),
    'incident 12 To go on now: capkeeper resume --workspace acme',
  ],
  [
    'that the service is down',
    ACME,
    exampleOf({ lastCycle: { startedAt: NOW - MINUTE, finishedAt: NOW - 50_000, result: 'error', message: '503 from the service' } }),
    'The last cycle failed 50 s ago. 503 from the service',
  ],
  ['how old what it shows is', ACME, EXAMPLE, 'Last success 20 min ago'],
  ['the same where no cycle has ended well', ACME, FIRST, 'Last success none yet'],
  ['that a key is refused', ACME, exampleOf({ conditions: [REFUSED] }), 'the key needs Billing Write'],
  ['a broken policy with its place', ACME, BROKEN, 'policies/acme.yaml:21:10 unknown key "emial" in a user'],
  ['that the files are not valid', `${ACME}/policies`, BROKEN, 'The files are not valid'],
  ['the same carets as validate', `${ACME}/policies`, BROKEN, '- emial: grace@example.com ^^^^^ hint: did you mean "email"?'],
  ['what would be kept, in credits and money', SIMULATE, EXAMPLE, 'Add-on credits kept 2,338 of 10.1K used in 1 cycle · 93.5 in money'],
  ['on how many days they would have blocked people', SIMULATE, EXAMPLE, 'Working days blocked 42 10 % of all · as it was is not known'],
  ['who would have been blocked, since when', SIMULATE, EXAMPLE, 'ada.lovelace@example.com 1 Oct 2026 4 of 19 days from 27 Oct 2026 1,000'],
  ['that it is not known who gains', SIMULATE, EXAMPLE, 'Who gains Not known: no cap is on record for these cycles.'],
  ['how that was, where caps are on record', SIMULATE, withRecord(0), 'Working days blocked 42 10 % of all · 7 as it was'],
  ['how that was in some cycles', SIMULATE, withRecord(1), '84 10 % of all · 42 against 7 as it was in the 1 cycle with caps'],
  ['caps that nobody reached', SIMULATE, EXAMPLE, 'grace.hopper@example.com 625 257 41 %'],
  ['the commands that try another policy', SIMULATE, EXAMPLE, 'capkeeper simulate proposed.yaml --workspace acme --against policies/'],
  [
    'that a comparison is under way',
    SIMULATE,
    changed({ comparison: { state: 'running', figures: undefined } }),
    'This page shows it when it is ready',
  ],
  [
    'that there is too little to compare',
    SIMULATE,
    changed({ comparison: { state: 'lacking', figures: undefined, message: 'no day is recorded yet' } }),
    'There is too little to replay: no day is recorded yet.',
  ],
  [
    'why a comparison could not be made',
    SIMULATE,
    changed({ comparison: { state: 'failed', message: 'the ledger is away' } }),
    'The replay failed: the ledger is away.',
  ],
  [
    'copying seen',
    HEALTH,
    exampleOf({ seen: { caps: { value: 'copied', at: NOW, evidence: 'a write of team changed somebody' } } }),
    'Copying was seen: a write of team changed somebody',
  ],
  ['what could not be read, also elsewhere', HEALTH, views(exampleView()), 'Scopes unread 1 oldest reading'],
  ['the version', HEALTH, EXAMPLE, 'Version 0.1.0'],
  [
    'the evidence of how caps work',
    HEALTH,
    changed({
      health: { seen: [{ aspect: 'reads', value: 'explicit', evidence: 'ada@example.com reads unset', at: '2026-11-20T12:00:00Z' }] },
    }),
    'reads explicit ada@example.com reads unset',
  ],
  ['the replicas', HEALTH, changed({ health: { replicas: [{ name: 'ck-0', version: '0.1.0', keeps: true }] } }), 'ck-0 0.1.0 ✓ yes'],
  ['no policy at all', `${ACME}/policies`, FIRST, 'No cap is declared'],
  ['a rule with its reason', `${ACME}/policies`, EXAMPLE, 'rule seldom here 125 1 0 asks first policies/acme.yaml:55'],
  ['a pool with its credits', `${ACME}/policies`, EXAMPLE, 'pool research 3,000 together 2 0 policies/acme.yaml:64'],
  ['for how many of its members a cap decides', `${ACME}/policies`, EXAMPLE, '275 375 ! held 6 of 10 1 builds the build'],
  ['no group at all', `${ACME}/groups`, FIRST, 'No group is declared.'],
  ['nobody read yet', `${ACME}/people`, FIRST, 'People were not read yet.'],
  ['people as hashes', `${ACME}/people`, changed({ people: { peopleShown: 'hash' } }), 'shown as hashes'],
  ['where one is in a long list', `${ACME}/people`, changed({ people: { total: 5_000 } }), '1 to 50 of 5,000 people'],
  ['no history', `${ACME}/changes`, FIRST, 'Nothing has happened'],
  ['a person without history', PERSON, changed({ person: { history: [], use: { days: [] } } }), 'capkeeper has not written this cap.'],
  ['where the figures of its days come from', PERSON, EXAMPLE, 'add-on use in this cycle, estimated'],
  ['what is left of a cap', PERSON, EXAMPLE, 'Left 8,078'],
  ['what stops them first, and when', PERSON, EXAMPLE, 'Stops first balance expected on 2026-11-24'],
  ['why a cap is what it is', PERSON, EXAMPLE, '✓ decides cap on ada.lovelace@example.com 1,000 the narrowest cap declared'],
  ['what would change it', PERSON, EXAMPLE, 'What would change the cap: an edit of policies/acme.yaml:40'],
  [
    'the edit that ends a grant',
    `${ACME}/people/alan.turing@example.com`,
    EXAMPLE,
    'To end its grant in the policies capkeeper edit remove grant:alan.turing@example.com',
  ],
  [
    'which of two grants it ends',
    `${ACME}/people/barbara.liskov@example.com`,
    EXAMPLE,
    'capkeeper edit remove grant:barbara.liskov@example.com --from 2026-01-01T07:00:00.000Z',
  ],
  ['when a grant begins that waits', `${ACME}/policies`, EXAMPLE, 'barbara.liskov@example.com +50 pending starts in 231 d'],
  ['the edit that changes it', PERSON, EXAMPLE, `capkeeper edit cap ${ADA} 9000`],
  ['where to ask for more', PERSON, EXAMPLE, 'Ask for more'],
  ['no holds', `${ACME}/holds`, FIRST, 'Nothing is held'],
  ['who tells whom a hold affects', HOLD, views(exampleView()), 'Only the pages of the replica that holds the workspace tell who'],
  ['the command that releases a hold', HOLD, EXAMPLE, `capkeeper approve ${HOLD_ID}`],
  ['the line that releases a hold', HOLD, EXAMPLE, `approvals: [${HOLD_ID}]`],
  ['the edit that writes it', HOLD, EXAMPLE, `or by command capkeeper edit approve ${HOLD_ID}`],
  ['what a guard counted', HOLD, EXAMPLE, 'people who would be lowered 16 28 57.1 % 15 %, never under 3 (4)'],
]
