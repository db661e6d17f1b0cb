// `doctor`'s checks of a ledger in PostgreSQL: whether it can be reached, its version, the rights of this user, its latency and its clock. It only
// reads.
import type { Config } from '../../daemon/config/settings.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import type { LedgerReport, LedgerStore } from '../../daemon/ledger/ledger.ts'
import type { ServerReport } from '../../daemon/ledger/store.ts'
import type { Cli } from '../shared/context.ts'
import { shownLedger } from '../shared/ledger/address.ts'
import { withStore } from '../shared/ledger/store.ts'
import { count } from '../shared/text.ts'
import { failed, ok, type Tell, warning } from './check.ts'

/** Version 13 in the server's own numbers, the oldest that was tested. */
const LEAST_VERSION = 130_000
/** Every write waits for about three answers of the database: the pause, the intent and the outcome. Choices. */
const FAR_MS = 50
const SKEW_MS = 2_000

/** Undefined when nothing can be read from it. */
export async function checkDatabase(config: Config, cli: Cli, tell: Tell): Promise<LedgerReport | undefined> {
  try {
    return await withStore(cli, config.ledger, 'read', (store) => examine(store, tell))
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    tell('database', failed(error.message))
    return undefined
  }
}

async function examine(store: LedgerStore, tell: Tell): Promise<LedgerReport> {
  const server = await store.server?.()
  if (server) checkServer(shownLedger(store.file), server, tell)
  const report = await store.check()
  const [first] = report.problems
  if (!report.exists) tell('integrity', ok(`there is no ledger at ${report.file} yet; the first run makes it`))
  else if (first === undefined) tell('integrity', ok(`every row can be read, schema version ${report.schemaVersion}`))
  else tell('integrity', failed(`${first} (${count(report.problems.length, 'problem')})`, 'run `capkeeper ledger check`'))
  return report
}

function checkServer(name: string, server: ServerReport, tell: Tell): void {
  const { version, versionNumber, missingRights, latencyMs, clockSkewMs, isStandby, isEncrypted } = server
  const told = `${name}: PostgreSQL ${version}`
  if (isStandby) tell('database', failed(`${told}, a standby that takes no writes`, 'let the address lead to the primary'))
  else if (versionNumber < LEAST_VERSION) tell('database', warning(told, 'capkeeper was tried with 13 and later'))
  else tell('database', ok(told))
  tell(
    'encryption',
    isEncrypted ? ok('the connection is encrypted') : ok('the connection is not encrypted; sslmode=verify-full asks for it'),
  )
  const lacks = `this user may not: ${missingRights.slice(0, 4).join(', ')}${missingRights.length > 4 ? ', …' : ''}`
  tell(
    'rights',
    missingRights.length === 0 ? ok('this user may read and write the ledger') : failed(lacks, 'grant it, or use the owner of the schema'),
  )
  const latency = `an answer takes ${latencyMs.toFixed(1)} ms`
  tell(
    'latency',
    latencyMs > FAR_MS ? warning(latency, 'each write waits for about three of them; run capkeeper nearer to its database') : ok(latency),
  )
  const skew = `the clock of the database differs by ${(clockSkewMs / 1_000).toFixed(1)} s`
  tell('clock', Math.abs(clockSkewMs) > SKEW_MS ? warning(skew, 'let both machines follow a time server') : ok(skew))
}
