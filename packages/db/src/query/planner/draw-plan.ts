/** Draws what `explain` tells as a tree in text. */
import type { Explanation, PlanStep, RelatedExplanation } from './explain.ts'

/** Longer conditions end in dots. */
const TEXT_CHARS_MAX = 80
/** More values of one field are only counted. */
const VALUES_MAX = 3

/** The explanation, with a `toString` that draws it. */
export function drawable<T extends Omit<Explanation, 'toString'>>(explanation: T): T {
  // As data it has no further field.
  return Object.defineProperty(explanation, 'toString', { value: () => draw(explanation) })
}

function draw({ plan, related = [], suggestion, actual }: Omit<Explanation, 'toString'>): string {
  const lines = [...linesOf(plan), ...related.flatMap(relatedLines)]
  if (suggestion !== undefined) lines.push(`an index would help: ${JSON.stringify(suggestion)}`)
  if (actual !== undefined)
    lines.push(
      `${actual.rows} rows; read: ${actual.documents} documents, ${actual.pages} pages that were not in memory`,
    )
  return lines.join('\n')
}

function linesOf(step: PlanStep): string[] {
  const { input, inputs = input === undefined ? [] : [input] } = step as PlanStep & Inputs
  return [describe(step), ...branches(inputs.map(linesOf))]
}

interface Inputs {
  readonly input?: PlanStep
  readonly inputs?: readonly PlanStep[]
}

/** Below a step: the lines of those that feed it. */
function branches(below: readonly (readonly string[])[]): string[] {
  return below.flatMap(([first, ...others], at) => {
    const isLast = at === below.length - 1
    return [`${isLast ? '└' : '├'} ${first}`, ...others.map((line) => `${isLast ? ' ' : '│'} ${line}`)]
  })
}

function relatedLines({ collection, field, back, way, ids, plan, related }: RelatedExplanation): string[] {
  const step = back ? `${collection} whose '${field}' leads here` : `'${field}' leads to ${collection}`
  const found = ids === undefined ? '' : `, ${ids} ids`
  return [`${step}: by ${way}${found}`, ...branches([linesOf(plan), ...related.map(relatedLines)])]
}

function describe({ step, rows, actualRows, ...details }: PlanStep): string {
  const isAsked = step === 'skip' || step === 'limit'
  const named = isAsked ? `${step} ${String(rows)}` : step
  const text = [named, detailsOf(details).join(', ')].filter((part) => part !== '').join(' ')
  const counts: string[] = []
  if (rows !== undefined && !isAsked) counts.push(`${String(rows)} rows`)
  if (actualRows !== undefined) counts.push(`gave ${String(actualRows)}`)
  return counts.length === 0 ? text : `${text} (${counts.join(', ')})`
}

/** What PlanStep has, by the step. */
interface Details {
  readonly index?: string
  readonly bounds?: readonly { readonly path: string; readonly values: readonly unknown[] }[]
  readonly reverse?: boolean
  readonly columns?: readonly string[]
  readonly condition?: unknown
  readonly by?: readonly string[]
  readonly fields?: readonly string[]
  readonly byRank?: boolean
}

function detailsOf(details: Details): string[] {
  const { index, bounds = [], reverse, columns, condition, by, fields, byRank } = details
  const texts = [
    index && `of ${index}`,
    ...bounds.map(
      ({ path, values }) => `${path}: ${values.length > VALUES_MAX ? `${values.length} values` : short(values)}`,
    ),
    columns && `by the columns ${columns.join(', ')}`,
    condition === undefined ? undefined : short(condition),
    by && `by ${by.join(', ')}`,
    index === undefined && fields ? fields.join(', ') : undefined,
    reverse === true ? 'in reverse' : undefined,
    byRank === true ? 'by rank' : undefined,
  ]
  return texts.filter((text) => text !== undefined && text !== '') as string[]
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text
}
