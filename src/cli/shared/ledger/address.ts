// The address of a ledger: a file, a daemon or a database. A password in it must never be shown.
import {
  isPostgresAddress,
  MAX_PASSWORD_FILE_BYTES,
  passwordFileOf,
  secretsOf,
  shownAddress,
} from '../../../daemon/ledger/postgres/address.ts'
import { readWhole } from '../../../files.ts'
import type { Cli } from '../context.ts'

/** A path as it is; an address without its secrets. */
export const shownLedger = (ledger: string): string => (isPostgresAddress(ledger) ? shownAddress(ledger) : withoutUser(ledger))

/** Removes user name and password from an http address, also from one that cannot be parsed. */
export const withoutUser = (address: string): string => address.replace(/^(https?:\/\/).*@/is, '$1')

/** Redacts from now on every password that the database driver may use. */
export async function hidePasswords({ env, secrets, clock }: Pick<Cli, 'env' | 'secrets' | 'clock'>, ledger: string): Promise<void> {
  if (!isPostgresAddress(ledger)) return
  const file = await readWhole(passwordFileOf(env), MAX_PASSWORD_FILE_BYTES, clock).catch(() => undefined)
  for (const one of secretsOf(ledger, env, file?.bytes.toString('utf8') ?? '')) secrets.add(one)
}
