/** A table of a few hundred rows. On a narrow screen each row becomes a card: the roles keep it a table for screen readers. */
import type { ReactNode } from 'react'

export interface DataColumn<T> {
  readonly name: string
  readonly title: string
  readonly cell: (row: T) => ReactNode
  readonly isNumber?: boolean
  /** A column of buttons: its title is for screen readers alone. */
  readonly isActions?: boolean
}

interface DataTableProps<T> {
  /** The name of the table. */
  readonly label: string
  readonly columns: readonly DataColumn<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}

export function DataTable<T>({ label, columns, rows, keyOf }: DataTableProps<T>): ReactNode {
  return (
    <div className="data-box" role="region" aria-label={label} tabIndex={0}>
      <table className="data" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, title, ...column }) => (
              <th key={name} role="columnheader" scope="col" className={classOf(column)}>
                {column.isActions === true ? <span className="hidden-text">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ name, title, cell, ...column }) => (
                <td key={name} role="cell" data-title={title} className={classOf(column)}>
                  <div className="data-cell">{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function classOf({ isNumber, isActions }: Pick<DataColumn<never>, 'isNumber' | 'isActions'>): string {
  return isNumber === true ? 'data-number' : isActions === true ? 'data-actions' : ''
}
