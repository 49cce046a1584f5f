/** The collections that a text may name, as tables and views. */
import type { Definition, ViewDefinition } from '../definitions/definition.ts'
import type { ModelSchema } from './protocol.ts'
import { sourceOf, type TableSource } from './sources.ts'

/** The collections that a text names, and those that its views read. */
export interface NamedCollections {
  readonly tables: readonly TableSource[]
  /** The views; a view stands behind the views that it reads. */
  readonly views: readonly ViewDefinition[]
}

/** By words: more than what is meant does no harm. `besides`: a view that is not meant. */
export function collectionsNamed(text: string, all: readonly Definition[], besides?: string): NamedCollections {
  const found = new Map(all.map((definition) => [definition.name.toLowerCase(), definition]))
  const seen = new Set([besides?.toLowerCase()])
  const tables: TableSource[] = []
  const views: ViewDefinition[] = []
  const visit = (words: string): void => {
    for (const [word] of words.toLowerCase().matchAll(/\w+/g)) {
      const definition = found.get(word)
      if (definition === undefined || seen.has(word)) continue
      seen.add(word)
      if (definition.type !== 'view') tables.push(sourceOf(definition))
      else {
        visit(definition.viewQuery)
        views.push(definition)
      }
    }
  }
  visit(text)
  return { tables, views }
}

export function schemaOf({ tables, views }: NamedCollections): ModelSchema {
  return {
    tables: tables.map(({ table }) => table),
    views: views.map(({ name, viewQuery: query }) => ({ name, query })),
  }
}
