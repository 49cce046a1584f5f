/** How the table shows a value, by the type of its field. */
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { Icon } from '../../parts/icon.tsx'
import { findCollection } from '../../state/collections.ts'
import { TEXTS } from '../../texts.ts'
import { titleOf } from '../field-types.ts'
import { kindOf, textsOf, type CellName } from '../kinds.ts'
import { FileThumb } from './file-thumb.tsx'

const TEXT_MAX = 200
const ITEMS_MAX = 4

interface CellProps {
  readonly collection: Collection
  readonly field: Field
  readonly row: Row
  /** All definitions, for the titles of related records. */
  readonly all: readonly Collection[]
}

export function Cell({ collection, field, row, all }: CellProps): ReactNode {
  const { cell, isEmpty } = kindOf(field)
  if (isEmpty(row[field.name])) return <Empty />
  const Shown = CELLS[cell]
  return <Shown collection={collection} field={field} row={row} all={all} value={row[field.name]} />
}

interface ShownProps extends CellProps {
  /** The value of the row. It is not empty. */
  readonly value: unknown
}

const CELLS: Readonly<Record<CellName, (props: ShownProps) => ReactNode>> = {
  plain: Plain,
  html: ({ value }) => <span className="cell-text">{plainText(String(value))}</span>,
  number: ({ value }) => <span className="cell-number">{String(value)}</span>,
  truth: Truth,
  link: Link,
  time: DateTime,
  items: ({ value }) => <Items items={textsOf(value).map(String)} />,
  files: Files,
  records: Related,
  code: ({ value }) => <code className="cell-code">{JSON.stringify(value).slice(0, TEXT_MAX)}</code>,
  point: GeoPoint,
}

function Empty(): ReactNode {
  return (
    <span className="cell-empty">
      <span aria-hidden="true">–</span>
      <span className="hidden-text">{TEXTS.records.empty}</span>
    </span>
  )
}

function Plain({ field, value }: ShownProps): ReactNode {
  if (field.primaryKey === true) return <code className="cell-id">{String(value)}</code>
  return <span className="cell-text">{String(value).slice(0, TEXT_MAX)}</span>
}

function Truth({ value }: ShownProps): ReactNode {
  const isTrue = value === true
  return <span className={`badge ${isTrue ? 'badge-good' : ''}`}>{isTrue ? TEXTS.records.yes : TEXTS.records.no}</span>
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** In the zone of the browser; the title has what is stored. */
function DateTime({ value }: ShownProps): ReactNode {
  const text = String(value)
  const date = new Date(text.replace(' ', 'T'))
  const isDate = !Number.isNaN(date.getTime())
  return (
    <time dateTime={isDate ? date.toISOString() : undefined} title={text}>
      {isDate ? DATE.format(date) : text}
    </time>
  )
}

function Items({ items }: { readonly items: readonly string[] }): ReactNode {
  return (
    <span className="cell-items">
      {items.slice(0, ITEMS_MAX).map((item) => (
        <span className="badge" key={item}>
          {item}
        </span>
      ))}
      {items.length > ITEMS_MAX && <span className="cell-more">+{items.length - ITEMS_MAX}</span>}
    </span>
  )
}

function Related({ field, row, all, value }: ShownProps): ReactNode {
  const target = findCollection(all, field.collectionId ?? '')
  const expanded = (row['expand'] as Readonly<Record<string, Row | readonly Row[]>> | undefined)?.[field.name]
  const rows = expanded === undefined ? [] : Array.isArray(expanded) ? (expanded as readonly Row[]) : [expanded as Row]
  const titles = new Map(rows.map((related) => [related.id, titleOf(target, related)]))
  return (
    <span className="cell-items">
      {textsOf(value)
        .slice(0, ITEMS_MAX)
        .map(String)
        .map((id) => (
          <span className="badge badge-relation" key={id} title={id}>
            <Icon name="relation" />
            {titles.get(id) ?? id}
          </span>
        ))}
    </span>
  )
}

function Files({ collection, field, row, value }: ShownProps): ReactNode {
  const names = textsOf(value).map(String)
  return (
    <span className="cell-items">
      {names.slice(0, ITEMS_MAX).map((name) => (
        <FileThumb key={name} collection={collection} field={field} record={row.id} name={name} />
      ))}
      {names.length > ITEMS_MAX && <span className="cell-more">+{names.length - ITEMS_MAX}</span>}
    </span>
  )
}

function GeoPoint({ value }: ShownProps): ReactNode {
  const { lon, lat } = value as { readonly lon: number; readonly lat: number }
  return (
    <span className="cell-text">
      {lat.toFixed(4)}, {lon.toFixed(4)}
    </span>
  )
}

/** Only addresses of the web become links. */
function Link({ value }: ShownProps): ReactNode {
  const text = String(value)
  if (!/^https?:\/\//i.test(text)) return <span className="cell-text">{text}</span>
  return (
    <a className="cell-text" href={text} target="_blank" rel="noopener noreferrer" tabIndex={-1}>
      {text}
    </a>
  )
}

function plainText(html: string): string {
  return new DOMParser().parseFromString(html.slice(0, 2000), 'text/html').body.textContent.slice(0, TEXT_MAX)
}
