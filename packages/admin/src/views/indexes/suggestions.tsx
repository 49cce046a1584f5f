/** Indexes that would help: the lists of the logs are explained again, and the planner says which index each lacks. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { explainList, listLoggedLists } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { indexParts } from '../definition/index-statement.ts'

const { suggestions: texts } = TEXTS
const REQUESTS_MAX = 500
const LISTS_MAX = 20

interface AskedList {
  readonly filter: string
  readonly sort: string
  readonly count: number
  /** The mean of its requests. */
  readonly ms: number
}

interface Suggestion {
  readonly columns: readonly string[]
  readonly lists: readonly AskedList[]
}

interface SuggestionsProps {
  readonly collection: Collection
  readonly indexes: readonly string[]
  readonly onAdd: (columns: readonly string[]) => void
}

export function Suggestions({ collection, indexes, onAdd }: SuggestionsProps): ReactNode {
  const [found, setFound] = useState<{ readonly requests: number; readonly list: readonly Suggestion[] }>()
  const look = async (): Promise<void> => setFound(await suggestionsFor(collection))
  const has = ({ columns }: Suggestion): boolean =>
    indexes.some((one) => indexParts(one)?.columns.join() === columns.map(columnText).join())
  const left = found?.list.filter((one) => !has(one)) ?? []
  return (
    <section className="new-index" aria-labelledby="suggestions">
      <h2 id="suggestions">{texts.title}</h2>
      <p className="def-text">{texts.text}</p>
      <Button icon="search" onPress={look}>
        {texts.look}
      </Button>
      {found !== undefined && (
        <p role="status">{left.length === 0 ? texts.none(found.requests) : texts.found(left.length, found.requests)}</p>
      )}
      <ul className="def-fields">
        {left.map(({ columns, lists }) => (
          <li key={columns.join()} className="def-field suggestion">
            <div className="def-field-head">
              <span className="def-field-badges">
                {columns.map((column) => (
                  <code key={column}>{columnText(column)}</code>
                ))}
              </span>
              <Button icon="add" onPress={() => onAdd(columns)}>
                {texts.add(columns.map(columnText).join(', '))}
              </Button>
            </div>
            <ul>
              {lists.map(({ filter, sort, count, ms }) => (
                <li key={`${filter} ${sort}`}>
                  {texts.helps(count, ms)} {filter !== '' && <code>{filter}</code>}{' '}
                  {sort !== '' && <code>{texts.sort(sort)}</code>}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  )
}

function columnText(column: string): string {
  return column.startsWith('-') ? `${column.slice(1)} DESC` : column
}

async function suggestionsFor(
  collection: Collection,
): Promise<{ readonly requests: number; readonly list: readonly Suggestion[] }> {
  const requests = (
    await Promise.all([collection.name, collection.id].map((name) => listLoggedLists(name, REQUESTS_MAX)))
  ).flat()
  const asked = new Map<string, AskedList>()
  for (const { data } of requests) {
    const query = new URLSearchParams(data.url.split('?', 2)[1] ?? '')
    const [filter, sort] = [query.get('filter') ?? '', query.get('sort') ?? '']
    if (filter === '' && sort === '') continue
    const { count = 0, ms = 0 } = asked.get(`${filter} ${sort}`) ?? {}
    asked.set(`${filter} ${sort}`, { filter, sort, count: count + 1, ms: (ms * count + data.execTime) / (count + 1) })
  }
  const most = [...asked.values()]
    .toSorted((one, other) => other.count * other.ms - one.count * one.ms)
    .slice(0, LISTS_MAX)
  const byColumns = new Map<string, Suggestion>()
  for (const list of most) {
    const columns = await columnsFor(collection, list)
    if (columns === undefined) continue
    const lists = byColumns.get(columns.join())?.lists ?? []
    byColumns.set(columns.join(), { columns, lists: [...lists, list] })
  }
  return { requests: requests.length, list: [...byColumns.values()] }
}

/** The columns of the index that would help; undefined if none would, or if it is of no fields. */
async function columnsFor(
  { id, fields }: Collection,
  { filter, sort }: AskedList,
): Promise<readonly string[] | undefined> {
  // A filter may name what is no longer there.
  const explained = await explainList(id, { filter, sort }).catch(() => undefined)
  const suggestion = explained?.plan.suggestion
  const on = typeof suggestion === 'object' && suggestion !== null && 'on' in suggestion ? suggestion.on : suggestion
  if (on === undefined) return undefined
  const columns = [on].flat().map(String)
  const names = new Set(fields.map(({ name }) => name))
  return columns.every((column) => names.has(column.replace(/^-/, ''))) ? columns : undefined
}
