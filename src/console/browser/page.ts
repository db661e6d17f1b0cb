// The script of every page. It runs in the browser, sends requests only to this daemon, and writes nothing.
import { keepFresh } from './fresh.ts'
import { readyPage } from './ready.ts'
import { showPlace, visitInPlace } from './visit.ts'

keepFresh()
readyPage()
showPlace()
visitInPlace()
