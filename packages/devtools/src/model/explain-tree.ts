/** The explanation of a query as a tree to be drawn: the last step on top, with the rows and bytes that each step takes. */
import type { Explanation } from 'pannier'
import { conditionText } from './question-text.ts'

/** A node of the tree: a step that is drawn. */
export interface ExplainNode {
  readonly title: string
  readonly detail: string
  /** Rows that the planner expects; undefined: it does not say. */
  readonly expected: number | undefined
  /** Rows that the step gave when the query was run. */
  readonly actual: number | undefined
  /** About how many bytes of documents the step read. */
  readonly bytes: number | undefined
  /** Part of the largest step, 0 to 1: the length of its bar. */
  readonly share: number
  /** A costly step reads every document for a few. */
  readonly isCostly: boolean
  readonly children: readonly ExplainNode[]
}

type Step = Explanation['plan']
type Related = NonNullable<Explanation['related']>[number]

interface Details {
  readonly rows?: number
  readonly actualRows?: number
  readonly index?: string
  readonly fields?: readonly string[]
  readonly bounds?: readonly { readonly path: string; readonly values: readonly unknown[] }[]
  readonly condition?: unknown
  readonly by?: readonly string[]
  readonly columns?: readonly string[]
  readonly searches?: readonly string[]
  readonly reverse?: boolean
  readonly byRank?: boolean
  readonly input?: Step
  readonly inputs?: readonly Step[]
}

/** A scan of more documents than this is marked, if few of them match. */
const SCAN_ROWS = 1000
const SCAN_SHARE = 0.1

/** `documentBytes`: the length of a document on average. */
export function explainTree(explanation: Explanation, documentBytes: number): readonly ExplainNode[] {
  const { plan, related = [], actual } = explanation
  const result = actual?.rows ?? explanation.rows
  const roots = [nodeOf(plan, documentBytes, result), ...related.map((step) => relatedNode(step, documentBytes))]
  const most = Math.max(1, ...roots.map(mostOf))
  return roots.map((root) => withShares(root, most))
}

function nodeOf(step: Step, documentBytes: number, result: number): ExplainNode {
  const details = step as Details
  const { rows, actualRows, input, inputs = input === undefined ? [] : [input] } = details
  const isAsked = step.step === 'skip' || step.step === 'limit'
  const isRead = step.step === 'full scan' || step.step === 'fetch'
  const count = actualRows ?? (isAsked ? undefined : rows)
  return {
    title: isAsked ? `${step.step} ${rows}` : step.step,
    detail: detailOf(details),
    expected: isAsked ? undefined : rows,
    actual: actualRows,
    bytes: isRead && count !== undefined ? count * documentBytes : undefined,
    share: 0,
    isCostly: step.step === 'full scan' && (count ?? 0) > SCAN_ROWS && result < (count ?? 0) * SCAN_SHARE,
    children: inputs.map((below) => nodeOf(below, documentBytes, result)),
  }
}

function relatedNode(
  { collection, field, back, way, ids, plan, related }: Related,
  documentBytes: number,
): ExplainNode {
  return {
    title: back ? `${collection} whose ${field} leads here` : `${field} leads to ${collection}`,
    detail: `by ${way}`,
    expected: ids,
    actual: undefined,
    bytes: undefined,
    share: 0,
    isCostly: false,
    children: [nodeOf(plan, documentBytes, Infinity), ...related.map((step) => relatedNode(step, documentBytes))],
  }
}

function detailOf(details: Details): string {
  const { index, fields = [], bounds = [], condition, by, columns = [], searches = [], reverse, byRank } = details
  const parts = [
    index !== undefined && `of ${index}`,
    ...bounds.map(({ path, values }) => conditionText({ [path]: { $some: values } })),
    columns.length > 0 && `by the columns ${columns.join(', ')}`,
    searches.length > 0 && `by the words ${searches.join(', ')}`,
    condition !== undefined && conditionText(condition),
    by !== undefined && `by ${by.join(', ')}`,
    index === undefined && fields.join(', '),
    reverse === true && 'in reverse',
    byRank === true && 'by rank',
  ]
  return parts.filter(Boolean).join(' · ')
}

function countOf({ actual, expected }: ExplainNode): number {
  return actual ?? expected ?? 0
}

function mostOf(node: ExplainNode): number {
  return Math.max(countOf(node), ...node.children.map(mostOf))
}

function withShares(node: ExplainNode, most: number): ExplainNode {
  return { ...node, share: countOf(node) / most, children: node.children.map((child) => withShares(child, most)) }
}
