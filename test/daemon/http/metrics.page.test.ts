import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelText } from '../../../src/core/escape/text.ts'
import { credits } from '../../../src/core/model/units.ts'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../../src/daemon/http/metrics/gauges.ts'
import { texts } from '../../core/escape/texts.ts'
import { event, HEALTHY, start } from '../../support/metrics.ts'
import { emptyView, fullView, peopleOf, personEmail, rosterOf } from '../../support/views.ts'

type WorkspaceView = ReturnType<typeof fullView>

const promtool = ['/usr/bin/promtool', '/usr/local/bin/promtool'].find((path) => existsSync(path))

/** What promtool finds wrong. It takes a count of person-days for a duration, which is to be in seconds. */
function faultsIn(page: string): readonly string[] {
  const { stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { input: page, encoding: 'utf8' })
  return (stdout + stderr).split('\n').filter((line) => line !== '' && !line.startsWith('capkeeper_history_person_days use base unit'))
}

describe('the page as a whole', () => {
  const hostile = 'a"b\\c d{e="f"}'
  const hostileView = (): WorkspaceView => {
    const view = fullView(hostile)
    return { ...view, groups: view.groups.map((group) => ({ ...group, id: hostile })) }
  }

  test.skipIf(!promtool)('passes promtool check metrics, with and without anything known (needs promtool)', async () => {
    const users = { perUser: 'all', userLabel: (email: string) => email } as const
    const { metrics } = start({ users }, ['acme', 'beta', hostile])
    metrics.onEvent(event({ kind: 'cycle-finished', result: 'success', observeMs: 1, applyMs: 1, totalMs: 2 }))
    for (const views of [[], [emptyView()], [fullView(), emptyView('beta'), hostileView()]]) {
      expect(faultsIn(await metrics.render(views, HEALTHY))).toEqual([])
    }
  })

  /** Labels as whoever looks at a dashboard sees them; two texts that look alike there are one series. */
  const someTexts = [...new Set(fc.sample(texts, { numRuns: 400, seed: 11 }).map(labelText))]

  test.skipIf(!promtool)('passes promtool check metrics whatever groups and models are called (needs promtool)', async () => {
    const views = [hostilePeople(someTexts)]
    expect(faultsIn(await start().metrics.render(views, HEALTHY))).toEqual([])
  })

  test('carries groups and models of any name, as they show', async () => {
    const page = await start().scrape(hostilePeople(someTexts))
    const groups = page.series('capkeeper_group_prompt_credits_used').map(({ labels }) => labels['group'])
    expect(groups.toSorted()).toEqual(someTexts.toSorted())
    const used = page.series('capkeeper_model_credits_used').map(({ labels }) => labels['model'])
    expect(used.toSorted()).toEqual(someTexts.toSorted())
    expect(page.samples.flatMap(({ labels }) => Object.values(labels)).join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}]/u)
  })

  function hostilePeople(names: readonly string[]): WorkspaceView {
    const view = fullView()
    const [group] = view.groups
    const models = names.map((model) => ({ model, mode: 'chat', used: credits(1) }))
    const use = { burned: { team: credits(0), groups: {} }, runsReadAt: group?.readAt ?? 0, models }
    return { ...view, use, groups: group ? names.map((id) => ({ ...group, id })) : [] }
  }

  test('shows every metric under its name and type', async () => {
    const page = await start().scrape(fullView())
    for (const name of Object.keys(GAUGES)) expect(page.types.get(name), name).toBe('gauge')
    for (const name of Object.keys(COUNTERS)) expect(page.types.get(name), name).toBe('counter')
    for (const name of Object.keys(HISTOGRAMS)) expect(page.types.get(name), name).toBe('histogram')
    expect(page.samples.some(({ name }) => name.startsWith('process_'))).toBe(true)
    expect(page.samples.some(({ name }) => name.startsWith('nodejs_'))).toBe(true)
  })

  test('carries hostile label values unharmed', async () => {
    const page = await start({}, [hostile]).scrape(hostileView())
    expect(page.value('capkeeper_group_prompt_credits_used', { workspace: hostile, group: hostile })).toBe(30)
  })

  test('has a number of series that does not depend on the number of users, and names none of them', async () => {
    const seriesOf = async (people: number) => {
      const { metrics, scrape } = start()
      const view = fullView('acme', people)
      const page = await scrape({ ...view, people: peopleOf(rosterOf(people), 100) })
      expect(await metrics.render([view], HEALTHY)).not.toContain('@')
      return page.samples.filter(({ name }) => name.startsWith('capkeeper_')).length
    }
    expect(await seriesOf(3000)).toBe(await seriesOf(3))
  })

  test('is the same for two scrapes at once', async () => {
    const { metrics } = start()
    const pages = await Promise.all([metrics.render([fullView()], HEALTHY), metrics.render([fullView()], HEALTHY)])
    const ours = pages.map((page) => page.split('\n').filter((line) => line.startsWith('capkeeper_')))
    expect(ours[0]).toEqual(ours[1])
  })
})

describe('series per user', () => {
  const view = (people: number): WorkspaceView => ({ ...fullView('acme', people), people: peopleOf(rosterOf(people), 100) })
  const userLabel = (email: string) => `hash of ${email.split('@')[0]}`

  test('are off unless asked for', async () => {
    expect((await start({ users: { perUser: 'off', userLabel } }).scrape(view(3))).series('capkeeper_user_credits_used')).toEqual([])
  })

  test('show cap and use under the label that was asked for', async () => {
    const page = await start({ users: { perUser: 'all', userLabel } }).scrape(view(3))
    expect(page.value('capkeeper_user_credits_used', { workspace: 'acme', user: 'hash of person2' })).toBe(20)
    expect(page.value('capkeeper_user_cap_credits', { workspace: 'acme', user: 'hash of person2' })).toBe(100)
  })

  test('of top are those of the people with the highest use', async () => {
    const page = await start({ users: { perUser: 'top', userLabel: (email) => email } }).scrape(view(500))
    const shown = page.series('capkeeper_user_credits_used')
    expect(shown).toHaveLength(50)
    expect(shown.map(({ labels }) => labels['user'])).toContain(personEmail(499))
    expect(page.value('capkeeper_metrics_dropped_series_total')).toBe(0)
  })

  test('stop at 1000 users, and the rest is counted, once', async () => {
    const { scrape } = start({ users: { perUser: 'all', userLabel } })
    await scrape(view(1200))
    const page = await scrape(view(1200))
    expect(page.series('capkeeper_user_credits_used')).toHaveLength(1000)
    expect(page.value('capkeeper_metrics_dropped_series_total')).toBe(400)
  })
})
