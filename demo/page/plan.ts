/** Shows the result of explain() as a list of steps in the order in which they run. */
import type { Explanation } from 'pannier'
import type { SearchExplanation } from 'pannier/types'
import { formatCount } from '../shared/format.ts'
import { create } from '../../tools/web/dom.ts'

type Step = Explanation['plan']

/** Whether the k-th row is found without walking the rows before it. */
export function answersByRank({ plan }: Explanation): boolean {
  for (let step: Step | undefined = plan; step !== undefined; step = input(step)) {
    if (step.step === 'skip') return step['byRank'] === true
  }
  return false
}

export function planList({ plan, sortedByIndex, rows, rowsExact }: Explanation): HTMLElement {
  const steps: Step[] = []
  for (let step: Step | undefined = plan; step !== undefined; step = input(step)) steps.unshift(step)
  const list = create('ol', { class: 'plan' })
  for (const step of steps) {
    const detail = describeStep(step)
    list.append(create('li', {}, create('strong', {}, step.step), detail === '' ? '' : ` ${detail}`))
  }
  const count = `${rowsExact ? 'Exactly' : 'At most'} ${formatCount(rows)} rows before skip and limit`
  return create(
    'div',
    {},
    list,
    create('p', { class: 'note' }, `${count}${sortedByIndex ? '; the index gives the order' : ''}.`),
  )
}

/** The look-ups of a search, the words first. */
export function searchList({ terms, documents, readsDocuments }: SearchExplanation): HTMLElement {
  const looked = terms.map(({ word, isPrefix, postings }) => {
    const detail = ` ${isPrefix ? 'words that begin with ' : ''}“${word}”: ${formatCount(postings)} entries`
    return create('li', {}, create('strong', {}, 'text index'), detail)
  })
  if (readsDocuments) looked.push(create('li', {}, create('strong', {}, 'filter'), ' by the other fields'))
  looked.push(create('li', {}, create('strong', {}, 'rank'), ' by BM25: rare words count more'))
  const note = `Of ${formatCount(documents)} documents with words.`
  return create('div', {}, create('ol', { class: 'plan' }, ...looked), create('p', { class: 'note' }, note))
}

function input(step: Step): Step | undefined {
  return step['input'] as Step | undefined
}

function describeStep(step: Step): string {
  switch (step.step) {
    case 'full scan':
      return `over ${formatCount(Number(step['rows']))} documents`
    case 'id scan':
    case 'index scan': {
      const fields = step['fields'] === undefined ? '' : `of ${(step['fields'] as string[]).join(', ')}, `
      const bounds = (step['bounds'] as { path: string; values: unknown[] }[])
        .map(({ path, values }) => `${path} ${values.map(intervalText).join(' or ')}, `)
        .join('')
      const direction = step['reverse'] === true ? ', backwards' : ''
      return `${fields}${bounds}${formatCount(Number(step['rows']))} entries${direction}`
    }
    case 'filter':
      return `where ${conditionText(step['condition'])}`
    case 'sort':
      return `by ${(step['by'] as string[]).join(', ')}`
    case 'skip':
      return `${formatCount(Number(step['rows']))} ${step['byRank'] === true ? 'by rank, without walking' : 'by walking'}`
    case 'limit':
      return formatCount(Number(step['rows']))
    case 'fetch':
      return 'those documents'
    case 'union':
      return `of ${(step['inputs'] as Step[]).map((each) => each.step).join(', ')}`
    case 'project':
      return (step['fields'] as string[]).join(', ')
    default:
      return ''
  }
}

/** A condition as explain() gives it: tests by path, perhaps combined. */
function conditionText(condition: unknown): string {
  return Object.entries(condition as Record<string, unknown>)
    .map(([name, test]) => {
      if (name === '$and' || name === '$or') {
        return (test as unknown[]).map(conditionText).join(name === '$and' ? ' and ' : ' or ')
      }
      return `${name} ${testText(test)}`
    })
    .join(' and ')
}

function testText(test: unknown): string {
  const { $regex, $not, $some, $every } = test as Record<string, unknown>
  if ($regex !== undefined) return `has ${JSON.stringify($regex)} in it`
  if ($not !== undefined) return `not ${testText($not)}`
  return (($some ?? $every ?? [test]) as unknown[]).map(intervalText).join(' or ')
}

const SIGNS: Readonly<Record<string, string>> = { $eq: '=', $gt: '>', $gte: '≥', $lt: '<', $lte: '≤' }

function intervalText(interval: unknown): string {
  return Object.entries(interval as Record<string, unknown>)
    .map(([operator, value]) => `${SIGNS[operator] ?? operator} ${JSON.stringify(value)}`)
    .join(' and ')
}
