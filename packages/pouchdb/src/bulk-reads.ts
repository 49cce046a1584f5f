/** `bulkGet` and `revsDiff`, the reads of a replication, in one go. */
import { toCouchDocument } from 'pannier/internal'
import type { BulkGetResult } from 'pannier/types'
import type { JsonObject } from 'pannier'
import { contentForm, finishContents } from './attachments.ts'
import { failureOf } from './failures.ts'
import { replaceMethod } from './methods.ts'
import { missing } from './reads.ts'
import type { ContentOptions, Place, Pouch, PouchDocument } from './pouch.ts'

interface BulkGetOptions extends ContentOptions {
  readonly docs: readonly { readonly id: string; readonly rev?: string }[]
  readonly revs?: boolean
  readonly latest?: boolean
}

/** `isWrapped`: PouchDB's own methods read by those that a plug-in has replaced. */
export function replaceBulkReads(api: Pouch, opening: Promise<Place>, isWrapped: () => boolean): void {
  const bulkGetOfPouch = api.bulkGet
  replaceMethod(api, 'bulkGet', (options: BulkGetOptions) =>
    isWrapped() ? bulkGetOfPouch(options) : inPouchErrors(opening.then((place) => bulkGet(place, options))),
  )
  replaceMethod(api, 'revsDiff', (revisions: Revisions) =>
    inPouchErrors(opening.then((place) => revsDiff(place, revisions))),
  )
}

type Revisions = Readonly<Record<string, readonly string[]>>

async function inPouchErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw failureOf(error)
  }
}

async function revsDiff({ docs }: Place, revisions: Revisions): Promise<unknown> {
  const differences = Object.entries(await docs.revsDiff(revisions))
  return Object.fromEntries(differences.map(([id, { missing }]) => [id, { missing: [...missing] }]))
}

async function bulkGet(place: Place, options: BulkGetOptions): Promise<unknown> {
  const { docs } = place
  const references = options.docs.map(({ id, rev }) => (rev === undefined ? { id } : { id, rev }))
  const how = { revs: options.revs === true, latest: options.latest === true, ...contentForm(options) }
  const found = (await docs.bulkGet(references, how)) as BulkGetResult<JsonObject>[]
  const groups = new Map<string, unknown[]>()
  for (const [at, result] of found.entries()) {
    const { id, rev } = references[at] as { readonly id: string; readonly rev?: string }
    const group = groups.get(id) ?? []
    groups.set(id, group)
    group.push('ok' in result ? { ok: shown(result.ok, options) } : await missingResult(place, id, rev))
  }
  return { results: [...groups].map(([id, group]) => ({ id, docs: group })) }
}

function shown(found: PouchDocument, options: BulkGetOptions): PouchDocument {
  const document = toCouchDocument(found)
  if (options.attachments) finishContents(document, options)
  return document
}

async function missingResult(place: Place, id: string, rev: string | undefined): Promise<object> {
  return rev === undefined ? { error: await missing(place, id) } : { missing: rev }
}
