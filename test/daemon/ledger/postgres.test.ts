// The contract of every ledger, with a real PostgreSQL.
import { describe } from 'vitest'
import { hasPostgres, postgresForFile } from '../../support/postgres.ts'
import { ledgerContract } from './contract.ts'
import { modelContract } from './contract-model.ts'
import { waitingContract } from './contract-waiting.ts'

const server = postgresForFile()
const place = () => server().create()

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  ledgerContract('PostgreSQL', place)
  waitingContract('PostgreSQL', place)
  modelContract('PostgreSQL', place, 8)
})
