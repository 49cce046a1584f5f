/** The index of a relation: by it the documents that refer to one id are found. */
import { parseIndexInput, type IndexDeclaration, type IndexInput } from '../index/index-definition.ts'
import type { Relation } from './relation-graph.ts'

/** One index for each relation that no declared index serves. */
export function missingIndexes(relations: readonly Relation[], indexes: readonly IndexInput[]): IndexInput[] {
  const declared = indexes.map(parseIndexInput)
  const names = new Set(declared.map(({ name }) => name))
  return relations
    .filter((relation) => !declared.some((index) => servesRelation(index, relation)))
    .map(({ field, many }) => ({ on: field, multi: many, ...(names.has(field) && { name: `relation ${field}` }) }))
}

/** Whether the documents that refer to one id are one range of the index. */
export function servesRelation(index: IndexDeclaration, { field, many }: Pick<Relation, 'field' | 'many'>): boolean {
  const { fields, multi, where, collation, text } = index
  return fields[0]!.path === field && multi === many && (where ?? collation ?? text) === undefined
}
