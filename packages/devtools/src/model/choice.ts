/** Versions of a document side by side, and which field is taken from which. */
import type { JsonObject } from './source.ts'

/** One side: a version. */
interface Side {
  readonly title: string
  readonly values: JsonObject
  /** False: it is only shown. */
  readonly isChoosable: boolean
}

/** One field of all sides. */
interface ChoiceRow {
  readonly field: string
  readonly differs: boolean
  /** The values as JSON; undefined: the side has no such field. */
  readonly cells: readonly (string | undefined)[]
  /** The place of the side from which the value is taken. */
  readonly chosen: number
}

/** Fields that the library adds. They say nothing about the content. */
const ADDED: readonly string[] = ['_id', '_rev', '_conflicts', '_revisions', '$rev']

export class Choice {
  readonly sides: readonly Side[]
  readonly #chosen = new Map<string, number>()
  readonly #fields: readonly string[]
  #default: number

  constructor(sides: readonly Side[]) {
    this.sides = sides
    this.#default = sides.findIndex(({ isChoosable }) => isChoosable)
    const fields = new Set(sides.flatMap(({ values }) => Object.keys(values)))
    this.#fields = [...fields].filter((field) => !ADDED.includes(field))
  }

  get rows(): readonly ChoiceRow[] {
    return this.#fields.map((field) => {
      const cells = this.sides.map(({ values }) => JSON.stringify(values[field]) as string | undefined)
      const compared = cells.filter((_, at) => this.sides[at]!.isChoosable)
      return { field, differs: new Set(compared).size > 1, cells, chosen: this.#of(field) }
    })
  }

  choose(field: string, side: number): void {
    this.#chosen.set(field, side)
  }

  chooseAll(side: number): void {
    this.#chosen.clear()
    this.#default = side
  }

  /** The merged content: each field from the side that was chosen. */
  get merged(): JsonObject {
    const values = this.#fields.map((field) => [field, this.sides[this.#of(field)]!.values[field]] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }

  /** The fields that are taken from a side. */
  fieldsOf(side: number): readonly string[] {
    return this.#fields.filter((field) => this.#of(field) === side)
  }

  #of(field: string): number {
    return this.#chosen.get(field) ?? this.#default
  }
}
