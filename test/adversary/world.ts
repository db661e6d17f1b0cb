// One case: its folder, company, service and policy files, the commands that were run, and the breaches.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Company } from './company.ts'
import { type Json, parseJson } from './json.ts'
import { type Policy, toYaml } from './policy.ts'
import { command, type Ended, type Running, start } from './program.ts'
import { type Seen, type Service, startService } from './service.ts'

/** A sentence of the documents that does not hold, and the evidence. */
export interface Breach {
  readonly rule: string
  readonly found: string
}

interface Settings {
  readonly guards?: Readonly<Record<string, string>>
  readonly concurrency?: number
}

export interface World {
  readonly company: Company
  readonly service: Service
  readonly breaches: Breach[]
  /** The actions so far, for the report of a breach. */
  readonly story: string[]
  readonly breach: (rule: string, found: string) => void
  readonly write: (policy: Policy | string) => void
  readonly configure: (settings: Settings) => void
  readonly begin: (...words: readonly string[]) => Running
  /** Runs a command with `--config`; returns its JSON and the requests meanwhile. */
  readonly run: (...words: readonly string[]) => Promise<Run>
  readonly close: () => Promise<void>
}

export interface Run extends Ended {
  readonly json: Json | undefined
  readonly seen: readonly Seen[]
}

/** Turns off all guards that have a number or a switch. */
export const noGuards: Readonly<Record<string, string>> = Object.fromEntries(
  ['emptyPolicy', 'maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'].map((name) => [name, 'off']),
)

/** Starts a case. */
export async function openWorld(company: Company, switches: readonly string[] = []): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'capkeeper-adversary-'))
  mkdirSync(join(folder, 'policies'))
  const service = await startService(folder, company, switches)
  const breaches: Breach[] = []
  const story: string[] = [`sandbox ${switches.join(' ')}`.trim(), `company: ${describe(company)}`]
  const tell = (ended: Ended): Ended => {
    story.push(
      `${ended.line} → ${ended.code}${ended.code > 3 || ended.code < 0 || ended.code === 1 ? `: ${(ended.talk || ended.out).slice(-600)}` : ''}`,
    )
    if (`${ended.out}${ended.talk}`.includes('sandbox-admin'))
      breaches.push({ rule: 'Keys never appear in any output (docs/operations.md)', found: ended.line })
    return ended
  }
  return {
    company,
    service,
    breaches,
    story,
    breach: (rule, found) => void breaches.push({ rule, found }),
    write: (policy) => {
      const text = typeof policy === 'string' ? policy : toYaml(policy)
      story.push(`policies/p.yaml:\n${text}`)
      writeFileSync(join(folder, 'policies', 'p.yaml'), text)
    },
    configure: (settings) => {
      story.push(`config: ${JSON.stringify(settings)}`)
      writeFileSync(join(folder, 'capkeeper.yaml'), configText(service.url, settings))
    },
    begin: (...words) => {
      story.push(`capkeeper ${words.join(' ')} (started)`)
      return start(folder, words)
    },
    run: async (...words) => {
      const mark = service.seen.length
      const ended = tell(await command(folder, [...words, '--config', 'capkeeper.yaml']))
      return { ...ended, json: parseJson(ended.out), seen: service.seen.slice(mark) }
    },
    close: async () => {
      for (const leak of service.leaks) breaches.push({ rule: 'Credentials travel in the body as service_key (interface)', found: leak })
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configText(url: string, { guards = {}, concurrency = 1 }: Settings): string {
  const rate = { start: 1000, max: 1000, concurrency }
  const keys = { default: { env: 'CAPKEEPER_TRIAL_KEY' } }
  const acme = { name: 'acme', baseUrl: url, keys, policies: ['policies'], rate, guards }
  return JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Config', ledger: './ledger.db', workspaces: [acme] })
}

/** A company in a few lines. */
function describe(company: Company): string {
  const odd = company.people.filter((p) => p.used > 0 || p.status !== 'APPROVED' || p.disabled)
  const groups = company.groups.map((g) => `${g.id}(${g.members.map((m) => m.split('@')[0]).join(' ')})`).join(' ')
  const caps = [...company.caps].map(([scope, cap]) => `${scope.split('@')[0]}=${cap}`).join(' ')
  const notes = odd.map(
    (p) => `${p.email.split('@')[0]}:${p.status === 'APPROVED' ? '' : p.status}${p.disabled ? 'disabled' : ''}used ${p.used}`,
  )
  return `${company.people.length} people; groups ${groups || '-'}; caps ${caps || '-'}; ${notes.join(' ')}; seat ${company.creditsPerSeat}, add-on ${company.addOnAvailable}`
}
