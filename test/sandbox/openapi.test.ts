// The OpenAPI document: it is valid, agrees with the tables, and the answers of the service match it.
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'
import { fieldNames, INTERFACE } from './analytics-asking.ts'

const OPERATIONS = ['Analytics', 'UserPageAnalytics', 'CascadeAnalytics', 'GetUsageConfig', 'UsageConfig', 'GetTeamCreditBalance'] as const

interface Document {
  readonly paths: Readonly<Record<string, { readonly post: OperationObject }>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

type Content = Readonly<
  Record<string, { readonly schema: object; readonly examples?: Readonly<Record<string, { readonly value: object }>> }>
>

interface OperationObject {
  readonly requestBody: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

const documentOf = async ({ url }: SandboxFixture): Promise<Document> => JSON.parse(await (await fetch(`${url}/openapi.json`)).text())

/** The request that the document gives as an example. */
const exampleOf = ({ paths }: Document, operation: string): object =>
  paths[`/api/v1/${operation}`]?.post.requestBody.content['application/json']?.examples?.['sandbox']?.value ?? {}

/** Holds values against schemas of the document, formats included. */
function judge(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'doc', components: document.components })
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  return (name: string, value: unknown): readonly string[] => {
    const check = compiled.get(name) ?? ajv.compile({ $ref: `doc#/components/schemas/${name}` })
    compiled.set(name, check)
    return check(value) ? [] : (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
  }
}

const OPEN = { Analytics: 200, UserPageAnalytics: 200, CascadeAnalytics: 200 }

const SWITCHED: readonly (readonly [string, NonNullable<Parameters<typeof startSandbox>[0]>])[] = [
  ['as by default', {}],
  ['as live deployments spell and count', { names: 'live', int64: 'string', zeros: 'omitted', capSpelling: 'snake', writeBody: 'empty' }],
  ['with both spellings, and no credits in analytics', { capSpelling: 'both', plan: 'quota', zeros: 'omitted' }],
  ['without a balance', { plan: 'team', errors: 'connect' }],
  ['with add-on use by person', { addOnRows: 'served', zeros: 'omitted' }],
  ['without caps', { plan: 'no-caps' }],
  ['with errors as text', { errors: 'text' }],
  ['with errors in a 200', { errors: 'ok' }],
]

describe.each(SWITCHED)('%s', (_name, switches) => {
  let fixture: SandboxFixture
  let document: Document
  let valid: ReturnType<typeof judge>
  beforeAll(async () => {
    fixture = await startSandbox({ days: 12, ...switches })
    document = await documentOf(fixture)
    valid = judge(document)
  })
  afterAll(() => fixture.close())

  /** Sends a body, and holds the answer against what the document says of its status. */
  const kept = async (operation: string, body: object): Promise<number> => {
    const answer = await fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: JSON.stringify(body) })
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
    const described = document.paths[`/api/v1/${operation}`]?.post.responses[answer.status]
    expect(described, `${operation} answers ${answer.status}`).toBeDefined()
    const text = await answer.text()
    if (operation === 'UsageConfig' && fixture.sandbox.switches.writeBody === 'empty' && text === '') return answer.status
    expect(Object.keys(described?.content ?? {})).toContain(type)
    if (type === 'text/plain') return answer.status
    const schemas = JSON.stringify(described?.content?.[type]?.schema).matchAll(/schemas\/(\w+)/g)
    // Only in the style `ok` a refusal is a 200.
    const mayBe = (name: string) => name !== 'Error' || answer.status !== 200 || fixture.sandbox.switches.errors === 'ok'
    const faults = [...schemas].flatMap(([, name = '']) => (mayBe(name) ? [valid(name, JSON.parse(text))] : []))
    expect(
      faults.some((one) => one.length === 0),
      JSON.stringify(faults),
    ).toBe(true)
    return answer.status
  }

  test('is a valid OpenAPI 3.1 document, and served', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) })
    expect([result.errors, result.valid]).toEqual([undefined, true])
    const { headers } = await fetch(`${fixture.url}/openapi.json`)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  test.each(OPERATIONS)('%s: examples match the schemas, and work', async (operation) => {
    const { responses } = document.paths[`/api/v1/${operation}`]?.post ?? {}
    const request = exampleOf(document, operation)
    expect(valid(`${operation}Request`, request)).toEqual([])
    const { plan, errors } = fixture.sandbox.switches
    const refused = operation === 'GetTeamCreditBalance' && plan === 'team' && errors !== 'ok'
    const capless = { GetUsageConfig: 400, UsageConfig: 403, GetTeamCreditBalance: 403, ...OPEN }[operation]
    expect(await kept(operation, request)).toBe(plan === 'no-caps' ? capless : refused ? 403 : 200)
    const answers = Object.values({ ...responses?.['200']?.content?.['application/json']?.examples })
    expect(answers).toHaveLength(1)
    for (const { value } of answers) expect(valid(`${operation}Answer`, value)).toEqual([])
  })

  test.each(OPERATIONS)('%s: answers of every kind match the document', async (operation) => {
    const good = exampleOf(document, operation)
    const other = { service_key: operation === 'Analytics' ? 'sandbox-billing-read' : 'sandbox-analytics' }
    const faults = [
      ...[{ service_key: 'sandbox-none' }, other, { group_name: 'Nobody' }, { group_id: 'x' }, { user_email: 'x@y' }],
      ...[{ start_timestamp: 'x' }, { query_requests: [] }, { query_requests: 7 }, { team_level: 'x' }],
    ]
    const bodies = [{}, { service_key: 'nobody' }, ...faults.map((fault) => ({ ...good, ...fault }))]
    const statuses = await Promise.all(bodies.map((body) => kept(operation, body)))
    expect(statuses.slice(0, 2)).toEqual(fixture.sandbox.switches.errors === 'ok' ? [200, 200] : [401, 401])
  })
})

