/** The columns of the table: which there are, how wide they are, and what this browser keeps of that. */
import { useEffect, useMemo, useState } from 'react'
import {
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import type { Column, ColumnDef, ReactTable, TableState } from '@tanstack/react-table'
import type { Collection } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { keep, readKept } from '../../state/kept.ts'
import { pixelsOf } from '../../state/theme.ts'
import { shownFields, titleField } from '../field-types.ts'
import { kindOf } from '../kinds.ts'

const features: {
  columnPinningFeature: typeof columnPinningFeature
  columnResizingFeature: typeof columnResizingFeature
  columnSizingFeature: typeof columnSizingFeature
  columnVisibilityFeature: typeof columnVisibilityFeature
} = tableFeatures({
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
})

type Features = typeof features
export type RecordTable = ReactTable<Features, Row>
export type RecordColumn = Column<Features, Row>

/** The column of the boxes that select. */
export const SELECT = '@select'
export const WIDTH_MIN = 64
export const WIDTH_MAX = 900

/** In rem, as those of kinds. */
const WIDTH_OF_TITLE = 17.5
const WIDTH_OF_SELECT = 2.75

type Kept = Pick<TableState<Features>, 'columnSizing' | 'columnVisibility' | 'columnPinning'>

export function useRecordTable(collection: Collection): RecordTable {
  const name = `columns.${collection.id}`
  const columns = useMemo(() => columnsOf(collection), [collection])
  const [initialState] = useState(() => ({ ...defaultsOf(collection), ...readKept<Partial<Kept>>(name) }))
  const table = useTable({
    features,
    columns,
    data: NO_ROWS,
    initialState,
    columnResizeMode: 'onChange',
    getRowId: ({ id }) => id,
  })
  const { columnSizing, columnVisibility, columnPinning } = table.state
  useEffect(() => {
    const state: Kept = { columnSizing, columnVisibility, columnPinning }
    keep(name, state)
  }, [name, columnSizing, columnVisibility, columnPinning])
  return table
}

/** The table knows the columns alone: rows are loaded where they are shown. */
const NO_ROWS: Row[] = []

function columnsOf(collection: Collection): ColumnDef<Features, Row>[] {
  const helper = createColumnHelper<Features, Row>()
  const select = helper.display({
    id: SELECT,
    size: pixelsOf(WIDTH_OF_SELECT),
    enableHiding: false,
    enableResizing: false,
    enablePinning: false,
  })
  const title = titleField(collection)
  const fields = shownFields(collection)
  const ordered = title === undefined ? fields : [title, ...fields.filter((field) => field !== title)]
  const ofFields = ordered.map((field) =>
    helper.display({
      id: field.id,
      header: field.name,
      size: pixelsOf(field === title ? WIDTH_OF_TITLE : kindOf(field).width),
      minSize: WIDTH_MIN,
      maxSize: WIDTH_MAX,
    }),
  )
  return [select, ...ofFields]
}

function defaultsOf({ fields, type }: Collection): Kept {
  const hidden = fields.filter(({ name }) => type === 'auth' && name === 'emailVisibility')
  return {
    columnSizing: {},
    columnVisibility: Object.fromEntries(hidden.map(({ id }) => [id, false])),
    columnPinning: { start: [SELECT], end: [] },
  }
}
