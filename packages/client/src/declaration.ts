/** Declarations of an app about its collections. */
import type { OpenOptions } from 'pannier'
import { checkOptions, type OptionNames } from 'pannier/internal'
import type { Values } from './writes.ts'

/** Which records of a collection come to the device, what becomes of conflicts, and what the library is to do with them. */
export interface CollectionDeclaration {
  /**
   * Only records that meet it come, in the language of rules: `"done = false"`. It reads the record's own fields, and no time. If it is
   * another one than before, all records are compared once more, and those that are not wanted any more leave.
   */
  readonly filter?: string
  /**
   * The way to merge an update with changes that others have made to the record meanwhile. By default it is refused with CONFLICT.
   * - `fields`: it is refused only if others have changed one of its fields.
   * - A function gives the values to write now, or undefined: then it is refused. It may be called again.
   *
   * @example
   * const merge: Merge = ({ base, mine, theirs }) => ({ ...mine, text: mergeTexts(base.text, mine.text, theirs.text) })
   */
  readonly merge?: 'fields' | Merge
  /** As `open` of the library takes them. */
  readonly indexes?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['indexes']
  /** As `open` of the library takes them. */
  readonly relations?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['relations']
}

/** An update that the server refused, as others have changed the record. */
export interface Conflict {
  /** The id of the record. */
  readonly id: string
  /** The values that the update found in the fields that it changes. */
  readonly base: Values
  /** The values of the update, with their modifiers. */
  readonly mine: Values
  /** The record as the server has it. */
  readonly theirs: Values
}

/** Merges an update into the changes of others to the record. */
export type Merge = (conflict: Conflict) => Values | undefined

/** The declarations of an app, by what they are for. */
export interface Declared {
  readonly names: readonly string[]
  readonly filters: Readonly<Record<string, string>>
  readonly merges: Merges
  /** Options for the library's collections. */
  readonly options: Readonly<Record<string, object>>
}

/** By the names of collections. */
export type Merges = Readonly<Record<string, 'fields' | Merge>>

const DECLARATION: OptionNames<CollectionDeclaration> = { filter: true, merge: true, indexes: true, relations: true }

/** Sorts declarations by what they are for. */
export function readDeclarations(
  declarations: readonly string[] | Readonly<Record<string, CollectionDeclaration | undefined>>,
): Declared {
  // A collection may be called as a member of every object.
  const filters = Object.create(null) as Record<string, string>
  const merges = Object.create(null) as Record<string, 'fields' | Merge>
  const options = Object.create(null) as Record<string, object>
  const entries = Array.isArray(declarations)
    ? declarations.map((name: string): [string, CollectionDeclaration?] => [name])
    : Object.entries(declarations)
  for (const [name, declaration = {}] of entries) {
    checkOptions(`connect(): collections.${name}`, declaration, DECLARATION)
    const { filter, merge, ...others } = declaration
    if (filter !== undefined) filters[name] = filter
    if (merge !== undefined) merges[name] = merge
    options[name] = others
  }
  return { names: Object.keys(options), filters, merges, options }
}
