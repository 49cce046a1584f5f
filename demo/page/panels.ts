/** The side column: how the view was answered, the timings, and the facts about this browser's copy. */
import type { Collection } from 'pannier'
import type { City } from '../shared/city.ts'
import { formatBytes, formatCount, formatDuration } from '../shared/format.ts'
import { questions, time } from '../shared/queries.ts'
import { LOCKED } from './copy.ts'
import type { OpenCopy } from './copy.ts'
import { byId, create, setText } from '../../tools/web/dom.ts'
import { planList, searchList } from './plan.ts'
import type { Result } from './result.ts'

/** The query as one would write it, and the plan of it. */
export async function showPlan(result: Result): Promise<void> {
  const { skip, limit, ...found } = await result.explainRead()
  const window = `${skip === 0 ? '' : `\n  .skip(${skip})`}\n  .limit(${limit})`
  const list = 'search' in found ? searchList(found.search) : planList(found.plan)
  byId('plan-body').replaceChildren(create('pre', {}, `${question(result)}${window}`), list)
  if (!(await result.answersByRank())) {
    const note =
      'Further down this would walk far, so from the second block on the ids are listed once and rows are got by id.'
    byId('plan-body').append(create('p', { class: 'note' }, note))
  }
}

/** Asks the questions one after another and shows each answer when it is there. */
export async function measure(cities: Collection<City>, documents: number): Promise<void> {
  const button = byId<HTMLButtonElement>('measure')
  button.disabled = true
  try {
    const asked = questions(cities, documents).map((question) => {
      const answer = create('small', {}, '…')
      const first = create('td')
      const again = create('td')
      const row = create('tr', { title: question.code }, create('td', {}, question.title, answer), first, again)
      return { question, answer, first, again, row }
    })
    byId('timings').replaceChildren(...asked.map(({ row }) => row))
    for (const { question, answer, first, again } of asked) {
      const timing = await time(question)
      setText(answer, timing.answer)
      setText(first, formatDuration(timing.firstMs))
      setText(again, formatDuration(timing.againMs))
    }
  } finally {
    button.disabled = false
  }
}

export async function showFacts({ record, openMs }: OpenCopy): Promise<void> {
  const facts: [string, string][] = []
  if (openMs !== undefined) facts.push(['Opened in', formatDuration(openMs)])
  if (record !== undefined) {
    facts.push(
      ['Cities copied', formatCount(record.documents)],
      ['Copied in', formatDuration(record.copyMs)],
      ['Indexed in', formatDuration(record.indexMs)],
    )
  }
  if (LOCKED) facts.push(['Encrypted', 'with a password'])
  const estimate = await navigator.storage?.estimate?.().catch(() => undefined)
  if (estimate?.usage) facts.push(['Storage used', formatBytes(estimate.usage)])
  byId('copy').replaceChildren(...facts.flatMap(([term, fact]) => [create('dt', {}, term), create('dd', {}, fact)]))
}

function question({ words, selector, sort }: Result): string {
  const where = source(selector)
  if (words !== undefined) {
    return `cities\n  .search(${quoted(words)}${where === '' ? '' : `, { selector: ${where} }`})`
  }
  return `cities\n  .find(${where})\n  .sort(${sort.map(quoted).join(', ')})`
}

/** A selector as JavaScript source; nothing for an empty one. */
function source(value: unknown): string {
  if (value === null || typeof value !== 'object') return typeof value === 'string' ? quoted(value) : String(value)
  if (Array.isArray(value)) return `[${value.map(source).join(', ')}]`
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${source(part)}`)
  return parts.length === 0 ? '' : `{ ${parts.join(', ')} }`
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
