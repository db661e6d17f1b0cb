// What a page can do once scripts run. It runs in the browser, asks nobody but this daemon, and writes nothing.
import { keepFresh } from './fresh.ts'
import { readyPage } from './ready.ts'
import { showPlace, visitInPlace } from './visit.ts'

keepFresh()
readyPage()
showPlace()
visitInPlace()
