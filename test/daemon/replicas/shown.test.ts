// The digest by which replicas compare their configurations.
import { expect, test } from 'vitest'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'
import { house } from '../../support/daemons.ts'
import { MINUTE } from '../../support/living.ts'

test('the digest of a config does not depend on its folder and layout, nor on the places of secrets and certificates', async () => {
  const told: string[] = []
  const want = (wanted: readonly { readonly config: string }[]) => void told.push(...wanted.map(({ config }) => config))
  const envelope = 'envelopes: [{name: a, workspace: acme, policies: [acme/a], groups: [ga], maxCap: 3000}]'
  const workspace = 'workspaces: [{name: acme, policies: [acme], directory: {file: people.csv, id: email, columns: [unit]}}]'
  const one = await house([], {}, {}, { leases: { holds: () => false, want } })
  /** What a replica tells the others that has this config. */
  const digest = async (notify: string, at = 'c.yaml'): Promise<string | undefined> => {
    const text = `apiVersion: capkeeper/v1\nkind: Config\nnotify:\n  ${notify}\n${envelope}\n${workspace}\n`
    one.config = loadConfig({ env: {}, flags: { config: at }, cwd: folder({ [at]: text }) }).config
    const before = told.length
    one.daemon.configChanged()
    await one.clock.pass(MINUTE)
    expect(told.length).toBe(before + 1)
    return told.at(-1)
  }
  const mail = (password: string, ca = 'ca.pem') =>
    `email: {host: h, from: a@b.example, user: u, password: ${password}, caFile: ${ca}}\n  webhooks: [{name: chat, url: {file: chat}}]`
  const first = await digest(mail('{file: mail-password}'))
  expect(first).toMatch(/^[0-9a-f]{12}$/)
  expect(await digest(mail('{file: mail-password}'), 'elsewhere/c.yaml')).toBe(first)
  expect(await digest(`${mail('{file: mail-password}')}\n# A comment.`)).toBe(first)
  expect(await digest(mail('{env: MAIL_PASSWORD}', '/etc/ca.pem'))).toBe(first)
  expect(await digest(mail('{file: mail-password}').replace('host: h', 'host: i'))).not.toBe(first)
  expect(await digest(mail('{file: mail-password}').replace('name: chat', 'name: other'))).not.toBe(first)
})
