/** The entry of the page: runs the phase that its query string asks for and reports; in a worker, serves a contender. */
import { done, failed, progress, quit } from '../../tools/browser/page/report.ts'
import { factsOf } from '../contenders/catalog.ts'
import { isWorker, makeInBrowser, serveInWorker } from '../contenders/in-browser.ts'
import { runPhase } from './run-phase.ts'
import type { PhaseRequest } from './run-phase.ts'

if (isWorker) serveInWorker()
else await report()

async function report(): Promise<void> {
  try {
    const request = JSON.parse(new URLSearchParams(location.search).get('request')!) as PhaseRequest
    const contender = await makeInBrowser(request.contender)
    await done(await runPhase(contender, factsOf(request.contender), request, progress))
    quit()
  } catch (error) {
    await failed(error)
  }
}
