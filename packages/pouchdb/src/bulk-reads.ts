/** `bulkGet` and `revsDiff`, the reads of a replication, in one go. */
import { toCouchDocument } from 'pannier/internal'
import type { BulkGetResult } from 'pannier/types'
import type { JsonObject } from 'pannier'
import { contentForm, finishContents } from './attachments.ts'
import { failureOf, unlessRefused } from './failures.ts'
import { replaceMethod } from './methods.ts'
import { missing } from './reads.ts'
import type { ContentOptions, Place, Pouch, PouchDocument } from './pouch.ts'

interface BulkGetOptions extends ContentOptions {
  readonly docs: readonly Reference[]
  readonly revs?: boolean
  readonly latest?: boolean
}

interface Reference {
  readonly id: string
  readonly rev?: string
}

interface BulkGetAnswer {
  readonly results: readonly object[]
}

/** `isWrapped`: PouchDB's own methods read by those that a plug-in has replaced. */
export function replaceBulkReads(api: Pouch, opening: Promise<Place>, isWrapped: () => boolean): void {
  const ofPouch = { bulkGet: api.bulkGet, revsDiff: api.revsDiff }
  replaceMethod(api, 'bulkGet', async (options: BulkGetOptions): Promise<BulkGetAnswer> => {
    if (isWrapped()) return (await ofPouch.bulkGet(options)) as BulkGetAnswer
    const place = await opening
    const results = await answersTo(
      byId(options.docs),
      (groups) => bulkGet(place, groups, options),
      async (groups) => {
        const { results } = (await ofPouch.bulkGet({ ...options, docs: groups.flat() })) as BulkGetAnswer
        return results
      },
    )
    return { results }
  })
  replaceMethod(api, 'revsDiff', async (revisions: Revisions) => {
    const { docs } = await opening
    const differences = await answersTo(
      Object.entries(revisions),
      async (asked) => {
        const found = Object.entries(await docs.revsDiff(Object.fromEntries(asked)))
        return found.map(([id, { missing }]): [string, unknown] => [id, { missing: [...missing] }])
      },
      async (asked) => Object.entries((await ofPouch.revsDiff(Object.fromEntries(asked))) as object),
    )
    return Object.fromEntries(differences)
  })
}

type Revisions = Readonly<Record<string, readonly string[]>>

/** The library refuses a whole request for one id or revision. Then each id is asked for alone, and PouchDB answers for the refused ones. */
async function answersTo<Item, Answer>(
  items: readonly Item[],
  ask: (items: readonly Item[]) => Promise<readonly Answer[]>,
  askPouch: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  try {
    const answers = await unlessRefused(() => ask(items))
    if (answers !== undefined) return answers
  } catch (error) {
    throw failureOf(error)
  }
  if (items.length === 1) return await askPouch(items)
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await answersTo([item], ask, askPouch)))
  return answers
}

/** As in PouchDB, an id with revisions is asked for these alone, and one without them once. */
function byId(references: readonly Reference[]): Reference[][] {
  const groups = new Map<string, Reference[]>()
  for (const reference of references) {
    const group = groups.get(reference.id)
    if (group === undefined) groups.set(reference.id, [reference])
    else group.push(reference)
  }
  return [...groups.values()].map((group) => {
    const named = group.filter(({ rev }) => rev)
    return named.length > 0 ? named : [{ id: group[0]!.id }]
  })
}

async function bulkGet(
  place: Place,
  groups: readonly (readonly Reference[])[],
  options: BulkGetOptions,
): Promise<object[]> {
  const references = groups.flat()
  const how = { revs: options.revs === true, latest: options.latest === true, ...contentForm(options) }
  const found = (await place.docs.bulkGet(references, how)) as BulkGetResult<JsonObject>[]
  const known = new Set<string>()
  const results: object[] = []
  for (const [at, result] of found.entries()) {
    const { id, rev } = references[at]!
    if (!('ok' in result)) results.push({ id, docs: [await missingResult(place, id, rev)] })
    else {
      // Several revisions may have one latest leaf.
      const name = JSON.stringify([id, result.ok._rev])
      if (!known.has(name)) results.push({ id, docs: [{ ok: shown(result.ok, options) }] })
      known.add(name)
    }
  }
  return results
}

function shown(found: PouchDocument, options: BulkGetOptions): PouchDocument {
  const document = toCouchDocument(found)
  if (options.attachments) finishContents(document, options)
  return document
}

async function missingResult(place: Place, id: string, rev: string | undefined): Promise<object> {
  return rev === undefined ? { error: await missing(place, id) } : { missing: rev }
}
