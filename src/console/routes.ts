// Which page stands at which address, and the files that pages load. It decides nothing about what a page says.
import type { Console } from '../daemon/http/console.ts'
import { contentSecurityPolicy, renderPage } from './page.ts'

/** The console as the server takes it. */
export const createConsole = (): Console => ({
  routes: [{ path: '/', render: async (documents) => renderPage(await documents.status()) }],
  assets: [],
  contentSecurityPolicy,
})
