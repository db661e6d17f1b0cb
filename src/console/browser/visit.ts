// A click on a link to another page of the console asks for that page and puts its contents in the place of these, which takes a fraction of the time
// of a whole load. The browser keeps address, history and scroll position, shows that it loads, and stops what a further click overtakes. Whatever
// does not come as a page of this console is loaded whole, and so is every page in a browser without the Navigation API.
import { isOfThisRelease, listen, pageAt, rememberSent } from './fresh.ts'
import { readyPage } from './ready.ts'

const isPage = ({ pathname }: URL): boolean => pathname === '/' || pathname.startsWith('/workspaces/')

/** Read aloud when it changes; it outlives the pages. */
const told = document.createElement('p')
told.className = 'hidden'
told.setAttribute('role', 'status')

/** From now on, links, forms and the ways back and forth among pages of the console stay in this document. */
export function visitInPlace(): void {
  document.body.append(told)
  window.navigation?.addEventListener('navigate', (event) => {
    const { canIntercept, hashChange, downloadRequest, formData, navigationType, destination } = event
    if (!canIntercept || hashChange || downloadRequest !== null || formData || navigationType === 'reload') return
    if (!isPage(new URL(destination.url))) return
    const from = location.href
    event.intercept({ focusReset: 'manual', handler: () => visit(event, from) })
  })
}

async function visit({ signal, navigationType }: NavigateEvent, from: string): Promise<void> {
  try {
    const page = await pageAt(location.href, signal)
    if (signal.aborted) return
    if (!isOfThisRelease(page)) return location.reload()
    put(page, navigationType === 'traverse' ? from : undefined)
  } catch {
    if (!signal.aborted) location.reload()
  }
}

/** `left`: on the way back, the address one comes from. */
function put(page: Document, left?: string): void {
  rememberSent(page)
  const used = document.activeElement
  const live = document.querySelector('#live')
  // It goes on saying what it says: a screen reader reads what a new one says.
  if (live) page.querySelector('#live')?.replaceWith(live)
  document.title = page.title
  for (const old of [...document.body.children]) if (old !== told) old.remove()
  document.body.prepend(...page.body.children)
  readyPage()
  listen()
  // What asks for places comes last: then they are worked out once.
  showPlace()
  // The browser scrolls afterwards, but not to the top of what it knows no place of.
  scrollTo(0, 0)
  focus(used, left)
}

/** In a narrow window the way to the parts of the console scrolls sideways. */
export const showPlace = (): void => document.querySelector('.side [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** Whoever searches or sorts stays where they are and hears what was found; on the way back it is the link that led away; else the heading, which is
 * read aloud. */
function focus(used: Element | null, left?: string): void {
  const again = used?.id ? document.querySelector<HTMLElement>(`main :is(form, thead) #${CSS.escape(used.id)}`) : null
  const link = [...document.querySelectorAll<HTMLAnchorElement>('main a')].find(({ href }) => href === left)
  if (left === undefined && again instanceof HTMLInputElement && used instanceof HTMLInputElement) {
    again.value = used.value
    again.setSelectionRange(used.selectionStart, used.selectionEnd)
  }
  told.textContent = again ? (document.querySelector('main [data-found]')?.textContent ?? '') : ''
  const target = again ?? link ?? document.querySelector<HTMLElement>('h1')
  target?.focus({ preventScroll: true })
}
