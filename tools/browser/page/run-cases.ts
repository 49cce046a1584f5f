/**
 * The test runner inside a page: collects the cases of suites, runs one after the other and reports each as it ends.
 * The query `filter` selects cases by a part of their name, `lane` is that of tools/test/browser-lanes.ts.
 */
import { done, errorFacts, progress, type ErrorFacts } from './report.ts'

export interface CaseResult {
  readonly name: string
  readonly error?: ErrorFacts
  readonly durationMs: number
}

type Test = (name: string, body: () => void | Promise<void>) => void

const query = new URLSearchParams(location.search)
const CASE_MS_MAX = Number(query.get('caseMsMax'))

/** Every suite runs on every storage, and with all its seeds. */
export const IN_LANE_REAL: boolean = query.get('lane') === 'real'

/** `declare` calls the `test` it is given once for each case. */
export async function runCases(declare: (test: Test) => void): Promise<void> {
  const filter = query.get('filter') ?? ''
  const cases: { name: string; body: () => void | Promise<void> }[] = []
  declare((name, body) => {
    if (name.includes(filter)) cases.push({ name, body })
  })
  for (const { name, body } of cases) await progress(await runCase(name, body))
  await done({ cases: cases.length })
}

async function runCase(name: string, body: () => void | Promise<void>): Promise<CaseResult> {
  const start = performance.now()
  try {
    await inTime(body())
    return { name, durationMs: performance.now() - start }
  } catch (error) {
    return { name, error: errorFacts(error), durationMs: performance.now() - start }
  }
}

async function inTime(result: void | Promise<void>): Promise<void> {
  let timer: number | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = window.setTimeout(() => reject(new Error(`took longer than ${CASE_MS_MAX} ms`)), CASE_MS_MAX)
  })
  try {
    await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
