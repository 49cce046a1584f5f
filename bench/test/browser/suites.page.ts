/** The page that runs the conformance suite of the contenders in a browser. Adapters are the same code in every one. */
import { runCases } from '../../../tools/browser/page/run-cases.ts'
import type { Place } from '../../contenders/catalog.ts'
import { isWorker, makeInBrowser, serveInWorker } from '../../contenders/in-browser.ts'
import { contenderConformance } from '../conformance.ts'

let places = 0

if (isWorker) serveInWorker()
else {
  void runCases((test) =>
    contenderConformance({ test, runsIn: place(), create: makeInBrowser, place: () => `database-${places++}` }),
  )
}

function place(): Place {
  if (navigator.userAgent.includes('Firefox')) return 'firefox'
  return navigator.userAgent.includes('Chrome') ? 'chromium' : 'webkit'
}
