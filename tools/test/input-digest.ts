/**
 * Says whether two runs were the same: which cases ran, and what they drew. `setup/common.ts` notes the draws of each case, and
 * vitest's JSON report has them.
 */
import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { root } from '../checks/packages.ts'

const DIGITS = 12

/** A part of vitest's JSON report. */
export interface ReportedFile {
  readonly name: string
  readonly assertionResults: readonly { readonly fullName: string; readonly meta?: { readonly drawn?: number } }[]
}

export interface RunDigest {
  /** `4,000 cases 0f1e2d3c4b5a, inputs 5a4b3c2d1e0f`: a note for the last lines of a run. */
  readonly note: string
  /** A line for each case, with what it drew: where two runs have other digests, `diff` finds the case. */
  readonly lines: readonly string[]
}

export function digestRun(files: readonly ReportedFile[]): RunDigest {
  const names: string[] = []
  const inputs: string[] = []
  const lines: string[] = []
  for (const { name, assertionResults } of files) {
    const path = relative(root, name)
    let sum = 0
    for (const { fullName, meta } of assertionResults) {
      const drawn = meta?.drawn ?? 0
      // Cases that run at the same time may swap their draws. The sum of the file stays.
      sum = (sum + drawn) >>> 0
      names.push(`${path} ${fullName}`)
      lines.push(`${path} ${fullName}: ${drawn.toString(16)}`)
    }
    inputs.push(`${path}: ${sum.toString(16)}`)
  }
  const note = `${names.length.toLocaleString('en')} cases ${digest(names)}, inputs ${digest(inputs)}`
  return { note, lines: lines.toSorted() }
}

function digest(lines: readonly string[]): string {
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, DIGITS)
}
