/** The result of `explain`, and its drawing as a tree in text. */
import type { IndexInput } from '../../index/index-definition.ts'

/** How a query is answered: its plan, its indexes and its costs. */
export interface Explanation {
  /** The steps, each with the steps below it. */
  readonly plan: PlanStep
  /** Rows before skip and limit. */
  readonly rows: number
  /** True: `rows` is exact; false: there may be fewer. */
  readonly rowsExact: boolean
  /** The index alone gives the order. */
  readonly sortedByIndex: boolean
  /** No document is read. */
  readonly covering: boolean
  /** In units of testing one document in a scan. */
  readonly cost: number
  /**
   * The index that would help most, as `collection(name, { indexes })` takes it. Undefined if none would, as for a few documents:
   * a scan of them is fastest.
   */
  readonly suggestion: IndexInput | undefined
  /** The steps along relations that were answered before, each with its own plan. */
  readonly related?: readonly RelatedExplanation[]
  /** For a query that was run. */
  readonly actual?: ActualWork
  /**
   * The whole explanation as text: the steps are drawn as a tree.
   *
   * @example
   * console.log(String(await people.find({ city: 'Oslo' }).explain()))
   */
  toString(): string
}

/** How a step along a relation was answered. */
export interface RelatedExplanation {
  /** The related collection. */
  readonly collection: string
  /** The field that holds the ids: of the document, or (`back`) of the related ones. */
  readonly field: string
  /** The way back along a relation. */
  readonly back: boolean
  /** From what it was answered: related documents, entries of the relation's index, or its column in memory. */
  readonly way: 'documents' | 'entries' | 'column'
  /** How many different ids there were; undefined: a column needs none. */
  readonly ids: number | undefined
  /** For the related documents. */
  readonly plan: PlanStep
  /** The related steps on which that depends. */
  readonly related: readonly RelatedExplanation[]
}

export interface ActualWork {
  /** Rows that the query gave. */
  readonly rows: number
  /** Documents that were read. */
  readonly documents: number
  /** Pages that were read because they were not in memory. */
  readonly pages: number
}

export interface PlanStep {
  readonly step:
    | 'full scan'
    | 'id scan'
    | 'index scan'
    | 'number set'
    | 'union'
    | 'intersection'
    | 'complement'
    | 'missing field'
    | 'nothing'
    | 'fetch'
    | 'filter'
    | 'sort'
    | 'skip'
    | 'limit'
    | 'project'
  readonly [detail: string]: unknown
}

/** Longer conditions end in dots. */
const TEXT_CHARS_MAX = 80
/** More values of one field are only counted. */
const VALUES_MAX = 3

/** The explanation, with a `toString` that draws it. */
export function drawable<T extends Explanation>(explanation: T): T {
  // As data it has no further field.
  return Object.defineProperty(explanation, 'toString', { value: () => draw(explanation) })
}

function draw({ plan, related = [], suggestion, actual }: Explanation): string {
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

function describe(step: PlanStep): string {
  const details = step as PlanStep & Details
  const { rows, actualRows } = details
  const isAsked = step.step === 'skip' || step.step === 'limit'
  const named = isAsked ? `${step.step} ${rows}` : step.step
  const text = [named, textsOf(details).join(', ')].filter((part) => part !== '').join(' ')
  const counts: string[] = []
  if (rows !== undefined && !isAsked) counts.push(`${rows} rows`)
  if (actualRows !== undefined) counts.push(`gave ${actualRows}`)
  return counts.length === 0 ? text : `${text} (${counts.join(', ')})`
}

/** The details of a PlanStep, by the step. */
interface Details {
  readonly rows?: number
  readonly actualRows?: number
  readonly index?: string
  readonly bounds?: readonly { readonly path: string; readonly values: readonly unknown[] }[]
  readonly reverse?: boolean
  readonly columns?: readonly string[]
  readonly searches?: readonly string[]
  readonly condition?: unknown
  readonly by?: readonly string[]
  readonly fields?: readonly string[]
  readonly byRank?: boolean
}

function textsOf(details: Details): string[] {
  const { index, bounds = [], reverse, columns, searches, condition, by, fields, byRank } = details
  const texts = [
    index && `of ${index}`,
    ...bounds.map(
      ({ path, values }) => `${path}: ${values.length > VALUES_MAX ? `${values.length} values` : short(values)}`,
    ),
    columns && `by the columns ${columns.join(', ')}`,
    searches && `by the searches ${searches.map(short).join(', ')}`,
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
