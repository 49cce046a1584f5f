/**
 * Two tabs and a worker on one database, in each storage of a browser. What else tabs do to one another, and what happens to them, is in
 * database.browser.ts and opfs.browser.ts.
 */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { prefixed } from '../../testing/suite.ts'
import { atOnceCase } from './database/tabs.ts'

export function browserSuite(suite: BrowserSuiteContext): void {
  atOnceCase({ ...suite, test: prefixed(suite.test, 'IndexedDB') })
  // WebKit has a private file system on Apple's systems only.
  if (suite.browser.engine === 'webkit') return
  atOnceCase({ ...suite, test: prefixed(suite.test, 'OPFS'), storage: 'opfs' })
}
