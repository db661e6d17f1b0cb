// Which failures of a connection can end by waiting, and which are told at once. The driver fails as it does with servers that no test can have.
import { createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { openPostgres } from '../../../src/daemon/ledger/postgres/database.ts'
import { freePort } from '../../support/postgres.ts'
import { realClock } from '../../support/real-clock.ts'

const failure = (message: string, code?: string): Error => Object.assign(new Error(message), code === undefined ? {} : { code })
const ofAddresses = (...errors: readonly Error[]): Error => new AggregateError(errors)
const NO_PASSWORD = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'

afterEach(() => vi.restoreAllMocks())

test.each<readonly [string, Error, 'AWAY' | 'UNREADABLE', string]>([
  ['because it is cut is waited for', failure('Connection terminated unexpectedly'), 'AWAY', 'cannot be reached'],
  ['because it takes too long is waited for', failure('timeout expired'), 'AWAY', 'cannot be reached'],
  ['at all addresses, where one may come back, is waited for', ofAddresses(failure('no', 'EACCES'), failure('', 'ETIMEDOUT')), 'AWAY', ''],
  ['at all addresses for good is told', ofAddresses(failure('no', 'EACCES')), 'UNREADABLE', 'no connection can be made (no)'],
  ['because of a certificate is told', ofAddresses(failure('old', 'CERT_HAS_EXPIRED')), 'UNREADABLE', 'is not trusted (old)'],
  ['because the other side speaks no TLS is told', failure('wrong version', 'EPROTO'), 'UNREADABLE', 'no connection can be made'],
  ['because of an unreadable key is told', failure('no start line', 'ERR_OSSL_PEM_NO_START_LINE'), 'UNREADABLE', 'check host'],
  ['because no password was given is told', failure(NO_PASSWORD), 'UNREADABLE', 'PGPASSWORD'],
  ['because it is no PostgreSQL is told', failure('There was an error establishing an SSL'), 'UNREADABLE', 'check host, port'],
])('a connection that fails %s', async (_row, error, code, says) => {
  vi.spyOn(Client.prototype, 'connect').mockImplementation((done) => Reflect.apply(done, undefined, [error]))
  const database = openPostgres({ address: 'postgres://db', env: {}, clock: realClock() })
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: `LEDGER_${code}`, message: expect.stringContaining(says) })
})

/** Takes a login, and does this with each connection at its first statement. Resolves with its address. */
async function loginThen(atFirst: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'))
      socket.once('data', () => atFirst(socket))
    })
  })
  onTestFinished(() => void server.close())
  const port = await freePort()
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return `postgres://u@127.0.0.1:${port}/x?sslmode=disable`
}

test.each<readonly [string, (socket: Socket) => void]>([
  ['reset', (socket) => socket.resetAndDestroy()],
  ['closed', (socket) => socket.destroy()],
])('a connection that is %s right after the login is waited for, and ends no process', async (_how, atFirst) => {
  const database = openPostgres({ address: await loginThen(atFirst), env: {}, clock: realClock() })
  onTestFinished(() => database.close())
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'LEDGER_AWAY' })
})

test('a connection that breaks while the ledger is closed ends no process', async () => {
  const asked = Promise.withResolvers<Socket>()
  const database = openPostgres({
    address: await loginThen((socket) => {
      socket.write(Buffer.from('C\0\0\0\x08SET\0Z\0\0\0\x05I', 'latin1'))
      socket.once('data', () => asked.resolve(socket))
    }),
    env: {},
    clock: realClock(),
  })
  const answer = database.once('SELECT 1').catch(({ code }) => code)
  const socket = await asked.promise
  const closed = database.close()
  socket.resetAndDestroy()
  expect(await answer).toBe('LEDGER_AWAY')
  await closed
})
