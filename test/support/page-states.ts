// The expected texts of pages in each state of a workspace: a table for tests of the markup, and for tests in a browser.
import type { Documents } from '../../src/daemon/http/documents/make.ts'
import { comparisonOf } from './page-comparison.ts'
import { BROKEN_POLICY, healthOf, holdListOf, policiesOf, summaryOf, workspaceListOf, workspaceOf } from './page-documents.ts'
import { ago, HOLD_ID, headOf, place } from './page-parts.ts'
import { groupListOf, personListOf, personOf } from './page-people.ts'
import { creditsOf } from './page-series.ts'
import { changesOf } from './page-story.ts'

const firstStart = () => {
  const {
    use: _,
    balance: __,
    cycle: ___,
    lastCycle: ____,
    lastSuccessAt: _____,
    ...rest
  } = workspaceOf({ attention: [], held: [], models: [], grants: [] })
  return rest
}

/** A workspace without most data. */
const unknown = (...without: readonly ('use' | 'balance' | 'bands')[]) => {
  const { use, balance, bands, ...rest } = workspaceOf()
  return {
    ...rest,
    ...Object.fromEntries(Object.entries({ use, balance, bands }).filter(([name]) => !without.some((one) => one === name))),
  }
}

const NO_SCOPES = { in_sync: 0, drifted: 0, held: 0, unknown: 0, rejected: 0, contested: 0, skipped: 0, undeclared: 0 }

