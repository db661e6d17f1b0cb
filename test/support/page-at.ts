// A page of the console, made of the documents of the tests, and what of it is to be read.
import { createConsole } from '../../src/console/routes.ts'
import type { Query } from '../../src/daemon/http/documents/documents.ts'
import type { Documents } from '../../src/daemon/http/documents/make.ts'
import { documentsOf } from './page-documents.ts'

const { routes } = createConsole()

/** The markup of the page at a path, of its documents but for some. */
export async function pageAt(path: string, overrides: Partial<Documents> = {}, query: Query = {}): Promise<string> {
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const found = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(path)
    if (!found) continue
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]))
    return route.render(documentsOf(overrides), { params, query, path })
  }
  throw new Error(`no page at ${path}`)
}

/** What a reader sees, roughly: the markup without tags. */
export const textOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,:;])/g, '')
