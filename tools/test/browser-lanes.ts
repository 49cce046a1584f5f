/**
 * Choice of browser tests by lane. The lane real runs every file in every engine, and every suite on every storage. Of that, the lane
 * wired runs what the suffix of a file names:
 *
 * - `NAME.wired.browser.ts`: in Chromium. One journey for each page that a person uses.
 * - `NAME.smoke.browser.ts`: in every engine.
 * - `suites.wired.page.ts`: in Chromium, without what runs in Node or on another storage (`IN_LANE_REAL` of run-cases.ts).
 */
import { globSync } from 'node:fs'
import type { Engine } from '../browser/engines.ts'
import type { Lane } from './lanes.ts'

export type BrowserLane = Exclude<Lane, 'pure'>

export const BROWSER_LANES: readonly BrowserLane[] = ['wired', 'real']

export interface BrowserFiles {
  /** Pages of suites. */
  readonly pages: readonly string[]
  /** Files that drive several pages. */
  readonly files: readonly string[]
}

/** Paths from `root`, of one of its folders. */
export function browserFilesOf(root: string, folder: string, lane: BrowserLane, engine: Engine): BrowserFiles {
  const chosen = (pattern: string): readonly string[] =>
    globSync(`${folder}/${pattern}`, { cwd: root })
      .filter((path) => lane === 'real' || isWired(path, engine))
      .sort()
  return { pages: chosen('suites{,.*}.page.ts'), files: chosen('*.browser.ts') }
}

function isWired(path: string, engine: Engine): boolean {
  return path.includes('.smoke.') || (engine === 'chromium' && path.includes('.wired.'))
}
