// The digest by which replicas compare their configurations.
import { expect, test } from 'vitest'
import { wantedIn } from '../../../src/daemon/replicas/shown.ts'
import { folder } from '../../policy/support.ts'
import { loadConfig } from '../../support/config.ts'

function digest(notify: string, at = 'c.yaml'): string | undefined {
  const text = `apiVersion: capkeeper/v1\nkind: Config\nnotify:\n  ${notify}\nworkspaces: [{name: acme, policies: [acme]}]\n`
  const { config } = loadConfig({ file: at, env: {}, flags: {}, cwd: folder({ [at]: text }) })
  return config && wantedIn(config)[0]?.config
}

test('the digest of a config does not depend on its folder, nor on the places of secrets and certificates', () => {
  const mail = (password: string, ca = 'ca.pem') =>
    `email: {host: h, from: a@b.example, user: u, password: ${password}, caFile: ${ca}}\n  webhooks: [{name: chat, url: {file: chat}}]`
  const one = digest(mail('{file: mail-password}'))
  expect(one).toMatch(/^[0-9a-f]{12}$/)
  expect(digest(mail('{file: mail-password}'), 'elsewhere/c.yaml')).toBe(one)
  expect(digest(mail('{env: MAIL_PASSWORD}', '/etc/ca.pem'))).toBe(one)
  expect(digest(mail('{file: mail-password}').replace('host: h', 'host: i'))).not.toBe(one)
  expect(digest(mail('{file: mail-password}').replace('name: chat', 'name: other'))).not.toBe(one)
})
