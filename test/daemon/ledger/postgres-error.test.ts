// Which failures of a connection can end by waiting, and which are told at once.
import { describe, expect, test } from 'vitest'
import { fromPostgres } from '../../../src/daemon/ledger/postgres/error.ts'

const failure = (message: string, code?: string): Error => Object.assign(new Error(message), code === undefined ? {} : { code })
const ofAddresses = (...errors: readonly Error[]): Error => Object.assign(new AggregateError(errors), {})

describe('a connection that fails', () => {
  test.each<readonly [string, Error, string, string]>([
    ['because it is cut is waited for', failure('Connection terminated unexpectedly'), 'LEDGER_AWAY', 'cannot be reached'],
    ['because it takes too long is waited for', failure('timeout expired'), 'LEDGER_AWAY', 'cannot be reached'],
    [
      'at all addresses, of which one may come back, is waited for',
      ofAddresses(failure('no', 'EACCES'), failure('no', 'ETIMEDOUT')),
      'LEDGER_AWAY',
      '',
    ],
    [
      'at all addresses for good is told',
      ofAddresses(failure('connect EACCES', 'EACCES')),
      'LEDGER_UNREADABLE',
      'no connection can be made (connect EACCES)',
    ],
    [
      'at all addresses because of a certificate is told',
      ofAddresses(failure('expired', 'CERT_HAS_EXPIRED')),
      'LEDGER_UNREADABLE',
      'is not trusted (expired)',
    ],
    [
      'because the other side speaks no TLS is told',
      failure('wrong version number', 'EPROTO'),
      'LEDGER_UNREADABLE',
      'no connection can be made',
    ],
    [
      'because of a key that OpenSSL cannot read is told',
      failure('no start line', 'ERR_OSSL_PEM_NO_START_LINE'),
      'LEDGER_UNREADABLE',
      'check host',
    ],
    [
      'because no password was given is told',
      failure('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      'LEDGER_UNREADABLE',
      'PGPASSWORD',
    ],
    [
      'because the other side is no PostgreSQL is told',
      failure('There was an error establishing an SSL connection'),
      'LEDGER_UNREADABLE',
      'check host, port',
    ],
  ])('%s', (_row, error, code, says) => {
    expect(fromPostgres(error, 'postgres://db')).toMatchObject({ code, message: expect.stringContaining(says) })
  })
})
