// The address of a daemon as a flag gives it: what cannot be asked is refused by the name of the flag, and a password in it is shown nowhere.
import { expect, test } from 'vitest'
import { run } from './world.ts'

const PASSWORD = 'hunter2'
const WITH_PASSWORD = `http://viewer:${PASSWORD}@127.0.0.1:1`
const plan = ['plan', '--base-url', 'http://127.0.0.1:1', '--policies', 'policies', '--ledger']

test.each([
  ['status', ['status', '--url', WITH_PASSWORD], '--url: an address holds no user name and no password'],
  ['plan', [...plan, WITH_PASSWORD], '--ledger: an address holds no user name and no password'],
  ['history', ['history', '--ledger', WITH_PASSWORD], 'http://127.0.0.1:1 is the ledger of a running daemon'],
  ['simulate', ['simulate', 'policies', '--ledger', WITH_PASSWORD], 'http://127.0.0.1:1 is the address of a daemon'],
  ['status with an odd password', ['status', '--url', `http://viewer:${PASSWORD}/x@127.0.0.1:1`], "--url is 'http://127.0.0.1:1'"],
])('%s refuses an address with a password, and does not show it', async (_name, argv, says) => {
  const ran = await run(argv, { env: { CAPKEEPER_SERVICE_KEY: 'a-key' } })
  expect(ran).toMatchObject({ code: 64, stderr: expect.stringContaining(says) })
  expect(ran.stdout + ran.stderr).not.toContain(PASSWORD)
})

test.each([
  ['without a host', 'http://', 64, "--ledger is 'http://'; write an address such as"],
  ['with a port that is none', 'http://127.0.0.1:99999', 64, "--ledger is 'http://127.0.0.1:99999'"],
  ['in capitals', 'HTTP://127.0.0.1:1', 1, 'no daemon answers at http://127.0.0.1:1/ledger'],
])('an address %s is no file', async (_name, address, code, says) => {
  const ran = await run([...plan, address], { env: { CAPKEEPER_SERVICE_KEY: 'a-key' } })
  expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) })
})
