/** A definition with another name, for a collection of its own. */
import type { Collection, NewCollection } from '../../api/collections.ts'
import { indexParts, newIndexName } from './index-statement.ts'

/** Rules, options and indexes come along; records, ids and secrets of OAuth2 don't. */
export function duplicateOf(collection: Collection, name: string, all: readonly Collection[]): NewCollection {
  const {
    id: _id,
    created: _created,
    updated: _updated,
    system: _system,
    fields,
    indexes,
    oauth2,
    ...rest
  } = collection
  const taken = all.flatMap((one) => one.indexes)
  const own = indexes.flatMap((statement) => {
    const parts = indexParts(statement)
    if (parts === undefined) return []
    const columns = parts.columns.map((column) => column.split(' ')[0]!)
    const other = newIndexName(name, columns, taken)
    taken.push(`CREATE INDEX ${other} ON ${name} (id)`)
    return [statement.replace(parts.name, other)]
  })
  return {
    ...rest,
    name,
    // Those of a view follow from its query.
    fields: collection.type === 'view' ? [] : fields.map(({ id: _fieldId, ...field }) => field),
    indexes: own,
    ...(oauth2 !== undefined && { oauth2: { ...oauth2, enabled: false, providers: [] } }),
  }
}
