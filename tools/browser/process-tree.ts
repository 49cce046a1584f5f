/** Finds, measures and kills processes below another one, on Linux. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

export interface ProcessFacts {
  readonly id: number
  readonly parent: number
  /** Processor time of the process, and of its children that have ended. */
  readonly processorSeconds: number
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

let unseen = 0

/** Processor time of ended processes, which `processorSeconds` has and the system has not. */
export function unseenSeconds(): number {
  return unseen
}

/** Adds what a child has not seen. */
export function addUnseenSeconds(seconds: number): void {
  unseen += seconds
}

/** The processor time of this process and of all below it, also of those that have ended. Undefined: the system does not say. */
export function processorSeconds(): number | undefined {
  const own = readProcess(process.pid)
  if (own === undefined) return undefined
  return [own, ...descendantsOf(process.pid)].reduce((sum, facts) => sum + facts.processorSeconds, unseen)
}

/** Waits for the end of a browser. It does not wait for all of its own processes, so the system forgets their time: here it is kept. */
export async function keepProcessorTime(end: () => Promise<void>): Promise<void> {
  const before = processorSeconds() ?? 0
  await end()
  addUnseenSeconds(Math.max(0, before - (processorSeconds() ?? 0)))
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
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const processorSeconds = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / TICKS_PER_SECOND, 0)
    const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { id, parent: Number(fields[1]), processorSeconds, command }
  } catch {
    return undefined
  }
}
