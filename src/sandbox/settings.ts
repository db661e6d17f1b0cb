// The flags for the company and the speed of the sandbox (docs/sandbox.md): one table with values, defaults and help, and one reader.
// Flags for the behaviour of the service are in switches.ts.
import { type CompanyOptions, DEFAULT_COMPANY } from './company/company.ts'
import { readWhole } from './switches.ts'

/** The company, and how many times as fast as real time the sandbox's time runs. */
interface SandboxSettings extends CompanyOptions {
  readonly speed: number
}

interface SettingSpec {
  readonly name: keyof SandboxSettings
  readonly flag: string
  readonly values: string
  readonly default: string
  readonly help: string
  readonly low: number
  readonly high: number
}

export const SETTINGS: readonly SettingSpec[] = [
  setting('people', 1, 100_000, DEFAULT_COMPANY.people, 'how many people the company has'),
  setting('groups', 1, 1000, DEFAULT_COMPANY.groups, 'how many groups they are in'),
  setting('days', 0, 1000, DEFAULT_COMPANY.days, 'how many days of use the company has at the start'),
  setting('seed', 0, 2_147_483_647, DEFAULT_COMPANY.seed, 'the same seed gives the same company, use and faults'),
  setting('speed', 1, 1_000_000, 1, 'how many times as fast as real time its time runs'),
]

function setting(name: keyof SandboxSettings, low: number, high: number, byDefault: number, help: string): SettingSpec {
  return { name, flag: `--${name}`, values: `${low} to ${high}`, default: String(byDefault), help, low, high }
}

const DEFAULT_SETTINGS: SandboxSettings = { ...DEFAULT_COMPANY, speed: 1 }

/** Reads the texts of the settings; each problem is one line that names the flag, the given text and the valid values. */
export function parseSettings(
  values: Readonly<Partial<Record<keyof SandboxSettings, string>>>,
): { readonly kind: 'settings'; readonly settings: SandboxSettings } | { readonly kind: 'problems'; readonly problems: readonly string[] } {
  const problems: string[] = []
  const given: Partial<Record<keyof SandboxSettings, number>> = {}
  for (const { name, flag, low, high } of SETTINGS) {
    const text = values[name]
    if (text === undefined) continue
    const value = readWhole(text.trim(), high)
    if (value === undefined || value < low) problems.push(`${flag} ${text}: must be a whole number from ${low} to ${high}`)
    else given[name] = value
  }
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'settings', settings: { ...DEFAULT_SETTINGS, ...given } }
}
