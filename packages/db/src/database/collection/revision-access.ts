/** Reads and writes of revisions, loaded with the first one. A collection that does not exist has nothing. */
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import {
  collectMisses,
  RevisionReader,
  type ConflictedDocument,
  type MissingRevisions,
  type RevisionFields,
  type RevisionRead,
  type RevisionReadOptions,
} from '../../document/revision-reads.ts'
import type { CollectionAccess } from './collection-access.ts'
import type { Key } from '../../base/brand.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import {
  compactRevisions,
  forgetDeadUploads,
  purgeRevisions,
  resolveConflicts,
  type CompactStep,
  type PurgeResult,
} from '../../document/revision-writes.ts'

type LatestFields = RevisionFields & { readonly latest?: boolean }
type BulkFields = LatestFields & { readonly partial?: boolean }

const FIELDS: OptionNames<RevisionFields> = {
  revs: true,
  revsInfo: true,
  conflicts: true,
  attachments: true,
  deletedConflicts: true,
}
const GET_OPTIONS: OptionNames<RevisionReadOptions> = { ...FIELDS, rev: true, latest: true }
const REVISIONS_OPTIONS: OptionNames<LatestFields> = { ...FIELDS, latest: true }
const BULK_OPTIONS: OptionNames<BulkFields> = { ...REVISIONS_OPTIONS, partial: true }

export function getRevisions(
  access: CollectionAccess,
  id: string,
  revs: 'all' | readonly string[],
  options: LatestFields,
): Promise<RevisionRead[]> {
  checkOptions('getRevisions()', options, REVISIONS_OPTIONS)
  const none = revs === 'all' ? [] : revs.map((rev) => ({ missing: rev }))
  return read(access, (reader) => reader.revisions(id, revs, options), none)
}

export function bulkGet(
  access: CollectionAccess,
  wanted: readonly { readonly id: string; readonly rev: string | undefined }[],
  options: BulkFields,
): Promise<unknown[]> {
  checkOptions('bulkGet()', options, BULK_OPTIONS)
  const { partial = false, ...fields } = options
  const readAll = (reader: RevisionReader): (StoredDocument | undefined)[] =>
    collectMisses(wanted, ({ id, rev }) => reader.read(id, { ...fields, ...(rev !== undefined && { rev }) }))
  return read<unknown[]>(
    access,
    (reader) =>
      (partial ? reader.readSome(wanted, fields) : readAll(reader)).map((ok, at) => {
        const { id, rev } = wanted[at]!
        return ok === undefined ? { id, missing: rev } : { id, ok }
      }),
    wanted.map(({ id, rev }) => ({ id, missing: rev })),
  )
}

export function revsDiff(
  access: CollectionAccess,
  wanted: readonly (readonly [id: string, revs: readonly string[]])[],
): Promise<Record<string, MissingRevisions>> {
  const answer = (found: readonly (MissingRevisions | undefined)[]): Record<string, MissingRevisions> =>
    Object.fromEntries(wanted.flatMap(([id], at) => (found[at] === undefined ? [] : [[id, found[at]]])))
  return read(
    access,
    (reader) => answer(collectMisses(wanted, ([id, list]) => reader.missing(id, list))),
    answer(wanted.map(([, list]) => (list.length === 0 ? undefined : { missing: list }))),
  )
}

export function listConflicts(access: CollectionAccess): Promise<ConflictedDocument[]> {
  return read(access, (reader) => reader.conflicts(), [])
}

export function readOne(access: CollectionAccess, id: string, options: RevisionReadOptions): Promise<unknown> {
  checkOptions('get()', options, GET_OPTIONS)
  return read<unknown>(access, (reader) => reader.read(id, options), undefined)
}

export function readMany(
  access: CollectionAccess,
  ids: readonly string[],
  options: RevisionReadOptions,
): Promise<unknown[]> {
  checkOptions('get()', options, GET_OPTIONS)
  return read<unknown[]>(
    access,
    (reader) => collectMisses(ids, (id) => reader.read(id, options)),
    ids.map(() => undefined),
  )
}

async function read<R>(access: CollectionAccess, run: (reader: RevisionReader) => R, none: R): Promise<R> {
  const { catalog, name } = access.writing
  return await access.read((snapshot) => {
    const state = catalog.collection(snapshot, name)
    return state === undefined ? none : run(new RevisionReader(new DocumentReader(snapshot, state)))
  })
}

/** Writes to revision trees, loaded with the first one. Arguments are checked. */
export function resolve(
  access: CollectionAccess,
  id: string,
  choose: (leaves: StoredDocument[]) => unknown,
): Promise<WriteResult> {
  return access.write((transaction) => resolveConflicts(transaction, access.writing, id, choose))
}

export function purge(
  access: CollectionAccess,
  id: string,
  leaves: readonly string[] | undefined,
): Promise<PurgeResult> {
  return access.write((transaction) => purgeRevisions(transaction, access.writing, id, leaves))
}

/** In small steps: others write in between. Gives the number of revisions that have lost their content. */
export async function compact(access: CollectionAccess): Promise<number> {
  const { catalog, name } = access.writing
  let forgotten = 0
  let from: Key | undefined
  do {
    const step: CompactStep = await access.write((transaction) => {
      const state = catalog.collection(transaction, name)
      return state === undefined ? { next: undefined, forgotten: 0 } : compactRevisions(transaction, state, from)
    })
    forgotten += step.forgotten
    from = step.next
  } while (from !== undefined)
  const uploads = access.uploads()
  if (uploads !== undefined)
    await access.write((transaction) => forgetDeadUploads(transaction, access.writing, uploads))
  return forgotten
}
