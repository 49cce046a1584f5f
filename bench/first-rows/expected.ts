/** Expected rows of each start, by the obvious program. */
import { makePeople, makePerson } from '../documents.ts'
import type { DataSet } from '../documents.ts'
import { CREATED_FROM, ROWS } from './apps/app.ts'
import { rowText } from './page/protocol.ts'
import { WANTED } from './processes.ts'

/** No figure goes with a wrong answer. */
export function checkRows(rows: readonly string[], set: DataSet, way: string): void {
  const expected = expectedRows(set, way)
  if (rows.join('\n') === expected.join('\n')) return
  throw new Error(`wrong rows:\n${rows.join('\n')}\ninstead of\n${expected.join('\n')}`)
}

function expectedRows(set: DataSet, way: string): string[] {
  if (way === 'get') return [rowText(makePerson(set, WANTED))]
  return makePeople(set, 0, set.documents)
    .filter(({ created }) => created >= CREATED_FROM)
    .toSorted((a, b) => (a.created < b.created ? -1 : 1))
    .slice(0, ROWS)
    .map(rowText)
}
