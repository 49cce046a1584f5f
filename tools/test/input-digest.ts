/** Says whether two runs were the same: which cases ran, and what they drew. `setup/common.ts` notes the draws of each case. */
import { createHash } from 'node:crypto'
import type { FileOutcome } from './results-reporter.ts'

const DIGITS = 12

/** `4,000 cases 0f1e2d3c4b5a, inputs 5a4b3c2d1e0f`: a note for the last lines of a run. */
export function digestRun(files: readonly FileOutcome[]): string {
  const names = files.flatMap(({ file, cases }) => cases.map(({ name }) => `${file} ${name}`))
  // Cases that run at the same time may swap their draws. The sum of the file stays.
  const inputs = files.map(({ file, cases }) => `${file}: ${cases.reduce((sum, { drawn }) => (sum + drawn) >>> 0, 0)}`)
  return `${names.length.toLocaleString('en')} cases ${digest(names)}, inputs ${digest(inputs)}`
}

function digest(lines: readonly string[]): string {
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, DIGITS)
}
