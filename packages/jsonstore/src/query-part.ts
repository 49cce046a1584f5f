/** Query parts for `advancedFind`: `QueryPart().like('name', 'ann').lessThan('age', 30)`. All conditions of a part hold together. */
import type { SearchValue } from './search-fields.ts'

/** A value that is looked for. */
export type QueryValue = SearchValue | boolean

/** Conditions by their names: `{ $like: [{ name: 'ann' }], $lessThan: [{ age: 30 }] }`. */
export type QueryConditions = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** The conditions of a query part. Each method adds one and returns the part. */
export class QueryPartConditions {
  /** Each method adds to the conditions of its name. */
  #add(name: string, field: string, value: unknown): this {
    const conditions = this as unknown as Record<string, object[] | undefined>
    const list = (conditions[name] ??= [])
    list.push({ [field]: value })
    return this
  }

  /** A field that has the value in it (like), whatever its case. */
  like(field: string, value: QueryValue): this {
    return this.#add('$like', field, value)
  }

  /** The field does not contain the value. */
  notLike(field: string, value: QueryValue): this {
    return this.#add('$notLike', field, value)
  }

  /** Ends with the text: what is unknown is on its left. */
  leftLike(field: string, value: QueryValue): this {
    return this.#add('$leftLike', field, value)
  }

  /** The field does not end with the value. */
  notLeftLike(field: string, value: QueryValue): this {
    return this.#add('$notLeftLike', field, value)
  }

  /** A field that starts with the value (right). */
  rightLike(field: string, value: QueryValue): this {
    return this.#add('$rightLike', field, value)
  }

  /** The field does not begin with the value. */
  notRightLike(field: string, value: QueryValue): this {
    return this.#add('$notRightLike', field, value)
  }

  /** The field equals the value. */
  equal(field: string, value: QueryValue): this {
    return this.#add('$equal', field, value)
  }

  /** The field differs from the value. */
  notEqual(field: string, value: QueryValue): this {
    return this.#add('$notEqual', field, value)
  }

  /** The field is lower than the value. */
  lessThan(field: string, value: QueryValue): this {
    return this.#add('$lessThan', field, value)
  }

  /** The field is lower than the value or equals it. */
  lessOrEqualThan(field: string, value: QueryValue): this {
    return this.#add('$lessOrEqualThan', field, value)
  }

  /** The field is greater than the value. */
  greaterThan(field: string, value: QueryValue): this {
    return this.#add('$greaterThan', field, value)
  }

  /** The field is greater than the value or equals it. */
  greaterOrEqualThan(field: string, value: QueryValue): this {
    return this.#add('$greaterOrEqualThan', field, value)
  }

  /** A field from one value to another; both ends are included. */
  between(field: string, from: QueryValue, to: QueryValue): this
  between(field: string, range: readonly QueryValue[]): this
  between(field: string, from: unknown, to?: unknown): this {
    return this.#add('$between', field, Array.isArray(from) ? from : [from, to])
  }

  /** The field is outside the two values. */
  notBetween(field: string, from: QueryValue, to: QueryValue): this
  notBetween(field: string, range: readonly QueryValue[]): this
  notBetween(field: string, from: unknown, to?: unknown): this {
    return this.#add('$notBetween', field, Array.isArray(from) ? from : [from, to])
  }

  /** Finds documents with one of the values. */
  inside(field: string, values: readonly QueryValue[]): this {
    return this.#add('$inside', field, values)
  }

  /** The field equals none of the values. */
  notInside(field: string, values: readonly QueryValue[]): this {
    return this.#add('$notInside', field, values)
  }
}

/** With or without `new`. */
export interface QueryPartConstructor {
  /** As `WL.JSONStore.QueryPart()`, with `new`. */
  new (): QueryPartConditions
  /** A part without conditions yet. */
  (): QueryPartConditions
}

/** Makes a part of a query for `advancedFind`: conditions that all have to hold. */
export const QueryPart: QueryPartConstructor = function makeQueryPart(): QueryPartConditions {
  return new QueryPartConditions()
} as unknown as QueryPartConstructor
