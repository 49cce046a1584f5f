/** How the table shows a value, by the type of its field. */
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { Icon } from '../../parts/icon.tsx'
import { findCollection } from '../../state/collections.ts'
import { TEXTS } from '../../texts.ts'
import { titleOf } from '../field-types.ts'
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
  const value = row[field.name]
  if (isEmpty(value, field)) return <Empty />
  switch (field.type) {
    case 'bool':
      return <Truth value={value === true} />
    case 'number':
      return <span className="cell-number">{String(value)}</span>
    case 'date':
    case 'autodate':
      return <DateTime text={String(value)} />
    case 'select':
      return <Items items={textsOf(value)} />
    case 'relation':
      return <Related field={field} row={row} all={all} />
    case 'file':
      return <Files collection={collection} field={field} row={row} names={textsOf(value)} />
    case 'json':
      return <code className="cell-code">{JSON.stringify(value).slice(0, TEXT_MAX)}</code>
    case 'geoPoint':
      return <GeoPoint value={value as { readonly lon: number; readonly lat: number }} />
    case 'editor':
      return <span className="cell-text">{plainText(String(value))}</span>
    case 'url':
      return <Link text={String(value)} />
    default:
      return field.primaryKey === true ? (
        <code className="cell-id">{String(value)}</code>
      ) : (
        <span className="cell-text">{String(value).slice(0, TEXT_MAX)}</span>
      )
  }
}

function isEmpty(value: unknown, { type }: Field): boolean {
  if (type === 'bool' || type === 'number') return value === undefined
  if (Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || value === ''
}

function Empty(): ReactNode {
  return (
    <span className="cell-empty">
      <span aria-hidden="true">–</span>
      <span className="hidden-text">{TEXTS.records.empty}</span>
    </span>
  )
}

function Truth({ value }: { readonly value: boolean }): ReactNode {
  return <span className={`badge ${value ? 'badge-good' : ''}`}>{value ? TEXTS.records.yes : TEXTS.records.no}</span>
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** In the zone of the browser; the title has what is stored. */
function DateTime({ text }: { readonly text: string }): ReactNode {
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

function Related({ field, row, all }: Omit<CellProps, 'collection'>): ReactNode {
  const target = findCollection(all, field.collectionId ?? '')
  const expanded = (row['expand'] as Readonly<Record<string, Row | readonly Row[]>> | undefined)?.[field.name]
  const rows = expanded === undefined ? [] : Array.isArray(expanded) ? (expanded as readonly Row[]) : [expanded as Row]
  const titles = new Map(rows.map((related) => [related.id, titleOf(target, related)]))
  return (
    <span className="cell-items">
      {textsOf(row[field.name])
        .slice(0, ITEMS_MAX)
        .map((id) => (
          <span className="badge badge-relation" key={id} title={id}>
            <Icon name="relation" />
            {titles.get(id) ?? id}
          </span>
        ))}
    </span>
  )
}

interface FilesProps {
  readonly collection: Collection
  readonly field: Field
  readonly row: Row
  readonly names: readonly string[]
}

function Files({ collection, field, row, names }: FilesProps): ReactNode {
  return (
    <span className="cell-items">
      {names.slice(0, ITEMS_MAX).map((name) => (
        <FileThumb key={name} collection={collection} field={field} record={row.id} name={name} />
      ))}
      {names.length > ITEMS_MAX && <span className="cell-more">+{names.length - ITEMS_MAX}</span>}
    </span>
  )
}

function GeoPoint({
  value: { lon, lat },
}: {
  readonly value: { readonly lon: number; readonly lat: number }
}): ReactNode {
  return (
    <span className="cell-text">
      {lat.toFixed(4)}, {lon.toFixed(4)}
    </span>
  )
}

/** Only addresses of the web become links. */
function Link({ text }: { readonly text: string }): ReactNode {
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

/** One text or several, as a list. */
function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' && value !== '' ? [value] : []
}
