/** Places collections for a diagram: those that others relate to stand left of these, and relations run from right to left. */
import type { Collection, Field } from '../../api/collections.ts'
import { kindOf } from '../kinds.ts'

const WIDTH = 210
const HEAD = 36
const ROW = 24
const GAP_X = 110
const GAP_Y = 28
const MARGIN = 20
const FIELDS_MAX = 9
/** Collections without relations in one row. */
const ALONE_IN_ROW = 4

interface PlacedField {
  readonly field: Field
  /** The middle of its row, from the top of the box. */
  readonly y: number
}

export interface Box {
  readonly collection: Collection
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly fields: readonly PlacedField[]
  /** The number of further fields, which are not shown. */
  readonly more: number
}

export interface Edge {
  readonly from: Collection
  readonly to: Collection
  readonly field: Field
  /** A path in SVG. */
  readonly path: string
}

export interface Layout {
  readonly boxes: readonly Box[]
  readonly edges: readonly Edge[]
  readonly width: number
  readonly height: number
}

export function isRelation(field: Field): boolean {
  return kindOf(field).holds === 'records'
}

export function layoutOf(list: readonly Collection[]): Layout {
  const byId = new Map(list.map((collection) => [collection.id, collection]))
  const targetsOf = ({ fields }: Collection): readonly Collection[] =>
    fields.flatMap((field) => (isRelation(field) ? (byId.get(field.collectionId ?? '') ?? []) : []))
  const related = new Set(list.flatMap((one) => targetsOf(one).flatMap((target) => [one, target])))
  const columns = columnsOf([...related], targetsOf)
  const boxes = new Map<Collection, Box>()
  for (const [at, column] of columns.entries()) {
    const middle = (one: Collection): number => {
      const placed = targetsOf(one).flatMap((target) => boxes.get(target) ?? [])
      return placed.length === 0 ? 0 : placed.reduce((sum, { y }) => sum + y, 0) / placed.length
    }
    let y = MARGIN
    for (const one of column.toSorted((a, b) => middle(a) - middle(b) || (a.name < b.name ? -1 : 1))) {
      const box = boxOf(one, MARGIN + at * (WIDTH + GAP_X), y)
      boxes.set(one, box)
      y += box.height + GAP_Y
    }
  }
  const bottom = Math.max(0, ...[...boxes.values()].map(({ y, height }) => y + height))
  placeAlone(
    list.filter((one) => !related.has(one)),
    bottom + MARGIN,
    boxes,
  )
  const all = [...boxes.values()]
  return {
    boxes: all,
    edges: list.flatMap((one) => edgesOf(boxes.get(one)!, byId, boxes)),
    width: Math.max(0, ...all.map(({ x, width }) => x + width)) + MARGIN,
    height: Math.max(0, ...all.map(({ y, height }) => y + height)) + MARGIN,
  }
}

/** A collection stands behind all that it relates to; what closes a circle does not count. */
function columnsOf(
  list: readonly Collection[],
  targetsOf: (one: Collection) => readonly Collection[],
): readonly (readonly Collection[])[] {
  const ranks = new Map<Collection, number>()
  const rankOf = (one: Collection, above: ReadonlySet<Collection>): number => {
    const known = ranks.get(one)
    if (known !== undefined) return known
    const below = targetsOf(one).filter((target) => target !== one && !above.has(target))
    const rank =
      below.length === 0 ? 0 : 1 + Math.max(...below.map((target) => rankOf(target, new Set([...above, one]))))
    ranks.set(one, rank)
    return rank
  }
  for (const one of list) rankOf(one, new Set([one]))
  const last = Math.max(-1, ...ranks.values())
  return Array.from({ length: last + 1 }, (_, rank) => list.filter((one) => ranks.get(one) === rank))
}

function boxOf(collection: Collection, x: number, y: number): Box {
  const own = collection.fields.filter((field) => !field.system && !kindOf(field).isAutomatic)
  // Relations are what it is about.
  const ordered = [...own.filter(isRelation), ...own.filter((field) => !isRelation(field))]
  const fields = ordered.slice(0, FIELDS_MAX).map((field, at) => ({ field, y: HEAD + at * ROW + ROW / 2 }))
  const more = own.length - fields.length
  const rows = fields.length + (more > 0 ? 1 : 0)
  return { collection, x, y, width: WIDTH, height: HEAD + rows * ROW + (rows > 0 ? 8 : 0), fields, more }
}

function placeAlone(list: readonly Collection[], top: number, boxes: Map<Collection, Box>): void {
  let [y, rowHeight] = [top, 0]
  for (const [at, one] of list.entries()) {
    const column = at % ALONE_IN_ROW
    if (column === 0 && at > 0) {
      y += rowHeight + GAP_Y
      rowHeight = 0
    }
    const box = boxOf(one, MARGIN + column * (WIDTH + GAP_Y), y)
    rowHeight = Math.max(rowHeight, box.height)
    boxes.set(one, box)
  }
}

function edgesOf(
  box: Box,
  byId: ReadonlyMap<string, Collection>,
  boxes: ReadonlyMap<Collection, Box>,
): readonly Edge[] {
  return box.fields.flatMap(({ field, y }) => {
    const target = isRelation(field) ? byId.get(field.collectionId ?? '') : undefined
    const to = target && boxes.get(target)
    if (to === undefined) return []
    return [{ from: box.collection, to: to.collection, field, path: pathOf(box, box.y + y, to) }]
  })
}

/** From the side of the row to the head of the other box. */
function pathOf(from: Box, y: number, to: Box): string {
  const end = to.y + HEAD / 2
  const isLeft = to.x < from.x
  const start = isLeft ? from.x : from.x + from.width
  // A box in the same column, or further right, is reached from its right.
  const stop = to.x + to.width + 2
  const bend = isLeft ? start - GAP_X / 2 : start + GAP_X / 2
  return `M${start} ${y}C${bend} ${y} ${isLeft ? stop + GAP_X / 2 : Math.max(start, stop) + GAP_X / 2} ${end} ${stop} ${end}`
}
