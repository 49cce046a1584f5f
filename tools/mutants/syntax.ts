/** The syntax tree of a module, as generator and probes need it. */
import { parseSync } from 'rolldown/utils'

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [name: string]: unknown
}

/** Calls back for each node outside of types, with the nodes around it, the innermost last. */
export function visit(path: string, source: string, callback: (node: Node, around: readonly Node[]) => void): void {
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  walk(program as unknown as Node, [], callback)
}

function walk(node: Node, around: Node[], callback: (node: Node, around: readonly Node[]) => void): void {
  callback(node, around)
  around.push(node)
  for (const child of Object.values(node).flat()) if (isNode(child) && isCode(child)) walk(child, around, callback)
  around.pop()
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Whether a node of TypeScript holds code: only nodes around an expression do. */
function isCode({ type }: Node): boolean {
  return !type.startsWith('TS') || ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(type)
}
