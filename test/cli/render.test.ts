// Reports as pages, and plans as comments of any length: what a scene cannot show on a page of a manual.
import { expect, test } from 'vitest'
import { showPlans } from '../../src/cli/plan/run.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { configText, workspace, world } from '../e2e/world.ts'
import { planOf } from '../support/plan.ts'

const HOSTILE = '<script>alert(1)</script>'

test('a report as a page is one document that fetches nothing, escapes what it shows, and draws what is known', async () => {
  const sandbox = { people: 5, groups: 1, days: 30, addOnRows: 'served' } as const
  const at = await world({ policy: `workspace: "${HOSTILE}"\nteam: {cap: 500}`, sandbox })
  at.write('config.yaml', configText([workspace(HOSTILE, at.service.url)]))
  const page = (await at.run('report', '--output', 'html')).stdout
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).not.toMatch(/<script|src=|href="(?!data:)|@import|url\(|\sstyle=|NaN/)
  for (const words of ['@media print', '<figure class="chart" id="cycle-', '>measured<', 'about 3 hours late'])
    expect(page).toContain(words)
  expect(page).toMatch(/[\d,]+ credits of agent runs in \d+ days/)
  const withoutRuns = await world({ sandbox: { ...sandbox, plan: 'quota' } })
  expect((await withoutRuns.run('report', '--output', 'html')).stdout).not.toContain('<figure')
})

test.each([
  ['0123456789abcdef', ' at 0123456789ab'],
  ['0123456789abcdef+dirty', ' at 0123456789ab+dirty'],
  ['0123456789ab', ' at 0123456789ab'],
  ['0123456789abc 0123456789abd', ' at 0123456789ab 0123456789ab'],
  ['', ''],
])('a plan of the revision %j shows it as%s', (revision, shown) => {
  const { plan } = planOf({})
  const [heading] = showPlans([{ plan: { ...plan, revision } }], 'text', { people: EMAIL_LABELS }).split('\n')
  expect(heading).toBe(`acme: plan ${plan.id}, policies ${plan.policyDigest}${shown}`)
})

test('plans as Markdown stay within the limit of a comment and count what they leave out', () => {
  const { plan } = planOf({ caps: { team: 400, p1: 900 }, observed: { team: 600, p1: 1000 }, people: 30, protect: ['p1'] })
  const [change, hold] = [plan.changes[0], plan.holds[0]]
  if (!change || !hold) throw new Error('a plan with a change and a hold is needed')
  const many = {
    ...plan,
    changes: Array.from({ length: 1000 }, () => ({ ...change, reason: '|'.repeat(500), disposition: { kind: 'ready' } as const })),
    problems: Array.from({ length: 300 }, () => ({ severity: 'error' as const, code: 'X_Y', message: '<b>'.repeat(200) })),
    holds: Array.from({ length: 40 }, () => ({ ...hold, message: '*'.repeat(1000) })),
  }
  const text = showPlans([{ plan: many }], 'markdown', { people: EMAIL_LABELS })
  expect(text.length).toBeLessThanOrEqual(60_000)
  expect(text).toMatch(/Left out for length: \d+ holds, \d+ changes, \d+ problems; `capkeeper plan` shows all\./)
  const several = showPlans(
    Array.from({ length: 400 }, () => ({ plan })),
    'markdown',
    { people: EMAIL_LABELS },
  )
  expect(several.length).toBeLessThanOrEqual(60_000)
  expect(several).toMatch(/\d+ workspaces left out for length/)
})

test("as Markdown every plan of several shows its counts, releases and weakened guards before anybody's details", () => {
  const { plan } = planOf({ caps: { team: 400, p1: 900 }, observed: { team: 600, p1: 1000 }, people: 30, protect: ['p1'] })
  const [change] = plan.changes
  if (!change) throw new Error('a plan with a change is needed')
  const many = Array.from({ length: 900 }, () => ({ ...change, reason: 'x'.repeat(60), disposition: { kind: 'ready' } as const }))
  const weakened = { severity: 'warning', code: 'RULES_WEAKENED', message: 'policy weakens guards.maxLowered: 15 % → 90 %' } as const
  const shown = (size: number, quiet: number) => {
    const views = Array.from({ length: size }, (_, index) => {
      const approval = { id: `${index}`.padStart(32, 'a'), state: 'pending', via: 'policy', people: 1, releases: [change] } as const
      return { plan: { ...plan, workspace: `w${index}`, changes: many, approvals: [approval], problems: [weakened] } }
    })
    return showPlans([...Array.from({ length: quiet }, () => ({ plan: { ...plan, changes: [], holds: [] } })), ...views], 'markdown', {
      people: EMAIL_LABELS,
    })
  }
  for (const [size, quiet] of [
    [3, 0],
    [30, 0],
    [3, 400],
  ] as const) {
    const text = shown(size, quiet)
    expect(text.length).toBeLessThanOrEqual(60_000)
    for (const said of [/### capkeeper: w\d+/g, /\*\* 900 changes\./g, /> - approval `a+\d+` releases /g, /> - policy weakens guards/g])
      expect(text.match(said)).toHaveLength(size)
  }
  // Plans that say nothing leave their room to the others.
  expect(shown(1, 20).length).toBeGreaterThan(20_000)
})
