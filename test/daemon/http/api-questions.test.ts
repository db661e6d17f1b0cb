// Questions to /api/v1 over real HTTP: those that make no sense are refused in words, and none is that the OpenAPI document allows.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { API_ROUTES } from '../../../src/daemon/http/api-table.ts'
import { offences } from '../../support/api-schema.ts'
import { serve } from '../../support/serve.ts'
import { fullView, HOLD } from '../../support/views.ts'

describe('an invalid request', () => {
  const rows: readonly (readonly [string, number, string])[] = [
    ['/api/v1/workspaces?pge=2', 400, 'there is no parameter "pge" here; did you mean "page"?'],
    ['/api/v1/workspaces?page=0', 400, 'page cannot be "0"; write a whole number from 1 to 100000'],
    ['/api/v1/workspaces/acme?x=1', 400, 'there is no parameter "x" here, and no other'],
    ['/api/v1/workspaces/acme/people?band=at_cpa', 400, 'band cannot be "at_cpa"; did you mean "at_cap"?'],
    ['/api/v1/workspaces/acme/people?page=1&page=2', 400, '"page" is given twice'],
    ['/api/v1/workspaces/acme/people?group=none', 404, 'no declared group has this id'],
    ['/api/v1/workspaces/acme/changes?after=x', 400, 'after cannot be "x"; give "next" of the previous answer'],
    ['/api/v1/workspaces/acme/changes?since=yesterday', 400, 'write an instant such as'],
    ['/api/v1/workspaces/acme/changes?since=2026-02-30', 400, 'write an instant such as'],
    ['/api/v1/workspaces/other', 404, 'there is no such workspace, or it is not yours to see'],
    ['/api/v1/workspaces/acme/people/nobody', 404, 'this workspace has no such person'],
    ['/api/v1/workspaces/acme/groups/none', 404, 'no declared group has this id'],
    ['/api/v1/workspaces/acme/holds/none', 404, 'there is no such hold'],
    ['/api/v1/workspaces/acme/series/none', 404, '/openapi.json names all'],
    ['/api/v1', 404, '/openapi.json names all'],
    ['/api/v1/workspaces/%ff', 400, 'this address is malformed'],
  ]
  test.each(rows)('%s is %i with the way out', async (path, status, message) => {
    const { url } = await serve({ views: () => [fullView()] })
    const answer = await fetch(url + path)
    const value = JSON.parse(await answer.text())
    expect([answer.status, value.message]).toEqual([status, expect.stringContaining(message)])
    expect(offences('Error', value)).toEqual([])
  })

  test('is no request that the OpenAPI document allows', async () => {
    const { url } = await serve({ views: () => [fullView()] })
    const anyValue = ({
      kind,
      words = [],
      pattern,
      least = 0,
      most = 0,
    }: (typeof API_ROUTES)[number]['parameters'][number]): fc.Arbitrary<string> => {
      if (kind === 'word') return fc.constantFrom(...words)
      if (kind === 'whole') return fc.integer({ min: least, max: most }).map(String)
      if (kind === 'instant') return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((at) => at.toISOString())
      return pattern ? fc.stringMatching(pattern) : fc.string({ unit: 'grapheme', maxLength: 40 })
    }
    const questions = API_ROUTES.filter(({ parameters }) => parameters.length > 0).map(({ path, parameters }) =>
      fc
        .record(Object.fromEntries(parameters.map((one) => [one.name, anyValue(one)])), { requiredKeys: [] })
        .map(
          (query) =>
            `${path.replace(':workspace', 'acme').replace(/:\w+/, HOLD.id)}?${new URLSearchParams(Object.entries(query).map(([name, value = '']): [string, string] => [name, value]))}`,
        ),
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(...questions), async (path) => {
        expect([200, 404]).toContain((await fetch(url + path)).status)
      }),
      { numRuns: 60 },
    )
  })

  test('a write is 405', async () => {
    const { url } = await serve({ views: () => [fullView()] })
    const answer = await fetch(`${url}/api/v1/workspaces/acme`, { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow'), JSON.parse(await answer.text()).kind]).toEqual([405, 'GET, HEAD', 'Error'])
  })
})

test('what a team declares and an envelope refuses is among what a person should look at', async () => {
  const { policy, ...view } = fullView()
  const views = () => [{ ...view, ...(policy && { policy: { ...policy, valid: true } }) }]
  const { url } = await serve({ views })
  const { attention } = JSON.parse(await (await fetch(`${url}/api/v1/workspaces`)).text())
  expect(attention).toContainEqual(expect.objectContaining({ subject: 'policy', tone: 'warn', path: '/workspaces/acme/policies' }))
})
