/** Parts that waiting changes and refused changes share. */
import type { RecordWrite } from '@pannier/client'
import type { ReactNode } from 'react'
import { linkTo } from '../../state/route.ts'
import { DEVICE } from '../../texts/device.ts'

const { waiting: texts } = DEVICE
const VALUE_MAX = 120

/** The action of a write, and a link to the record. */
export function WriteName({ write: { action, collection, id } }: { readonly write: RecordWrite }): ReactNode {
  return (
    <>
      {texts.what[action]} {collection},{' '}
      {action === 'delete' ? <code>{id}</code> : <a href={linkTo(['records', collection], { record: id })}>{id}</a>}
    </>
  )
}

export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === undefined || text === '' ? DEVICE.refused.empty : text.slice(0, VALUE_MAX)
}

export function messageOf(error: unknown): string | undefined {
  const message = (error as { readonly message?: unknown } | undefined)?.message
  return typeof message === 'string' ? message : undefined
}
