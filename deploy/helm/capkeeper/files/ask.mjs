// Asks a running capkeeper whether it is ready and which workspaces it keeps. Ends with 0 when /readyz answers 200 within WITHIN seconds and
// /status names every workspace of WORKSPACES, unless it is only for readers who sign in; it changes nothing.
import { setTimeout as sleep } from 'node:timers/promises'

const page = process.env.PAGE
const wanted = JSON.parse(process.env.WORKSPACES ?? '[]').map(String)
const end = Date.now() + Number(process.env.WITHIN ?? 120) * 1000
const ask = (path) => fetch(`${page}${path}`, { redirect: 'error', signal: AbortSignal.timeout(5000) })

let said = 'no answer'
for (;;) {
  const answer = await ask('/readyz').catch((error) => ({ status: 0, text: async () => String(error.cause ?? error) }))
  said = `${answer.status} ${(await answer.text()).trim().slice(0, 500)}`
  if (answer.status === 200) break
  if (Date.now() > end) {
    console.error(`/readyz: ${said}`)
    process.exit(1)
  }
  await sleep(1000)
}
console.log(`/readyz: ${said}`)

const answer = await ask('/status')
const text = await answer.text()
if ([401, 403].includes(answer.status)) {
  console.log('/status: not asked for workspaces, because the pages need a sign-in')
  process.exit()
}
if (answer.status !== 200) {
  console.error(`/status: ${answer.status} ${text.trim().slice(0, 500)}`)
  process.exit(1)
}
const status = JSON.parse(text)
for (const { workspace, mode } of status.workspaces) console.log(`/status: ${workspace}, ${mode}`)
const missing = wanted.filter((name) => !status.workspaces.some(({ workspace }) => workspace === name))
if (missing.length > 0) {
  console.error(`/status does not know ${missing.join(', ')}`)
  process.exit(1)
}
