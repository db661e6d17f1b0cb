// What the tests of `doctor` share: one run as JSON, whose output never holds a key.
import { expect } from 'vitest'
import type { Clock } from '../../src/ports.ts'
import { type Ran, run as runHere } from '../cli/world.ts'
import { realClock } from '../support/real-clock.ts'
import type { World } from './world.ts'

export interface Check {
  readonly area: string
  readonly name: string
  readonly status: string
  readonly message: string
  readonly hint?: string
  readonly workspace?: string
}

export interface Doctor extends Ran {
  readonly checks: readonly Check[]
  readonly document: { readonly workspaces: readonly { readonly keys: readonly Record<string, unknown>[]; readonly seen: unknown }[] }
  /** `status: message` of one check. */
  line(area: string, name: string): string | undefined
}

export async function doctor(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  clock: Clock = realClock(),
): Promise<Doctor> {
  const ran = await runHere(['doctor', ...argv, '--output', 'json'], { env, clock })
  expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/sandbox-(admin|analytics|teams-read|billing-(read|write))/)
  const document = ran.stdout === '' ? { checks: [], workspaces: [] } : JSON.parse(ran.stdout)
  const checks: readonly Check[] = document.checks
  const line = (area: string, name: string): string | undefined =>
    checks.filter((one) => one.area === area && one.name === name).map(({ status, message }) => `${status}: ${message}`)[0]
  return { ...ran, checks, document, line }
}

export const doctorOf = (one: World): Promise<Doctor> => doctor(one.flags)
