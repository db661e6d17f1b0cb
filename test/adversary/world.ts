// One case: its folder, company, service and policy files, the commands that were run, and the breaches.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Company } from './company.ts'
import { type Json, parseJson } from './json.ts'
import { type Policy, toYaml } from './policy.ts'
import { command, type Ended, start } from './program.ts'
import { type Seen, startService } from './service.ts'

/** A sentence of the documents that does not hold, and the evidence. */
export interface Breach {
  readonly rule: string
  readonly found: string
}

interface Settings {
  readonly guards?: Readonly<Record<string, string>>
  readonly concurrency?: number
}

export type World = Awaited<ReturnType<typeof openWorld>>

export interface Run extends Ended {
  readonly json: Json | undefined
  readonly seen: readonly Seen[]
}

/** Turns off all guards that have a number or a switch. */
export const noGuards: Readonly<Record<string, string>> = Object.fromEntries(
  ['emptyPolicy', 'maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise'].map((name) => [name, 'off']),
)

/** Starts a case. */
export async function openWorld(company: Company, switches: readonly string[] = []) {
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
    /** The actions so far, for the report of a breach. */
    story,
    breach: (rule: string, found: string) => void breaches.push({ rule, found }),
    write: (policy: Policy | string) => {
      const text = typeof policy === 'string' ? policy : toYaml(policy)
      story.push(`policies/p.yaml:\n${text}`)
      writeFileSync(join(folder, 'policies', 'p.yaml'), text)
    },
    configure: (settings: Settings) => {
      story.push(`config: ${JSON.stringify(settings)}`)
      writeFileSync(join(folder, 'capkeeper.yaml'), configText(service.url, settings))
    },
    begin: (...words: readonly string[]) => {
      story.push(`capkeeper ${words.join(' ')} (started)`)
      return start(folder, words)
    },
    /** Runs a command with `--config`; returns its JSON and the requests meanwhile. */
    run: async (...words: readonly string[]): Promise<Run> => {
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