/** Rows: the text, the page, the state. */
export const PAGE_STATES: readonly (readonly [says: string, path: string, state: Partial<Documents>, text: string])[] = [
  ['what needs a person first', '/', {}, 'Needs a person 1'],
  ['how much is left', '/', {}, 'Add-on credits left 33.8K'],
  ['when it runs out', '/', {}, 'Run out 27 Nov'],
  [
    'that nothing needs a person',
    '/',
    { workspaces: async () => workspaceListOf([{ ...summaryOf(), tone: 'good', verdict: 'in sync' }]) },
    'Nothing needs a person',
  ],
  ['that there is no workspace', '/', { workspaces: async () => workspaceListOf([]) }, 'No workspace yet.'],
  [
    'that the ledger cannot be written',
    '/',
    { workspaces: async () => workspaceListOf([summaryOf()], { ledgerWritable: false }) },
    'The ledger cannot be written, so no cap is written.',
  ],
  [
    'that the config file is broken',
    '/',
    { workspaces: async () => workspaceListOf([summaryOf()], { configValid: false }) },
    'The config file is not valid.',
  ],
  [
    '100 workspaces in a table',
    '/',
    { workspaces: async () => workspaceListOf(Array.from({ length: 100 }, (_, index) => summaryOf(`team-${index}`))) },
    '100 workspaces',
  ],
  [
    'that nothing was read yet',
    '/workspaces/acme',
    { workspace: async () => firstStart(), creditsSeries: async () => creditsOf({ days: [] }) },
    'The first cycle is under way.',
  ],
  ['that the balance is not known', '/workspaces/acme', { workspace: async () => firstStart() }, 'Add-on credits left not known'],
  [
    'that the plan has no balance',
    '/workspaces/acme',
    {
      workspace: async () => ({
        ...unknown('balance'),
        conditions: [
          {
            type: 'BalanceUnavailable',
            severity: 'info',
            subject: 'acme',
            reason: 'NO_BALANCE',
            message: 'no balance',
            since: ago(60_000),
          },
        ],
      }),
    },
    'Add-on credits left not known this plan has no credit balance',
  ],
  [
    'that use is not known, which is not 0',
    '/workspaces/acme',
    {
      workspace: async () => ({ ...unknown('bands'), use: { readAt: ago(60_000), ratios: {} } }),
      creditsSeries: async () => creditsOf({ days: creditsOf().days.map(({ day }) => ({ day })) }),
    },
    'The service reports no credits used on this plan',
  ],
  [
    'that no cap could be read, which is not that none is off',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ scopes: { ...NO_SCOPES, unknown: 4 } }) },
    'Caps not in sync not known 0 scopes in sync, 4 unread or refused',
  ],
  [
    'how many caps are off, those that are held among them',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ scopes: { ...NO_SCOPES, drifted: 1, held: 27 } }) },
    'Caps not in sync 28',
  ],
  [
    'nothing of when credits run out where the balance is not known',
    '/',
    {
      workspaces: async () =>
        workspaceListOf(
          Array.from({ length: 5 }, (_, index) => {
            const { balance: _balance, use: _use, ...rest } = summaryOf(`team-${index}`)
            return { ...rest, mode: 'paused', verdict: 'paused' }
          }),
        ),
    },
    'team-0 ! paused 5 of 200 1',
  ],
  ['audit mode', '/workspaces/acme', { workspace: async () => workspaceOf({ mode: 'audit' }) }, 'nothing is ever written'],
  [
    'a pause with its reason and the way out',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ pause: { until: ago(-14_400_000), since: ago(60_000), reason: 'incident 12' } }) },
    'incident 12 To go on now: capkeeper resume --workspace acme',
  ],
  [
    'that the service is down',
    '/workspaces/acme',
    {
      workspace: async () =>
        workspaceOf({ lastCycle: { startedAt: ago(60_000), finishedAt: ago(50_000), result: 'error', message: '503 from the service' } }),
    },
    'The last cycle failed 50 s ago. 503 from the service',
  ],
  [
    'that a key is refused',
    '/workspaces/acme',
    { workspace: async () => workspaceOf({ warningTexts: ['UsageConfig was refused: the key needs Billing Write'] }) },
    'the key needs Billing Write',
  ],
  [
    'a broken policy with its place',
    '/workspaces/acme',
    { workspace: async () => workspaceOf(BROKEN_POLICY) },
    'policies/acme.yaml:21:7 unknown key "emial" in a user',
  ],
  [
    'the same carets as validate',
    '/workspaces/acme/policies',
    { policies: async () => policiesOf(BROKEN_POLICY) },
    '- emial: grace@example.com ^^^^^ hint: did you mean "email"?',
  ],
  [
    'what the policies would have kept, in credits and money',
    '/workspaces/acme/simulate',
    {},
    'Add-on credits kept 18K of 72K used in 3 cycles · 720 in money',
  ],
  [
    'on how many days they would have blocked people',
    '/workspaces/acme/simulate',
    {},
    'Working days blocked 186 1 % of all · 378 as it was',
  ],
  [
    'who would have been blocked, since when',
    '/workspaces/acme/simulate',
    {},
    '8.5 of 21 days from 12 Oct 2026 400 3 of 21 days from 20 Oct 2026',
  ],
  ['caps that nobody reached', '/workspaces/acme/simulate', {}, 'group:grp_data 1,500 611 41 %'],
  [
    'the commands that try another policy',
    '/workspaces/acme/simulate',
    {},
    'capkeeper simulate proposed.yaml --workspace acme --against policies/',
  ],
  [
    'that a comparison is under way',
    '/workspaces/acme/simulate',
    { comparison: async () => ({ ...headOf('Comparison'), state: 'running' as const, since: ago(1_000) }) },
    'This page shows it when it is ready',
  ],
  [
    'from when on there is enough to compare',
    '/workspaces/acme/simulate',
    {
      comparison: async () => ({
        ...headOf('Comparison'),
        state: 'lacking' as const,
        message: 'no day is recorded yet',
        wholeFrom: '2027-01-01',
      }),
    },
    'There is too little to replay: no day is recorded yet. The first cycle that is recorded as a whole ends on 1 Jan 2027.',
  ],
  [
    'why a comparison could not be made',
    '/workspaces/acme/simulate',
    { comparison: async () => comparisonOf({ state: 'failed', message: 'the ledger is away' }) },
    'The replay failed: the ledger is away.',
  ],
  [
    'copying seen',
    '/workspaces/acme/health',
    {
      health: async () =>
        healthOf({
          model: {
            layers: 'layered',
            layersProven: false,
            reads: 'open',
            zero: 'open',
            copying: 'a write of team changed ada@example.com',
          },
        }),
    },
    'Copying was seen: a write of team changed ada@example.com',
  ],
  [
    'the replicas',
    '/workspaces/acme/health',
    { health: async () => healthOf({ replicas: [{ name: 'capkeeper-0', version: '0.1.0', keeps: true }] }) },
    'capkeeper-0 0.1.0 ✓ yes',
  ],
  ['no policy at all', '/workspaces/acme/policies', { policies: async () => policiesOf({ items: [], total: 0 }) }, 'No cap is declared'],
  [
    'a pool with its credits',
    '/workspaces/acme/policies',
    {
      policies: async () =>
        policiesOf({
          items: [{ kind: 'pool', name: 'research', credits: 20_000, people: 12, members: 13, near: 0, source: place(50) }],
          total: 1,
        }),
    },
    'pool research 20K together 12 of 13 0 policies/acme.yaml:50',
  ],
  ['no group at all', '/workspaces/acme/groups', { groups: async () => groupListOf({ items: [], total: 0 }) }, 'No group is declared.'],
  [
    'nobody read yet',
    '/workspaces/acme/people',
    { people: async () => personListOf({ items: [], total: 0 }) },
    'People were not read yet.',
  ],
  ['people as hashes', '/workspaces/acme/people', { people: async () => personListOf({ peopleShown: 'hash' }) }, 'shown as hashes'],
  ['where one is in a long list', '/workspaces/acme/people', {}, '1 to 50 of 5,000 people'],
  ['no history', '/workspaces/acme/changes', { changes: async () => changesOf({ items: [] }) }, 'Nothing has happened'],
  [
    'a person without history',
    '/workspaces/acme/people/ada@example.com',
    { person: async () => personOf({ history: [], use: { days: [] } }) },
    'capkeeper has not written this cap.',
  ],
  [
    'why a cap is what it is',
    '/workspaces/acme/people/ada@example.com',
    {},
    'decides grant on ada@example.com 4,000 the narrowest scope decides',
  ],
  ['no holds', '/workspaces/acme/holds', { holds: async () => holdListOf({ items: [], total: 0 }) }, 'Nothing is held'],
  ['the command that releases a hold', `/workspaces/acme/holds/${HOLD_ID}`, {}, `capkeeper approve ${HOLD_ID}`],
  ['the line that releases a hold', `/workspaces/acme/holds/${HOLD_ID}`, {}, `spec: approvals: - ${HOLD_ID}`],
  ['the edit that writes it', `/workspaces/acme/holds/${HOLD_ID}`, {}, `or by command capkeeper edit approve ${HOLD_ID}`],
  ['the edit that ends a grant', '/workspaces/acme/people/ada@example.com', {}, 'capkeeper edit remove grant:ada@example.com'],
  [
    'the edit that changes a cap',
    '/workspaces/acme/people/ada@example.com',
    { person: async () => personOf({ chain: [] }) },
    'capkeeper edit cap ada@example.com 4000',
  ],
  [
    'where to ask for more',
    '/workspaces/acme/people/ada@example.com',
    { person: async () => personOf({ requestUrl: 'https://git.example.com/new?for=a%26b' }) },
    'Ask for more',
  ],
  ['what a guard counted', `/workspaces/acme/holds/${HOLD_ID}`, {}, 'people whose cap falls 41 120 34 % 15 %, never under 3 (18)'],
]