test.each(['Analytics', 'CascadeAnalytics'] as const)('%s accepts as many queries as the document says, and no more', async (operation) => {
  const fixture = await startSandbox({ people: 2, days: 1 })
  const document = await documentOf(fixture)
  const { query_requests: queries } = { query_requests: [], ...exampleOf(document, operation) }
  const valid = judge(document)
  for (const [count, status] of [
    [100, 200],
    [101, 400],
  ] as const) {
    const body = { service_key: 'sandbox-admin', query_requests: Array.from({ length: count }, () => queries[0]) }
    expect(fixture.sandbox.handle(operation, body).status).toBe(status)
    expect(valid(`${operation}Request`, body).length === 0).toBe(status === 200)
  }
  await fixture.close()
})

describe.each(['refused', 'served'] as const)('the query language in the document, add-on rows %s', async (addOnRows) => {
  const fixture = await startSandbox({ people: 3, days: 1, addOnRows })
  afterAll(() => fixture.close())
  const document = await documentOf(fixture)
  const valid = judge(document)
  const sources = Object.keys(INTERFACE).filter((source) => source !== 'CASCADE_DATA' || addOnRows === 'served')
  const LIVE = ['codeium_bytes', 'codeium_bytes_by_autocomplete', 'codeium_bytes_by_command']
  const SHIFTED = ['date UTC-8', 'date UTC+2', 'date UTC+5:30', 'date UTC+5.75', 'date UTC', 'date UTC8', 'date utc-8', 'date UTC-x']
  const names = fc.constantFrom(...new Set(Object.values(INTERFACE).flatMap(fieldNames)), ...LIVE, ...SHIFTED, 'nothing')
  const bodyOf = (source: string, query: object) => ({
    service_key: 'sandbox-admin',
    query_requests: [{ data_source: `QUERY_DATA_SOURCE_${source}`, ...query }],
  })

  test('accepts a selection exactly when the service does', () => {
    const functions = fc.constantFrom(
      ...['UNSPECIFIED', 'COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'MEDIAN'].map((fn) => `QUERY_AGGREGATION_${fn}`),
    )
    fc.assert(
      fc.property(fc.constantFrom(...sources), names, functions, (source, field, fn) => {
        const body = bodyOf(source, { selections: [{ field, aggregation_function: fn }] })
        const { status, body: text } = fixture.sandbox.handle('Analytics', body)
        expect(valid('AnalyticsRequest', body).length === 0, `${field} ${fn}: ${text.slice(0, 300)}`).toBe(status === 200)
      }),
      { numRuns: 200 },
    )
  })

  test('accepts a group-by and a filter exactly when the service does', () => {
    const isRefused = (source: string, query: object, why: string) =>
      fixture.sandbox.handle('Analytics', bodyOf(source, query)).body.includes(why)
    fc.assert(
      fc.property(fc.constantFrom(...sources), names, (source, name) => {
        const [group, filter] = [
          { field: name, name: 'a' },
          { name, filter: 'QUERY_FILTER_EQUAL', value: '1' },
        ]
        const filtered = { selections: [{ field: source === 'PCW_DATA' ? 'user_bytes' : 'ide' }], filters: [filter] }
        expect(valid(`Filter.${source}`, filter).length > 0).toBe(isRefused(source, filtered, 'cannot filter on'))
        const grouped = { selections: [], aggregations: [group] }
        if (source !== 'PCW_DATA') expect(valid(`Aggregation.${source}`, group).length > 0).toBe(isRefused(source, grouped, '"error"'))
        expect(valid('Query', bodyOf(source, { selections: [] }).query_requests[0]).length).toBeGreaterThan(0)
      }),
    )
  })

  test('has every field of the interface with a meaning, and the known values of open lists', () => {
    const { schemas } = document.components
    for (const source of sources) {
      const text = JSON.stringify(schemas[`Query.${source}`])
      for (const name of fieldNames(INTERFACE[source] ?? '')) expect(text).toContain(name)
    }
    const all = JSON.stringify(schemas)
    for (const value of [
      'CHAT_INTENT_FUNCTION_UNIT_TESTS',
      'COMMAND_REQUEST_SOURCE_PLAN',
      'PROVIDER_SOURCE_COMMAND_EDIT',
      'response accepted (thumbs up)',
    ])
      expect(all).toContain(value)
  })
})
