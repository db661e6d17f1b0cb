// The script of every page. It runs in the browser, sends requests only to this daemon, and writes nothing.
import { isOfThisRelease, keepFresh, listen, pageAt, rememberSent } from './fresh.ts'
import { readyPage } from './ready.ts'

// Navigates between pages of the console without a whole load: fetches the next page and replaces the contents, while the browser keeps address, history
// and scroll position (Navigation API). Everything else is loaded whole, such as a refusal, or any page in a browser without that API.

const isPage = ({ pathname }: URL): boolean => pathname === '/' || pathname.startsWith('/workspaces/')

/** Screen readers read it aloud when it changes; it stays when the page is replaced. */
const announcement = document.createElement('p')
announcement.className = 'hidden'
announcement.setAttribute('role', 'status')

/** From now on, links, forms and the history among pages of the console are handled in this document. */
function visitInPlace(): void {
  document.body.append(announcement)
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
    replacePage(page, navigationType === 'traverse' ? from : undefined)
  } catch {
    if (!signal.aborted) location.reload()
  }
}

/** `left`: when going back, the address of the page that was left. */
function replacePage(page: Document, left?: string): void {
  rememberSent(page)
  const used = document.activeElement
  const live = document.querySelector('#live')
  // The element is kept, because a screen reader would read a new one aloud.
  if (live) page.querySelector('#live')?.replaceWith(live)
  document.title = page.title
  for (const old of [...document.body.children]) if (old !== announcement) old.remove()
  document.body.prepend(...page.body.children)
  readyPage()
  listen()
  // Last, so that the browser computes the layout once.
  showPlace()
  // The browser restores scroll positions afterwards, but does not scroll a new page to its top.
  scrollTo(0, 0)
  focus(used, left)
}

/** In a narrow window the navigation scrolls sideways. */
const showPlace = (): void => document.querySelector('.side [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** Keeps the focus on the field or column head that was used, and announces the result. When going back it is on the link that was followed, else on the
 * heading, which is read aloud. */
function focus(used: Element | null, left?: string): void {
  const again = used?.id ? document.querySelector<HTMLElement>(`main :is(form, thead) #${CSS.escape(used.id)}`) : null
  const link = [...document.querySelectorAll<HTMLAnchorElement>('main a')].find(({ href }) => href === left)
  if (left === undefined && again instanceof HTMLInputElement && used instanceof HTMLInputElement) {
    again.value = used.value
    again.setSelectionRange(used.selectionStart, used.selectionEnd)
  }
  announcement.textContent = again ? (document.querySelector('main [data-found]')?.textContent ?? '') : ''
  const target = again ?? link ?? document.querySelector<HTMLElement>('h1')
  target?.focus({ preventScroll: true })
}

keepFresh()
readyPage()
showPlace()
visitInPlace()
