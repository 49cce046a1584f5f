/** Runs the browser tests in a process of their own: what they cost is then apart from what runs beside them. */
import { once } from 'node:events'
import { unseenSeconds } from '../browser/process-tree.ts'
import { runBrowserTests } from './browser.ts'
import type { BrowserOptions, Outcome } from './outcome.ts'

/** The report of the program at its end. */
export interface BrowserAnswer {
  readonly outcome: Outcome
  readonly unseenSeconds: number
}

const [options] = (await once(process, 'message')) as [BrowserOptions]
const answer: BrowserAnswer = { outcome: await runBrowserTests(options), unseenSeconds: unseenSeconds() }
process.send!(answer, () => process.exit())
