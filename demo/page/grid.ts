/**
 * A table over any number of rows that holds only visible ones. The scrolled element is as high as all rows together.
 * The table stays in place inside it (position: sticky) and shows the rows at the scroll position, which it reads by
 * rank. Until these have come it shows the old rows, so nothing flashes white.
 */
import type { Stored } from 'pannier'
import { PHOTO } from '../shared/city.ts'
import type { City } from '../shared/city.ts'
import { formatCount } from '../shared/format.ts'
import { COLUMNS } from './columns.ts'
import type { Column } from './columns.ts'
import { create, setText } from '../../tools/web/dom.ts'
import type { Result } from './result.ts'
import type { Order, SortColumn } from './view.ts'

export interface GridEvents {
  onSort(order: Order): void
  onEdit(city: Stored<City>): void
  /** Rows were read from the database. */
  onRead(): void
  onError(error: unknown): void
}

interface Row {
  readonly element: HTMLTableRowElement
  readonly cells: readonly HTMLTableCellElement[]
  readonly edit: HTMLButtonElement
  city: Stored<City> | undefined
}

/** Rows that take longer are shown as empty ones, so that scrolling never seems stuck. */
const PATIENCE_MS = 150
const CHANGED_SHOWN_MS = 1_600

export class Grid {
  readonly #element: HTMLElement
  readonly #sizer: HTMLElement
  readonly #table: HTMLElement
  readonly #head: HTMLElement
  readonly #body: HTMLElement
  readonly #empty: HTMLElement
  readonly #headCells: Map<SortColumn, HTMLTableCellElement> = new Map()
  readonly #events: GridEvents
  readonly #rows: Row[] = []
  #result: Result | undefined
  #count = 0
  /** Undefined: the best first, which can't be changed. */
  #order: Order | undefined
  #rowHeight = 36
  #visible = 0
  /** The rank of the row that the keyboard is on. */
  #active = 0
  #changed: ReadonlySet<string> = new Set()
  #renderedFirst = 0
  #frame = 0
  #patience: ReturnType<typeof setTimeout> | undefined

