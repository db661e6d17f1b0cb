// The sandbox's page: its content, that its curl lines work unchanged, and that nothing can be injected into it.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await startSandbox({ capSpelling: 'both', rateLimit: { limit: 1000, windowMs: 1000 } })
})
afterAll(() => fixture.close())

const page = async () => {
  const answer = await fetch(fixture.url)
  return { headers: answer.headers, text: await answer.text() }
}
const TEXTS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
const plain = (markup: string): string => markup.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => TEXTS[name] ?? '')

test('lists every operation with its permission, every key, and the switches that differ', async () => {
  const text = plain((await page()).text)
  const { paths } = JSON.parse(await (await fetch(`${fixture.url}/openapi.json`)).text())
  for (const [path, { post }] of Object.entries<{ post: { summary: string } }>(paths))
    for (const part of [path.replace('/api/v1/', ''), post.summary]) expect(text).toContain(part)
  for (const [key, permissions] of [
    ['sandbox-admin', 'Analytics Read, Teams Read-only, Billing Read, Billing Write'],
    ['sandbox-analytics', 'Analytics Read'],
    ['sandbox-teams-read', 'Teams Read-only'],
    ['sandbox-billing-read', 'Billing Read'],
    ['sandbox-billing-write', 'Billing Write'],
  ])
    expect(text).toContain(`<code>${key}</code></td><td>${permissions}</td>`)
  expect(text).toContain('--cap-spelling "both"')
  expect(text).toContain('20 invented people in 4 groups')
})

test('has a curl line for each operation that works unchanged', async () => {
  const lines = [...(await page()).text.matchAll(/<pre>(curl .*?)<\/pre>/g)].map(([, line = '']) => plain(line))
  expect(lines).toHaveLength(6)
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    expect(JSON.parse(stdout), line).not.toHaveProperty('error')
  }
})

test('has no script, and a content policy that forbids everything else', async () => {
  const { headers, text } = await page()
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'/)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(text).not.toMatch(/<script|\son\w+=|javascript:|src=/i)
})

test('escapes values of a fixture', async () => {
  fixture.sandbox.store.saveKey({ secret: '<script>alert(1)</script>', permissions: ['Billing Read'], groupId: '"><img src=x>' })
  const { text } = await page()
  expect(text).not.toMatch(/<script|<img/)
  expect(plain(text)).toContain('<code><script>alert(1)</script></code>')
})

test('is read-only, and one of three pages', async () => {
  expect((await fetch(fixture.url, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(fixture.url, { method: 'POST', body: '{}' })).status).toBe(405)
  const schema = JSON.parse(await (await fetch(`${fixture.url}/fixture.schema.json`)).text())
  const isFixture = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
  const good = { apiVersion: 'capkeeper/v1', kind: 'SandboxFixture', people: [{ email: 'ada@example.com' }] }
  expect([isFixture(good), isFixture({ ...good, people: [{ name: 'Ada' }] }), isFixture({ ...good, more: 1 })]).toEqual([
    true,
    false,
    false,
  ])
})
