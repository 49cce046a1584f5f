/**
 * Reads and writes revisions, and checks the arguments. Loaded on first use. A collection that does not exist has no
 * revisions.
 */
import { throwIfCancelled, type LongWork } from '../../base/long-work.ts'
import { together } from '../../base/miss.ts'
import { ArgumentError, badArgument, calling, checkOptions, type OptionNames } from '../../base/options.ts'
import { checkedIds, checkId } from '../../document/document-id.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import {
  RevisionReader,
  type ConflictedDocument,
  type MissingRevisions,
  type RevisionFields,
  type RevisionRead,
  type RevisionReadOptions,
} from '../../document/revision-reads.ts'
import { parseRevision } from '../../document/revision.ts'
import type { CollectionAccess } from './collection-access.ts'
import { uploadTarget } from './upload-target.ts'
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
/** A document, or one revision of it. */
type Reference = { readonly id: string; readonly rev?: string }

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
const COMPACT_OPTIONS: OptionNames<Pick<LongWork, 'signal'>> = { signal: true }

export function getRevisions(
  access: CollectionAccess,
  id: string,
  revs: 'all' | readonly string[],
  options: LatestFields,
): Promise<RevisionRead[]> {
  checkOptions('getRevisions()', options, REVISIONS_OPTIONS)
  const wanted = calling('getRevisions()', () => {
    checkId(id)
    return revs === 'all' ? revs : checkedRevisions(revs)
  })
  const none = wanted === 'all' ? [] : wanted.map((rev) => ({ missing: rev }))
  return read(access, (reader) => reader.revisions(id, wanted, options), none)
}

export function bulkGet(
  access: CollectionAccess,
  references: readonly Reference[],
  options: BulkFields,
): Promise<unknown[]> {
  checkOptions('bulkGet()', options, BULK_OPTIONS)
  if (!Array.isArray(references))
    throw badArgument('bulkGet()', 'references must be an array of { id, rev }', references)
  const wanted = calling('bulkGet()', () =>
    references.map(({ id, rev }: Reference) => {
      checkId(id)
      if (rev !== undefined) parseRevision(rev)
      return { id, rev }
    }),
  )
  const { partial = false, ...fields } = options
  const readAll = (reader: RevisionReader): (StoredDocument | undefined)[] =>
    together(wanted, ({ id, rev }) => reader.read(id, { ...fields, ...(rev !== undefined && { rev }) }))
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
  revs: Readonly<Record<string, readonly string[]>>,
): Promise<Record<string, MissingRevisions>> {
  const wanted = Object.entries(revs).map(([id, list]) =>
    calling('revsDiff()', () => {
      checkId(id)
      return [id, checkedRevisions(list)] as const
    }),
  )
  const answer = (found: readonly (MissingRevisions | undefined)[]): Record<string, MissingRevisions> =>
    Object.fromEntries(wanted.flatMap(([id], at) => (found[at] === undefined ? [] : [[id, found[at]]])))
  return read(
    access,
    (reader) => answer(together(wanted, ([id, list]) => reader.missing(id, list))),
    answer(wanted.map(([, list]) => (list.length === 0 ? undefined : { missing: list }))),
  )
}

export function listConflicts(access: CollectionAccess): Promise<ConflictedDocument[]> {
  return read(access, (reader) => reader.conflicts(), [])
}

/** `get` with options. */
export function readRevisions(
  access: CollectionAccess,
  ids: string | readonly string[],
  options: RevisionReadOptions,
): Promise<unknown> {
  checkOptions('get()', options, GET_OPTIONS)
  const { rev } = options
  if (rev !== undefined) calling('get()', () => parseRevision(rev))
  if (typeof ids === 'string') return read<unknown>(access, (reader) => reader.read(ids, options), undefined)
  if (rev !== undefined) throw badArgument('get()', 'rev must be given with one id only', rev)
  const list = checkedIds(ids, 'get()')
  return read<unknown[]>(
    access,
    (reader) => together(list, (id) => reader.read(id, options)),
    list.map(() => undefined),
  )
}

function checkedRevisions(revs: unknown): string[] {
  if (!Array.isArray(revs)) throw new ArgumentError('revs must be an array of revisions', revs)
  for (const rev of revs) parseRevision(rev)
  return [...(revs as string[])]
}

async function read<R>(access: CollectionAccess, run: (reader: RevisionReader) => R, none: R): Promise<R> {
  const { catalog, name } = access.writing
  return await access.read((snapshot) => {
    const state = catalog.collection(snapshot, name)
    return state === undefined ? none : run(new RevisionReader(new DocumentReader(snapshot, state)))
  })
}

export function resolve(access: CollectionAccess, id: string, choose: unknown): Promise<WriteResult> {
  calling('resolve()', () => checkId(id))
  if (typeof choose !== 'function') throw badArgument('resolve()', 'choose must be a function', choose)
  return access.write((transaction) =>
    resolveConflicts(transaction, access.writing, id, choose as (leaves: StoredDocument[]) => unknown),
  )
}

export function purge(
  access: CollectionAccess,
  id: string,
  revs: string | readonly string[] | undefined,
): Promise<PurgeResult> {
  const leaves = calling('purge()', () => {
    checkId(id)
    return revs === undefined ? undefined : checkedRevisions(typeof revs === 'string' ? [revs] : revs)
  })
  return access.write((transaction) => purgeRevisions(transaction, access.writing, id, leaves))
}

/** In small steps: others write in between. Gives the number of revisions that have lost their content. */
export async function compact(access: CollectionAccess, options: Pick<LongWork, 'signal'>): Promise<number> {
  checkOptions('compact()', options, COMPACT_OPTIONS)
  const { catalog, name } = access.writing
  let forgotten = 0
  let from: Key | undefined
  do {
    throwIfCancelled(options.signal, 'The compaction')
    const step: CompactStep = await access.write((transaction) => {
      const state = catalog.collection(transaction, name)
      return state === undefined
        ? { next: undefined, forgotten: 0 }
        : compactRevisions(transaction, state, { gte: from })
    })
    forgotten += step.forgotten
    from = step.next
  } while (from !== undefined)
  const uploads = uploadTarget(access)
  if (uploads !== undefined)
    await access.write((transaction) => forgetDeadUploads(transaction, access.writing, uploads))
  return forgotten
}
