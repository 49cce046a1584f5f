/** Rows of an answer. */
import type { ReactNode } from 'react'
import { DataTable } from '../../parts/data-table.tsx'
import { TEXTS } from '../../texts.ts'

interface ResultTableProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export function ResultTable({ label, columns, rows }: ResultTableProps): ReactNode {
  return (
    <DataTable
      label={label}
      columns={columns.map((title, place) => ({
        name: `${place} ${title}`,
        title,
        cell: ({ values }: { readonly values: readonly unknown[] }) => <Value value={values[place]} />,
      }))}
      rows={rows.map((values, at) => ({ values, at }))}
      keyOf={({ at }) => String(at)}
    />
  )
}

function Value({ value }: { readonly value: unknown }): ReactNode {
  if (value === null || value === undefined) return <span className="muted">{TEXTS.records.empty}</span>
  return typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>
}
