/** Notes the processor time of each test file: of this process and of the children that it has waited for. Linux says. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Where it is noted, one line of JSON for each file; nowhere when it is not set. */
export const COSTS_FILE = 'PANNIER_TEST_COSTS'

export interface FileCost {
  readonly file: string
  readonly cpuMs: number
}

const MS_PER_TICK = 10

/** Begins to count. The function returned notes what the file has cost. */
export function costMeter(file: string): () => void {
  const path = process.env[COSTS_FILE]
  if (path === undefined) return () => {}
  const start = processorMs()
  return () => {
    const cost: FileCost = { file, cpuMs: processorMs() - start }
    note(path, cost)
  }
}

/** By functions that the guard lets pass. */
function note(path: string, cost: FileCost): void {
  const file = openSync(path, 'a')
  writeSync(file, `${JSON.stringify(cost)}\n`)
  closeSync(file)
}

function processorMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * MS_PER_TICK, 0)
  } catch {
    return 0
  }
}
