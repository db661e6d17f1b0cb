// What plan, apply and explain say of what is not written, by the commands themselves: nothing is left without a word, and no word is wrong.
import { expect, test } from 'vitest'
import { world } from './world.ts'

const ADA = 'ada.lovelace@example.com'
const pending = 'felix.ivanov@example.com'

test('apply with a key that may not write shows the result of every change', async () => {
  const keys = { default: { file: 'key' }, billingWrite: { file: 'reader' } }
  const policy = `team: {cap: 500}\nusers: [{email: ${ADA}, cap: 900}, {email: grace.hopper@example.com, cap: 800}]`
  const at = await world({ policy, settings: { keys } })
  at.write('reader', 'sandbox-billing-read')
  const { code, stdout } = await at.run('apply', '--yes', '--output', 'json')
  const changes: readonly { result?: string; waitsFor?: { why: string } }[] = JSON.parse(stdout).changes
  expect({ code, changes: changes.length }).toEqual({ code: 1, changes: 3 })
  expect(changes.filter(({ result }) => result === 'failed')).toHaveLength(at.service.calls.count('UsageConfig'))
  expect(at.service.calls.count('UsageConfig')).toBeGreaterThan(0)
  for (const { result, waitsFor } of changes) expect(result ?? waitsFor?.why).toMatch(/failed|^not tried|comes first/)
})

test('apply that could read nothing does not speak of no changes', async () => {
  const at = await world()
  at.write('key', 'nobodys-key')
  const { code, stdout } = await at.run('apply', '--yes')
  expect(code).toBe(1)
  expect(stdout).toContain('Nothing could be read, so nothing is planned. 1 unknown.')
})

test('a 0 that the service does not keep is rejected, and not in sync as well', async () => {
  const at = await world({ policy: `users: [{email: ${ADA}, cap: 0, allowZero: true}]`, sandbox: { zeroCap: 'omitted' } })
  at.service.setCap(ADA, 44)
  expect((await at.run('apply', '--yes')).code).toBe(1)
  const { stdout } = await at.run('plan')
  expect(stdout).toContain('No changes. 1 rejected.\n')
})

test('explain shows no head-room for a person whose cap it could not read', async () => {
  const at = await world({ policy: 'groups: [{id: grp_mobile, name: Mobile, cap: 900}]' })
  for (const who of [pending, 'nobody@example.com']) {
    const { stdout } = await at.run('explain', who)
    expect(stdout).toContain('In force: not known.')
    expect(stdout).not.toContain(' left')
  }
})
