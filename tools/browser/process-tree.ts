/** Finds and kills processes below another one, on Linux. */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessFacts {
  readonly id: number
  readonly parent: number
  /** Program and parameters, with spaces between. */
  readonly command: string
}

/** Children, their children and so on. */
export function descendantsOf(id: number): readonly ProcessFacts[] {
  const all = listProcesses()
  const found: ProcessFacts[] = []
  const parents = new Set([id])
  // Children mostly have higher ids than their parents, except where ids have wrapped. Repeat until nothing is new.
  for (let grown = true; grown;) {
    const next = all.filter((process) => parents.has(process.parent) && !parents.has(process.id))
    for (const process of next) parents.add(process.id)
    found.push(...next)
    grown = next.length > 0
  }
  return found
}

export function killProcesses(processes: readonly ProcessFacts[]): void {
  signalProcesses(processes, 'SIGKILL')
}

export function signalProcesses(processes: readonly ProcessFacts[], signal: NodeJS.Signals): void {
  for (const { id } of processes) {
    try {
      process.kill(id, signal)
    } catch {
      // It is gone already.
    }
  }
}

function listProcesses(): readonly ProcessFacts[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
}

function readProcess(id: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
    // The name of the program stands in brackets and may hold anything, so what follows is counted from its end.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { id, parent, command }
  } catch {
    return undefined
  }
}
