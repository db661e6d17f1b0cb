// The files that pages load. Each path has the hash of the content, so that a browser may cache it for ever.
import { createHash } from 'node:crypto'
import type { ConsoleAsset } from '../daemon/http/console.ts'
import { PAGE_SCRIPT } from './browser.generated.ts'
import { STYLE } from './style.ts'

const asset = (name: string, type: string, body: string): ConsoleAsset => ({
  path: `/console/${createHash('sha256').update(body).digest('hex').slice(0, 16)}/${name}`,
  type,
  body,
})

export const STYLE_ASSET = asset('style.css', 'text/css; charset=utf-8', STYLE)
export const SCRIPT_ASSET = asset('page.js', 'text/javascript; charset=utf-8', PAGE_SCRIPT)

/** Allows only what this server sends; no inline style or script. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
