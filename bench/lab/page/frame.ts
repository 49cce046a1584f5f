/** Runs one phase of one contender in a frame of the page, as its query asks. Removing the frame ends it. */
import { factsOf } from '../../contenders/catalog.ts'
import { makeInBrowser } from '../../contenders/in-browser.ts'
import { runPhase } from '../../harness/run-phase.ts'
import type { PhaseReport, PhaseRequest } from '../../harness/run-phase.ts'

export type FrameMessage =
  | { readonly type: 'started' }
  | { readonly type: 'workload'; readonly name: string }
  | { readonly type: 'done'; readonly report: PhaseReport }
  | { readonly type: 'failed'; readonly message: string }

/** So that the page can show what begins before the thread is held by it. */
const PAINT_MS = 25

addEventListener('error', (event) => tell({ type: 'failed', message: event.message }))
addEventListener('unhandledrejection', (event) => tell({ type: 'failed', message: String(event.reason) }))
await report()

async function report(): Promise<void> {
  tell({ type: 'started' })
  try {
    const request = JSON.parse(new URLSearchParams(location.search).get('request')!) as PhaseRequest
    const contender = await makeInBrowser(request.contender, new URL('worker.js', location.href).href)
    const onWorkload = async (name: string): Promise<void> => {
      tell({ type: 'workload', name })
      await new Promise((resolve) => setTimeout(resolve, PAINT_MS))
    }
    tell({ type: 'done', report: await runPhase(contender, factsOf(request.contender), request, onWorkload) })
  } catch (error) {
    tell({ type: 'failed', message: String(error) })
  }
}

function tell(message: FrameMessage): void {
  parent.postMessage(message, location.origin)
}
