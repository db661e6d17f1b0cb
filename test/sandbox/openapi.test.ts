// The OpenAPI document: it is valid, agrees with the tables, and the answers of the service match it.
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { FUNCTIONS, findField, sourcesServed } from '../../src/sandbox/analytics/fields.ts'
import { OPERATION_TEXTS, openApiDocument } from '../../src/sandbox/http/openapi.ts'
import { DEFAULT_SWITCHES, type Switches } from '../../src/sandbox/switches.ts'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

const OPERATIONS = Object.keys(OPERATION_TEXTS) as readonly Operation[]

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

const documentOf = (switches: Partial<Switches> = {}): Document =>
  JSON.parse(JSON.stringify(openApiDocument({ ...DEFAULT_SWITCHES, ...switches })))

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

const SWITCHED: readonly (readonly [string, Partial<Switches>])[] = [
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
  const document = documentOf(switches)
  const valid = judge(document)
  let fixture: SandboxFixture
  beforeAll(async () => {
    fixture = await startSandbox({ days: 12, ...switches })
  })
  afterAll(() => fixture.close())

  /** Sends a body, and holds the answer against what the document says of its status. */
  const kept = async (operation: Operation, body: object): Promise<number> => {
    const answer = await fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: JSON.stringify(body) })
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
    const described = document.paths[`/api/v1/${operation}`]?.post.responses[answer.status]
    expect(described, `${operation} answers ${answer.status}`).toBeDefined()
    const text = await answer.text()
    if (!described?.content) {
      expect(text).toBe('')
      return answer.status
    }
    expect(Object.keys(described.content)).toEqual([type])
    const value: unknown = type === 'text/plain' ? text : JSON.parse(text)
    const schemas = JSON.stringify(described.content[type]?.schema).matchAll(/schemas\/(\w+)/g)
    const faults = [...schemas].map(([, name = '']) => valid(name, value))
    expect(
      faults.some((one) => one.length === 0),
      JSON.stringify(faults),
    ).toBe(true)
    return answer.status
  }

  test('is a valid OpenAPI 3.1 document, and served', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) })
    expect([result.errors, result.valid]).toEqual([undefined, true])
    const answer = await fetch(`${fixture.url}/openapi.json`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await answer.json()).toEqual(document)
  })

  test.each(OPERATIONS)('%s: examples match the schemas, and work', async (operation) => {
    const { requestBody, responses } = document.paths[`/api/v1/${operation}`]?.post ?? {}
    const request = requestBody?.content['application/json']?.examples?.['sandbox']?.value ?? {}
    expect(valid(`${operation}Request`, request)).toEqual([])
    const { plan, errors } = fixture.sandbox.switches
    const refused = operation === 'GetTeamCreditBalance' && plan === 'team' && errors !== 'ok'
    const capless = { GetUsageConfig: 400, UsageConfig: 403, GetTeamCreditBalance: 403, ...OPEN }[operation]
    expect(await kept(operation, request)).toBe(plan === 'no-caps' ? capless : refused ? 403 : 200)
    const answers = Object.values({ ...responses?.['200']?.content?.['application/json']?.examples })
    if (Object.keys(switches).length > 0) return
    expect(answers).toHaveLength(1)
    for (const { value } of answers) expect(valid(`${operation}Answer`, value)).toEqual([])
  })

  test.each(OPERATIONS)('%s: answers of every kind match the document', async (operation) => {
    const good = { service_key: 'sandbox-admin', ...OPERATION_TEXTS[operation].example }
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
  const { query_requests: queries } = { query_requests: [], ...OPERATION_TEXTS[operation].example }
  const valid = judge(documentOf())
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

describe.each(['refused', 'served'] as const)('the query language in the document, add-on rows %s', (addOnRows) => {
  const valid = judge(documentOf({ addOnRows }))
  const sources = sourcesServed({ addOnRows, plan: 'enterprise' })
  const NAMES = [...new Set([...sources.flatMap((source) => source.fields.flatMap((field) => [field.name, field.liveName ?? 'x']))])]
  const SHIFTED = ['date UTC-8', 'date UTC+2', 'date UTC+5:30', 'date UTC+5.75', 'date UTC', 'date UTC8', 'date utc-8', 'date UTC-x']
  const names = fc.constantFrom(...NAMES, ...SHIFTED, 'nothing')

  test('accepts a selection exactly when the service does', async () => {
    const fixture = await startSandbox({ people: 3, days: 1, addOnRows })
    const row = fc.record({
      source: fc.constantFrom(...sources),
      field: names,
      fn: fc.constantFrom(...FUNCTIONS, 'QUERY_AGGREGATION_MEDIAN'),
    })
    fc.assert(
      fc.property(row, ({ source, field, fn }) => {
        const selection = { field, aggregation_function: fn }
        const body = { service_key: 'sandbox-admin', query_requests: [{ data_source: source.name, selections: [selection] }] }
        const { status, body: text } = fixture.sandbox.handle('Analytics', body)
        expect(valid('AnalyticsRequest', body).length === 0, `${field} ${fn}: ${text.slice(0, 300)}`).toBe(status === 200)
      }),
      { numRuns: 200 },
    )
    await fixture.close()
  })

  test('accepts a group-by and a filter exactly where the table does', () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), names, (source, name) => {
        const field = findField(source, name)?.field
        const query = { data_source: source.name, selections: [] }
        const short = source.name.replace('QUERY_DATA_SOURCE_', '')
        const filter = { name, filter: 'QUERY_FILTER_EQUAL', value: '1' }
        expect(valid(`Filter.${short}`, filter).length === 0).toBe(field?.filterable === true)
        if (!source.totals) expect(valid(`Aggregation.${short}`, { field: name, name: 'a' }).length === 0).toBe(field?.groupable === true)
        expect(valid('Query', query).length).toBeGreaterThan(0)
      }),
    )
  })

  test('has the meaning of every field, and the known values of every open list', () => {
    const schemas = documentOf({ addOnRows }).components.schemas
    expect(Object.hasOwn(schemas, 'Query.CASCADE_DATA')).toBe(addOnRows === 'served')
    for (const source of sources) {
      const text = JSON.stringify(schemas[`Query.${source.name.replace('QUERY_DATA_SOURCE_', '')}`])
      for (const { name, meaning, values = [] } of source.fields)
        for (const part of [name, meaning, ...values]) expect(text).toContain(part)
    }
  })
})
