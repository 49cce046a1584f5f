/** Rows of a list, kept by key, so that a row in which somebody types is not replaced. */
export class List<Row> {
  readonly #element: HTMLElement
  readonly #make: () => RowView<Row>
  readonly #views = new Map<string, RowView<Row>>()

  constructor(element: HTMLElement, make: () => RowView<Row>) {
    this.#element = element
    this.#make = make
  }

  /** Shows the rows in their order. */
  show(rows: readonly (readonly [key: string, row: Row])[]): void {
    const keys = new Set(rows.map(([key]) => key))
    for (const [key, { element }] of this.#views) {
      if (keys.has(key)) continue
      element.remove()
      this.#views.delete(key)
    }
    for (const [at, [key, row]] of rows.entries()) {
      const view = this.#views.get(key) ?? this.#make()
      this.#views.set(key, view)
      view.show(row)
      const there = this.#element.children[at]
      if (there !== view.element) this.#element.insertBefore(view.element, there ?? null)
    }
  }
}

export interface RowView<Row> {
  readonly element: HTMLElement
  show(row: Row): void
}
