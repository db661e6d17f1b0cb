// The sandbox's page: its operations with a curl line each, its keys, and links to the documents. It has no script, loads nothing, and
// escapes every value.

import { createHash } from 'node:crypto'
import { htmlText } from '../../core/escape/html.ts'
import type { Operation } from '../../ports.ts'
import { addedKeys } from '../fixture/keys.ts'
import { FIXTURE_SCHEMA_PATH } from '../fixture/schema.ts'
import { SANDBOX_KEYS, type Sandbox } from '../sandbox.ts'
import { PERMISSION_OF } from '../service.ts'
import type { StoredKey } from '../store.ts'
import { DEFAULT_SWITCHES, SWITCHES } from '../switches.ts'
import { OPERATION_TEXTS } from './openapi.ts'

/** Where the OpenAPI document is. */
export const OPENAPI_PATH = '/openapi.json'

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1.2rem 0 0 }
p { margin: .2rem 0 } pre { background: #f3f4f6; padding: .6rem .8rem; overflow-x: auto; margin: .4rem 0 } code, pre { font-size: .85rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a } pre { background: #22272c } a { color: #8ab4ff } }
`

/** Only the page's own style is allowed. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The page as HTML; `url` is where the service is, such as `http://127.0.0.1:8787`. */
export function sandboxPage({ store, switches, now }: Pick<Sandbox, 'store' | 'switches' | 'now'>, url: string): string {
  const operations = Object.entries(OPERATION_TEXTS).map(
    ([name, { summary, example }]) => `<h3>${htmlText(name)}</h3>
<p>${htmlText(summary)}. Needs ${htmlText(PERMISSION_OF[name as Operation])}.</p>
<pre>${htmlText(curlLine(url, name, example))}</pre>`,
  )
  const keys = [...SANDBOX_KEYS, ...addedKeys(store)].map(keyRow)
  const changed = Object.values(SWITCHES).filter(({ name }) => JSON.stringify(switches[name]) !== JSON.stringify(DEFAULT_SWITCHES[name]))
  const links = [OPENAPI_PATH, FIXTURE_SCHEMA_PATH].map((path) => `<a href="${path}">${path}</a>`)
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>capkeeper sandbox</title><meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body>
<h1>capkeeper sandbox</h1>
<p>The service on this machine, with ${store.people().length} invented people in ${store.groups().length} groups. It is ${new Date(now()).toISOString().slice(0, 16).replace('T', ' ')} UTC here.</p>
<p>Documents: ${links.join(', ')}</p>
<p>Switches: ${changed.length === 0 ? 'all as by default' : htmlText(changed.map(({ flag, name }) => `${flag} ${JSON.stringify(switches[name])}`).join(', '))}</p>
<h2>Operations</h2>
${operations.join('\n')}
<h2>Keys</h2>
<table><tr><th>key</th><th>permissions</th></tr>
${keys.join('\n')}
</table>
</body>
</html>
`
}

const keyRow = ({ secret, permissions, groupId }: StoredKey): string =>
  `<tr><td><code>${htmlText(secret)}</code></td><td>${htmlText(permissions.join(', '))}${groupId === undefined ? '' : ` (group ${htmlText(groupId)} only)`}</td></tr>`

/** A line that can be pasted into a shell. */
function curlLine(url: string, operation: string, example: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify({ service_key: 'sandbox-admin', ...example })
  return `curl -s ${url}/api/v1/${operation} -H 'Content-Type: application/json' -d '${body}'`
}