  constructor(element: HTMLElement, events: GridEvents) {
    const find = (selector: string): HTMLElement => element.querySelector(selector) as HTMLElement
    this.#element = element
    this.#sizer = find('.sizer')
    this.#table = find('table')
    this.#head = find('thead')
    this.#body = find('tbody')
    this.#empty = create('p', { class: 'empty' }, 'No city matches.')
    this.#empty.hidden = true
    this.#table.after(this.#empty)
    this.#events = events
    this.#makeHead()
    element.setAttribute('aria-colcount', String(COLUMNS.length + 1))
    element.addEventListener('scroll', () => this.#schedule(), { passive: true })
    element.addEventListener('keydown', (event) => this.#onKey(event))
    this.#body.addEventListener('click', (event) => this.#onClick(event))
    this.#body.addEventListener('dblclick', (event) => this.#editAt(event.target))
    new ResizeObserver(() => this.#layOut()).observe(element)
  }

  /** Shows another result; `keepPosition` for the same view after a change. Its first rows should be loaded. */
  show(result: Result, count: number, order: Order | undefined, keepPosition: boolean): void {
    this.#result = result
    this.#count = count
    this.#order = order
    this.#element.setAttribute('aria-rowcount', String(count + 1))
    this.#empty.hidden = count > 0
    for (const [column, cell] of this.#headCells) {
      cell.setAttribute('aria-sort', column !== order?.column ? 'none' : order.descending ? 'descending' : 'ascending')
      cell.querySelector('button')!.disabled = order === undefined
    }
    if (!keepPosition) this.#active = 0
    this.#active = Math.max(0, Math.min(this.#active, count - 1))
    this.#layOut()
    if (!keepPosition) this.#element.scrollTop = 0
    this.#update()
  }

  /** The rows in sight: what to load before `show`. */
  range(keepPosition: boolean): { first: number; count: number } {
    this.#layOut()
    return { first: keepPosition ? this.#first() : 0, count: this.#visible }
  }

  /** Marks rows for a moment. */
  mark(ids: ReadonlySet<string>): void {
    this.#changed = ids
    setTimeout(() => {
      if (this.#changed !== ids) return
      this.#changed = new Set()
      for (const row of this.#rows) row.element.classList.remove('changed')
    }, CHANGED_SHOWN_MS)
  }

  #makeHead(): void {
    const row = create('tr', { role: 'row', 'aria-rowindex': '1' })
    for (const column of COLUMNS) {
      const cell = create('th', { role: 'columnheader', scope: 'col', class: column.className })
      if (column.sort === undefined) cell.textContent = column.title
      else {
        const button = create('button', { type: 'button' }, column.title)
        button.addEventListener('click', () => this.#onSort(column))
        cell.append(button)
        this.#headCells.set(column.sort, cell)
      }
      row.append(cell)
    }
    row.append(create('th', { role: 'columnheader', scope: 'col', 'aria-label': 'Edit' }))
    this.#head.append(row)
  }

  #makeRow(): Row {
    const cells = COLUMNS.map((column) => create('td', { role: 'gridcell', class: column.className }))
    const edit = create('button', { type: 'button', class: 'edit', tabindex: '-1' }, 'Edit')
    const element = create(
      'tr',
      { role: 'row' },
      ...cells,
      create('td', { role: 'gridcell', class: 'edit-cell' }, edit),
    )
    this.#body.append(element)
    return { element, cells, edit, city: undefined }
  }

  /** Measures, and makes as many rows as fit. */
  #layOut(): void {
    const height = this.#element.clientHeight
    this.#rowHeight = Number.parseFloat(getComputedStyle(this.#element).getPropertyValue('--row-height')) || 36
    const headHeight = this.#head.offsetHeight
    this.#visible = Math.max(1, Math.ceil((height - headHeight) / this.#rowHeight) + 1)
    while (this.#rows.length < this.#visible) this.#rows.push(this.#makeRow())
    for (const row of this.#rows.splice(this.#visible)) row.element.remove()
    this.#table.style.height = `${height}px`
    this.#sizer.style.height = `${headHeight + this.#count * this.#rowHeight}px`
    this.#schedule()
  }

  #first(): number {
    return Math.max(0, Math.min(Math.floor(this.#element.scrollTop / this.#rowHeight), this.#count - 1))
  }

  #schedule(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      this.#update()
    })
  }

  #update(): void {
    const result = this.#result
    if (result === undefined) return
    const first = this.#first()
    const wanted = Math.min(this.#visible, this.#count - first)
    const rows = wanted > 0 ? result.peek(first, wanted) : []
    if (rows !== undefined) {
      clearTimeout(this.#patience)
      this.#patience = undefined
      this.#render(first, rows)
      this.#events.onRead()
      this.#prefetch(result, first)
      return
    }
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined
      this.#render(this.#first(), [])
    }, PATIENCE_MS)
    result.load(first, wanted).then(
      // At once: by the next frame the scroll position may be another, and so on.
      () => this.#result === result && this.#update(),
      (error: unknown) => this.#result === result && this.#events.onError(error),
    )
  }

  /** When scrolling is steady, the rows next to these are likely to be next. */
  #prefetch(result: Result, first: number): void {
    const steady = Math.abs(first - this.#renderedFirst) < this.#visible
    this.#renderedFirst = first
    if (!steady) return
    const from = Math.max(0, first - this.#visible)
    // A failure shows when the rows are wanted.
    result.prefetch(from, Math.min(this.#count - from, 3 * this.#visible)).catch(() => undefined)
  }

  #render(first: number, cities: readonly Stored<City>[]): void {
    this.#body.style.transform = `translateY(${first * this.#rowHeight - this.#element.scrollTop}px)`
    for (const [at, row] of this.#rows.entries()) this.#fill(row, first + at, cities[at])
    this.#element.setAttribute('aria-activedescendant', rowId(this.#active))
  }

  #fill(row: Row, rank: number, city: Stored<City> | undefined): void {
    row.city = city
    row.element.hidden = rank >= this.#count
    if (row.element.hidden) return
    row.element.id = rowId(rank)
    row.element.setAttribute('aria-rowindex', String(rank + 2))
    row.element.setAttribute('aria-selected', String(rank === this.#active))
    row.element.classList.toggle('changed', city !== undefined && this.#changed.has(city._id))
    row.element.classList.toggle('has-photo', city?._attachments?.[PHOTO] !== undefined)
    for (const [at, cell] of row.cells.entries()) {
      setText(
        cell,
        city === undefined ? (at === 0 ? formatCount(rank + 1) : '') : (COLUMNS[at]?.text(city, rank) ?? ''),
      )
    }
    row.edit.hidden = city === undefined
    row.edit.setAttribute('aria-label', `Edit ${city?.name ?? ''}`)
  }

  #onSort(column: Column): void {
    if (column.sort === undefined) return
    const again = this.#order?.column === column.sort
    this.#events.onSort({
      column: column.sort,
      descending: again ? this.#order?.descending === false : column.descendingFirst === true,
    })
  }

  #onClick(event: MouseEvent): void {
    const at = this.#rowAt(event.target)
    if (at < 0) return
    this.#move(this.#first() + at)
    if ((event.target as Element).closest('button')) this.#editAt(event.target)
  }

  #editAt(target: EventTarget | null): void {
    const city = this.#rows[this.#rowAt(target)]?.city
    if (city) this.#events.onEdit(city)
  }

  #rowAt(target: EventTarget | null): number {
    const element = target instanceof Element ? target.closest('tr') : null
    return this.#rows.findIndex((row) => row.element === element)
  }

  #onKey(event: KeyboardEvent): void {
    if (event.target !== this.#element || event.altKey || event.ctrlKey || event.metaKey) return
    const page = Math.max(1, this.#visible - 2)
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: this.#count - 1,
    }
    const target = moves[event.key]
    if (target !== undefined) this.#move(target)
    else if (event.key === 'Enter') this.#editAt(this.#rows[this.#active - this.#first()]?.element ?? null)
    else return
    event.preventDefault()
  }

  /** Makes that row the active one and brings it into sight. */
  #move(rank: number): void {
    this.#active = Math.max(0, Math.min(rank, this.#count - 1))
    const top = this.#active * this.#rowHeight
    const room = this.#element.clientHeight - this.#head.offsetHeight - this.#rowHeight
    const scroller = this.#element
    if (top < scroller.scrollTop) scroller.scrollTop = top
    else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room
    this.#update()
  }
}

function rowId(rank: number): string {
  return `city-row-${rank}`
}
