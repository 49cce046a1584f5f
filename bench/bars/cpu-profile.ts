/** Reads a V8 CPU profile: the self time of each function. */

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  /** Ids of nodes, one per sample. */
  readonly samples: readonly number[]
  /** The time before each sample, in microseconds. */
  readonly timeDeltas: readonly number[]
}

export interface ProfileNode {
  readonly id: number
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    /** Lines and columns are counted from 0. */
    readonly lineNumber: number
    readonly columnNumber: number
  }
  readonly children?: readonly number[]
}

export interface FormatOptions {
  readonly top: number
  /** The bundle that ran, if any: its comments name the file of each line. */
  readonly script?: string | undefined
}

interface Hot {
  readonly label: string
  self: number
  /** The total time with callees; one per sample, however often the function is on the stack. */
  total: number
}

/** Milliseconds and shares, the hottest first. */
export function formatHotFunctions(profile: CpuProfile, { top, script }: FormatOptions): string {
  const places = script?.split('\n').map((line) => /^ *\/\/ (\S+\.[mc]?[jt]s)$/.exec(line)?.[1])
  const hot = measureFunctions(profile, places)
  const all = profile.timeDeltas.reduce((sum, delta) => sum + delta, 0)
  const lines = hot.slice(0, top).map(({ label, self, total }) => {
    const share = ((self / all) * 100).toFixed(1)
    return `${formatMs(self)} ${share.padStart(6)}% ${formatMs(total)}  ${label}`
  })
  return ['   self ms   share   total ms  function', ...lines].join('\n')
}

function measureFunctions(profile: CpuProfile, places: readonly (string | undefined)[] | undefined): Hot[] {
  const functions = new Map<string, Hot>()
  const byNode = new Map<number, Hot>()
  const parents = new Map<number, number>()
  for (const node of profile.nodes) {
    const label = labelOf(node, places)
    let hot = functions.get(label)
    if (hot === undefined) functions.set(label, (hot = { label, self: 0, total: 0 }))
    byNode.set(node.id, hot)
    for (const child of node.children ?? []) parents.set(child, node.id)
  }
  for (const [at, sample] of profile.samples.entries()) {
    const delta = profile.timeDeltas[at] ?? 0
    byNode.get(sample)!.self += delta
    const stack = new Set<Hot>()
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.add(byNode.get(id)!)
    for (const hot of stack) hot.total += delta
  }
  return [...functions.values()].sort((a, b) => b.self - a.self)
}

/** `function file:line`; lines of a bundle count from where its file begins. */
function labelOf({ callFrame }: ProfileNode, places: readonly (string | undefined)[] | undefined): string {
  const { functionName, url, lineNumber } = callFrame
  const name = functionName === '' ? '(anonymous)' : functionName
  if (url === '') return name
  if (places !== undefined && !url.startsWith('node:')) {
    for (let line = lineNumber; line >= 0; line--) {
      if (places[line] !== undefined) return `${name}  ${places[line]} +${lineNumber - line}`
    }
  }
  return `${name}  ${url.replace(/^.*\/(?=(packages|bench|node_modules)\/)/, '')}:${lineNumber + 1}`
}

function formatMs(microseconds: number): string {
  return (microseconds / 1000).toFixed(1).padStart(10)
}
