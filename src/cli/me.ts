// `me`: what is left for the person who asks, from a running daemon behind the proxy that knows them. It needs no key, no config and no ledger.
import { jsonText, plain } from '../core/escape/text.ts'
import { STOP_TEXT } from '../core/use/first-stop.ts'
import type { Document } from '../daemon/http/documents/table.ts'
import { action, COMMANDS, type FlagsOf } from './shared/command.ts'
import { type Cli, EXIT } from './shared/context.ts'
import { askFor, PAGES_TOKEN_WAY, pageAt, pagesToken, refusal } from './shared/remote.ts'
import { blocksText, present, shortTime } from './shared/text.ts'

const TIMEOUT_MS = 10_000

export const register = action(COMMANDS.me, me)

async function me({ url, tokenFile, output }: FlagsOf<typeof COMMANDS.me>, cli: Cli): Promise<void> {
  const question = { url: pageAt(url, '/api/v1/me', '--url'), timeoutMs: TIMEOUT_MS, clock: cli.clock, token: pagesToken(tokenFile, cli) }
  const { answer, value } = await askFor(question, PAGES_TOKEN_WAY)
  if (Object(value).kind !== 'Me') throw refusal(question, answer, PAGES_TOKEN_WAY)
  cli.stdout.write(output === 'json' ? jsonText(value) : textOf(value as Document<'Me'>))
  cli.finish(EXIT.done)
}

function textOf({ workspaces }: Document<'Me'>): string {
  if (workspaces.length === 0) return 'no workspace lists your address\n'
  return blocksText(workspaces.map((one) => linesOf(one).map(plain)))
}

const said = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`)

function linesOf(one: Document<'Me'>['workspaces'][number]): readonly string[] {
  const { cap, left, used, addOn, addOnSource, entry, stopsFirst, grants, cycleEnd, requestUrl } = one
  const until = cycleEnd === undefined ? '' : ` until ${shortTime(Date.parse(cycleEnd))}`
  const head = left === undefined ? `cap ${cap ?? 'not known'}` : `${left} of ${cap} credits left`
  const paid = addOn === undefined ? '' : `, ${addOn} of it add-on credits (${addOnSource ?? 'estimated'})`
  const on = stopsFirst.on === undefined ? '' : `, expected on ${stopsFirst.on}`
  return present(
    `${one.workspace}: ${head}${until}`,
    used !== undefined && `  used ${used}${paid}`,
    entry && `  cap from: ${entry.kind}${said(entry.reason)}`,
    `  stops first: ${STOP_TEXT[stopsFirst.what]}${on}`,
    requestUrl !== undefined && `  ask for more: ${requestUrl}`,
    grants.map((grant) => `  ${grant.kind}: ${grant.cap} until ${shortTime(Date.parse(grant.until))}${said(grant.reason)}`),
  )
}
