import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { capkeeper, hasTerminals, onTerminal, until } from '../support/process.ts'
import { world } from './world.ts'

/** With characters that JSON and URLs spell in another way. */
const KEY = 'sk-recognisable"key/with\\every+sign&0123456789'
const ADA = 'ada.lovelace@example.com'

/** All the ways in which a text could give the key away, whole or for the most part. */
const SPELLINGS = [KEY, JSON.stringify(KEY).slice(1, -1), encodeURIComponent(KEY), encodeURI(KEY), 'recognisable', '0123456789'].flatMap(
  (text) => [text, Buffer.from(text).toString('base64').replace(/=+$/, '')],
)

const leaks = (text: string): readonly string[] => SPELLINGS.filter((spelling) => text.includes(spelling))

test('the service key is in nothing that capkeeper prints, logs, serves or keeps', async () => {
  const at = await world({
    policy: `team: {cap: 500}\nusers:\n  - {email: ${ADA}, cap: 4000}\n  - {email: grace.hopper@example.com, cap: 0, allowZero: true}\nprotected: [${ADA}]`,
    sandbox: { zeroCap: 'rejected' },
  })
  const { store } = at.service.sandbox
  const permissions = store.key('sandbox-admin')?.permissions ?? []
  store.saveKey({ secret: KEY, permissions })
  at.write('key', `${KEY}\n`)
  const outputs = new Map<string, string>()
  const keep = (name: string, ...texts: readonly string[]): void => void outputs.set(name, texts.join('\n'))
  const runBy = async (by: typeof capkeeper, argv: readonly string[]): Promise<void> => {
    const ran = await by([...argv, ...at.flags], { cwd: at.folder, env: { CAPKEEPER_DEBUG: '1' } })
    keep(argv.join(' '), String(ran.code), ran.stdout, ran.stderr)
  }
  const run = (...argv: readonly string[]): Promise<void> => runBy(capkeeper, argv)
  /** Without a process of its own: one of each kind has one. */
  const runInside = (...argv: readonly string[]): Promise<void> => runBy(inside, argv)
  const trace = ['--log-level', 'trace']

  await run('plan', '--out', at.path('plan.json'), ...trace)
  const daemon = await at.daemon(trace)
  await until('the first cap', () => at.service.capOf(ADA) === 4000)
  await runInside('explain', ADA, ...trace)
  await runInside('history', '--output', 'json')
  await runInside('ledger', 'backup', at.path('copy.db'))
  await runInside('apply', '--yes', ...trace)
  for (const path of ['/metrics', '/status', '/', '/readyz', '/livez', `/${encodeURIComponent(KEY)}`])
    keep(path, (await daemon.get(path)).text)
  // Taken away, so that the service refuses it and says so.
  store.saveKey({ secret: KEY, permissions: [] })
  const AUTH = { workspace: 'acme', operation: 'GetUsageConfig', outcome: 'auth' }
  await until('the refusal', async () => ((await daemon.metric('capkeeper_api_requests_total', AUTH)) ?? 0) > 0)
  for (const path of ['/metrics', '/status', '/']) keep(`${path}, refused`, (await daemon.get(path)).text)
  await runInside('plan', '--output', 'json', ...trace)
  await runInside('plan', '--output', 'markdown', ...trace)
  daemon.signal('SIGTERM')
  await daemon.ended
  await runInside('apply', '--yes', ...trace)
  await runInside('run', '--once', '--log-format', 'pretty', ...trace)
  keep('the log', daemon.stdout(), daemon.stderr())
  // Where somebody put it by mistake.
  await runInside('plan', `--service-key=${KEY}`)
  await runInside('plan', '--base-url', `http://user:${encodeURIComponent(KEY)}@127.0.0.1:9`)
  at.write('config.yaml', at.read('config.yaml').replace('"file": "key"', `"file": ${JSON.stringify(KEY)}, "key": ${JSON.stringify(KEY)}`))
  await runInside('validate')
  const env = { CAPKEEPER_SERVICE_KEY: KEY, CAPKEEPER_BASE_URL: at.service.url, CAPKEEPER_LEDGER: ':memory:', CAPKEEPER_DEBUG: '1' }
  const fromEnvironment = await inside(['plan', '--policies', at.path('policies'), ...trace], { env })
  keep('the key in the environment', fromEnvironment.stdout, fromEnvironment.stderr)
  if (hasTerminals) keep('a terminal', (await onTerminal(['plan', '--policies', at.path('policies')], { env })).screen)

  for (const name of readdirSync(at.folder))
    if (/\.db(-\w+)?$|plan\.json/.test(name)) keep(name, readFileSync(join(at.folder, name), 'latin1'))
  expect([...outputs.keys()]).toEqual(expect.arrayContaining(['plan.json', 'copy.db', 'ledger.db', '/metrics', 'the log']))
  expect([...outputs].filter(([name, text]) => text === '' && !name.includes('-')).map(([name]) => name)).toEqual([])
  expect([...outputs].flatMap(([name, text]) => leaks(text).map((spelling) => `${name} has ${spelling}`))).toEqual([])
  expect(outputs.get('the log')).toContain('"msg":"request finished"')
  expect(leaks(`x ${JSON.stringify({ service_key: KEY })}`)).not.toEqual([])
})
