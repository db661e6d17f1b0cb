// The address of a ledger: a file, a daemon or a database. A password in it must never be shown.
import { isPostgresAddress, MAX_PASSWORD_FILE_BYTES, secretsOf, shownAddress } from '../../../daemon/ledger/postgres/address.ts'
import { readText } from '../../../files.ts'
import type { Cli } from '../context.ts'

/** A path as it is; an address without its secrets. */
export const shownLedger = (ledger: string): string => (isPostgresAddress(ledger) ? shownAddress(ledger) : withoutUser(ledger))

/** Removes user name and password from an http address, also from one that cannot be parsed. */
export const withoutUser = (address: string): string => address.replace(/^(https?:\/\/).*@/is, '$1')

/** Redacts from now on every password that the database driver may use. */
export function hidePasswords({ env, secrets }: Pick<Cli, 'env' | 'secrets'>, ledger: string): void {
  if (!isPostgresAddress(ledger)) return
  for (const one of secretsOf(ledger, env, textIn)) secrets.add(one)
}

function textIn(file: string): string | undefined {
  try {
    return readText(file, MAX_PASSWORD_FILE_BYTES)
  } catch {
    return undefined
  }
}
