// The address of a ledger as commands take it: a file, or a database whose password must be seen nowhere.
import { readFileSync } from 'node:fs'
import { isPostgresAddress, secretsOf, shownAddress } from '../../../daemon/ledger/postgres/address.ts'
import type { Cli } from '../context.ts'

/** A path as it is, and an address without what is secret in it. */
export const shownLedger = (ledger: string): string => (isPostgresAddress(ledger) ? shownAddress(ledger) : ledger)

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
