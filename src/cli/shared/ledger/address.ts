// The address of a ledger as commands take it: a file, a daemon, or a database. A password in it must be seen nowhere.
import { readFileSync } from 'node:fs'
import { isPostgresAddress, secretsOf, shownAddress } from '../../../daemon/ledger/postgres/address.ts'
import type { Cli } from '../context.ts'

/** A path as it is, and an address without what is secret in it. */
export const shownLedger = (ledger: string): string => (isPostgresAddress(ledger) ? shownAddress(ledger) : withoutUser(ledger))

/** What stands before the host of an http address: also of one that is no address for another reason. */
export const withoutUser = (address: string): string => address.replace(/^(https?:\/\/).*@/is, '$1')

/** Takes the passwords that the driver is going to find out of everything that is shown from now on. */
export function hidePasswords({ env, secrets }: Pick<Cli, 'env' | 'secrets'>, ledger: string): void {
  if (!isPostgresAddress(ledger)) return
  for (const one of secretsOf(ledger, env, textIn)) secrets.add(one)
}

function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
