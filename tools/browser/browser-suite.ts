/**
 * The shape of tests that drive several pages. A file `*.browser.ts` exports `browserSuite(context)`, which calls
 * `test` for each case; it runs in Node, once for each engine. The pages it opens are the `*.page.ts` beside it:
 * `${baseUrl}/tabs.page` runs `tabs.page.ts`. The browser is shared by all cases, the origin by those of a file: so each names
 * its databases after itself and closes the pages that it opened. The suffix of a file says its lane: tools/test/browser-lanes.ts.
 */
import type { Browser } from './browser.ts'

export interface BrowserSuiteContext {
  readonly test: (name: string, body: () => void | Promise<void>) => void
  /** Runs after the last case. A file that leaves a server behind fails. */
  readonly after: (body: () => Promise<void>) => void
  /** Says that a case could not run here, or a part of one, and what it needs. It is listed at the end. */
  readonly notRun: (what: string) => void
  readonly browser: Browser
  readonly baseUrl: string
}

export interface BrowserSuiteFile {
  browserSuite(context: BrowserSuiteContext): void
}
