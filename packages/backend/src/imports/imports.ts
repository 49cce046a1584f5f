/**
 * Takes over rows of PocketBase's tables as they are: ids, times, hashes of passwords, keys of tokens, names of files. No rule and no
 * hook is asked. A value that its field would refuse stays, as it does in PocketBase, and is counted.
 */
import type { Database } from 'pannier'
import { type DocumentGuard, guarded, isObject, isSame, pauseIn } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Passwords } from '../accounts/passwords.ts'
import { textOfErrors } from '../definitions/import.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import { isRenewed } from '../fields/field-definition.ts'
import { fieldError } from '../fields/field-errors.ts'
import { castValue, emptyValue, ownValue, typeOfField } from '../fields/field-types.ts'
import { idError } from '../fields/types/text.ts'
import { NewFile, type Upload } from '../fields/new-file.ts'
import { attachmentIn, fileNames } from '../files/record-content.ts'
import type { RecordFiles } from '../files/record-files.ts'
import { randomText, type Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { asRefusal } from '../gateway/guard-chain.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, ServiceError } from '../gateway/service-error.ts'
import { canBeId, valueErrors } from '../records/write/draft.ts'
import { OTHER_ACCOUNT, type Judge } from '../records/write/judge.ts'
import { OutdatedWrite } from '../records/write/write-views.ts'
import type { CollectionSource } from '../records/write/operations.ts'
import { recordsIn } from '../records/write/operations.ts'
import { whileOutdated } from '../records/write/record-writer.ts'
import { Passage, type WriteGate } from '../records/write/passage.ts'
import { failed, writeError } from '../records/write/write-errors.ts'

interface ImportsParts {
  readonly database: Database
  readonly environment: Environment
  readonly definitions: Definitions
  readonly passwords: Passwords
  readonly files: RecordFiles
  readonly judge: Judge
  readonly gate: WriteGate
}

/** A row of a table of PocketBase: texts, numbers and null by column. */
export type ImportedRow = JsonObject

/** Why a definition can't be imported. */
export interface ImportProblem {
  /** The collection that is not taken. */
  readonly name: string
  /** The errors of each part, as JSON. */
  readonly message: string
}

/** The result of an import of rows. */
export interface ImportedRows {
  /** How many records are new. */
  readonly created: number
  /** How many were there, and are as the rows now. */
  readonly changed: number
  /** Records that were there already, with all that they have, or with a later change. */
  readonly same: number
  /** Records that were not taken. */
  readonly refused: readonly { readonly id: string; readonly message: string }[]
  /** Records that were taken, with fields that would refuse their values. */
  readonly unfit: readonly { readonly id: string; readonly fields: readonly string[] }[]
}

/** A row as it would be stored. */
interface ImportedRecord {
  readonly definition: Definition
  readonly id: string
  readonly values: JsonObject
  readonly unfit: readonly string[]
  readonly files: readonly NewFile[]
  /** Files whose content is not in the database. */
  readonly elsewhere: ReadonlySet<string>
}

interface WrittenRow {
  readonly came: 'created' | 'changed' | 'same'
  /** Call it after the commit. */
  written(): void
}

/** Takes over the records of another server. Get it from a backend. */
export class Imports {
  readonly #parts: ImportsParts

  constructor(parts: ImportsParts) {
    this.#parts = parts
  }

  /** The definitions that can't be imported. @throws ServiceError FORBIDDEN, INVALID with data */
  async check(principal: Principal, list: unknown): Promise<readonly ImportProblem[]> {
    const wrong = await this.#parts.definitions.checkImport(principal, list)
    return wrong.map(({ definition, errors }) => ({ name: definition.name, message: textOfErrors(errors) }))
  }

  /** The files that rows name, and whose content is not here, by the id of the record. @throws ServiceError FORBIDDEN, NOT_FOUND */
  async lacking(
    principal: Principal,
    collection: string,
    rows: readonly ImportedRow[],
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    const definition = this.#definitionOf(principal, collection)
    const lacking = new Map<string, readonly string[]>()
    for (const row of rows) {
      const id = idOf(row)
      const names = fileNames(definition, valuesOf(definition, row))
      const stored =
        names.length > 0 && isAdmitted(id) ? await this.#parts.definitions.records(definition).get(id) : undefined
      const absent: string[] = []
      for (const name of names) if (!(await this.#isHere(definition, stored, name))) absent.push(name)
      if (absent.length > 0) lacking.set(id, absent)
    }
    return Object.fromEntries(lacking)
  }

  /** Examines rows: checks the values as `write` would, without writing. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID */
  async examine(principal: Principal, collection: string, rows: readonly ImportedRow[]): Promise<ImportedRows> {
    const definition = this.#definitionOf(principal, collection)
    const records = await this.#recordsOf(definition, rows)
    const refused = records.flatMap(({ id }) => (isAdmitted(id) ? [] : [{ id, message: messageOf(noId(id)) }]))
    return { created: rows.length - refused.length, changed: 0, same: 0, refused, unfit: unfitOf(records, refused) }
  }

  /**
   * Writes rows in their order: each makes a record, or changes the one with its id, unless that was changed here later. Files may come with a single row. Those that do
   * not come, and are not here, stay away.
   *
   * @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID, UNAVAILABLE
   */
  async write(
    principal: Principal,
    collection: string,
    rows: readonly ImportedRow[],
    uploads: readonly Upload[] = [],
  ): Promise<ImportedRows> {
    if (uploads.length > 0 && rows.length !== 1) throw invalid(`Files come with one row, got ${rows.length}.`)
    return whileOutdated(this.#parts.environment, async () => {
      const definition = this.#definitionOf(principal, collection)
      const named = new Set(rows.flatMap((row) => fileNames(definition, valuesOf(definition, row))))
      const files = await Promise.all(uploads.filter(({ name }) => named.has(name)).map((one) => NewFile.named(one)))
      const stored = files.length === 0 ? undefined : await this.#store(definition, idOf(rows[0]!), files)
      try {
        const records = await this.#recordsOf(definition, rows, files, stored?.names)
        return await this.#writeAll(principal, records)
      } finally {
        stored?.release()
      }
    })
  }

  #definitionOf({ isAdmin }: Principal, collection: string): Definition {
    if (!isAdmin) throw forbidden('')
    const definition = this.#parts.definitions.get(collection)
    if (definition.type === 'view') throw invalid('A view has no records of its own.')
    return definition
  }

  async #isHere(definition: Definition, stored: JsonObject | undefined, name: string): Promise<boolean> {
    if (stored === undefined || !fileNames(definition, stored).includes(name)) return false
    return (
      attachmentIn(stored, name) !== undefined || (await this.#parts.files.open(definition, stored, name)) !== undefined
    )
  }

  /** Stores files. Their names and their record stand in keys, so they must not look like other parts of a key. */
  #store(definition: Definition, id: string, files: readonly NewFile[]): ReturnType<RecordFiles['store']> {
    for (const part of [id, ...files.map(({ name }) => name)])
      if (part.startsWith('_') || part === '.' || part === '..' || /[/\\]/.test(part))
        throw invalid(`A file can't be stored under ${JSON.stringify(part)}.`)
    return this.#parts.files.store(definition, id, files)
  }

  async #recordsOf(
    definition: Definition,
    rows: readonly ImportedRow[],
    files: readonly NewFile[] = [],
    elsewhere: ReadonlySet<string> = new Set(),
  ): Promise<readonly ImportedRecord[]> {
    const records: ImportedRecord[] = []
    const released = pauseIn(this.#parts.environment)
    for (const row of rows) {
      records.push(this.#recordOf(definition, row, files, elsewhere))
      await released()
    }
    return records
  }

  #recordOf(
    definition: Definition,
    row: ImportedRow,
    files: readonly NewFile[],
    elsewhere: ReadonlySet<string>,
  ): ImportedRecord {
    const id = idOf(row)
    const values = valuesOf(definition, row)
    if (definition.name === SUPERUSERS) values['verified'] = true
    const names = fileNames(definition, values)
    const errors = valueErrors(definition, undefined, { ...values, id }, names)
    const unfit = new Set(Object.keys(errors))
    for (const field of definition.fields) {
      const { name } = field
      if (!typeOfField(field).isHashed || values[name] === '') continue
      if (this.#parts.passwords.isReadable(String(values[name]))) continue
      values[name] = this.#parts.passwords.unknownHash()
      unfit.add(name)
    }
    return { definition, id, values, unfit: [...unfit], files, elsewhere }
  }

  async #writeAll(principal: Principal, records: readonly ImportedRecord[]): Promise<ImportedRows> {
    const { database } = this.#parts
    const counts = { created: 0, changed: 0, same: 0 }
    const refused: { id: string; message: string }[] = []
    const count = ({ came, written }: WrittenRow): void => {
      counts[came]++
      written()
    }
    try {
      const rows = await database.transaction(async (transaction) => {
        const all: WrittenRow[] = []
        for (const record of records) all.push(await this.#write(transaction, principal, record))
        return all
      })
      for (const row of rows) count(row)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      // One refuses them all: each for itself then.
      for (const record of records)
        await this.#write(database, principal, record).then(count, (reason: unknown) => {
          if (!(reason instanceof ServiceError)) throw reason
          refused.push({ id: record.id, message: messageOf(reason) })
        })
    }
    return { ...counts, refused, unfit: unfitOf(records, refused) }
  }

  /** @throws ServiceError; OutdatedWrite */
  async #write(place: CollectionSource, principal: Principal, record: ImportedRecord): Promise<WrittenRow> {
    const { definition, id, files } = record
    if (!isAdmitted(id)) throw noId(id)
    const records = recordsIn(place, definition)
    const old = await records.get(id)
    const wanted = documentOf(record, old, this.#parts.environment)
    const same: WrittenRow = { came: 'same', written: () => {} }
    if (old !== undefined && isNewer(definition, old, wanted)) return same
    if (old !== undefined && files.length === 0 && isSameRecord(definition, old, wanted)) return same
    const passage = new Passage(this.#parts, principal, definition)
    const replaced = old === undefined ? wanted : { ...wanted, _rev: old._rev }
    try {
      const document = await passage.passWhole(place, replaced)
      const guard: DocumentGuard = ({ reader }) => {
        if (!this.#parts.definitions.isCurrent(definition, reader)) throw new OutdatedWrite()
        const isTaken =
          old === undefined && definition.type === 'auth' && this.#parts.judge.isAccount(definition, id, reader)
        const taken = isTaken ? failed('create', { id: OTHER_ACCOUNT }) : undefined
        const refusal = taken ?? passage.refusalOf({ old, document, reader })
        return refusal && asRefusal(refusal)
      }
      const admitted = await passage.admit(document)
      if (old === undefined) await guarded(records, guard).insert(admitted)
      else await guarded(records, guard).put({ ...admitted, _rev: old._rev })
    } catch (error) {
      throw writeError(error, [definition], old === undefined ? 'create' : 'update')
    } finally {
      passage.leave()
    }
    return { came: old === undefined ? 'created' : 'changed', written: () => passage.written() }
  }
}

function unfitOf(records: readonly ImportedRecord[], refused: ImportedRows['refused']): ImportedRows['unfit'] {
  const gone = new Set(refused.map(({ id }) => id))
  return records.flatMap(({ id, unfit: fields }) => (fields.length > 0 && !gone.has(id) ? [{ id, fields }] : []))
}

/** A field may want other ids. None takes a slash or a dot, as ids are parts of paths. */
function isAdmitted(id: string): boolean {
  return canBeId(id) && idError(id) === undefined
}

function noId(id: string): ServiceError {
  return failed('create', { id: fieldError('validation_invalid_format', `${JSON.stringify(id)} can't be an id.`) })
}

function idOf(row: ImportedRow): string {
  const { id } = row
  return typeof id === 'string' ? id : ''
}

/** Without `id`. A missing column is empty. */
function valuesOf({ fields }: Definition, row: ImportedRow): JsonObject {
  const entries = fields.flatMap((field): [string, unknown][] =>
    field.name === 'id' ? [] : [[field.name, valueOf(field, row[field.name])]],
  )
  return Object.fromEntries(entries)
}

/** The value of a cell. SQLite has numbers that JSON has not. */
function valueOf(field: Definition['fields'][number], cell: unknown): unknown {
  if (cell === undefined || cell === null) return emptyValue(field)
  const value = castValue(field, cell)
  return typeof value === 'number' && !Number.isFinite(value) ? emptyValue(field) : value
}

function documentOf(
  { definition, id, values, files, elsewhere }: ImportedRecord,
  old: JsonObject | undefined,
  chance: Chance,
): JsonObject {
  const document: JsonObject = { ...values, _id: id }
  if (definition.type === 'auth') keepLogin(document, old, chance)
  const kept = isObject(old?.['_attachments']) ? old['_attachments'] : {}
  const names = new Set(fileNames(definition, document))
  const attachments = Object.fromEntries(Object.entries(kept).filter(([name]) => names.has(name)))
  for (const file of files)
    if (!elsewhere.has(file.name)) attachments[file.name] = { data: file.stream(), contentType: file.type }
  return Object.keys(attachments).length === 0 ? document : { ...document, _attachments: attachments }
}

/** PocketBase renews the key with the password: with the same key, a hash that a login has made here is one of the same password. */
function keepLogin(document: JsonObject, old: JsonObject | undefined, chance: Chance): void {
  if (document['tokenKey'] === '') document['tokenKey'] = old?.['tokenKey'] ?? randomText(chance, 50)
  const isOurs = typeof old?.['password'] === 'string' && !old['password'].startsWith('$2')
  if (isOurs && old['tokenKey'] === document['tokenKey']) document['password'] = old['password']
}

function isSameRecord({ fields }: Definition, old: JsonObject, document: JsonObject): boolean {
  return fields.every(({ name }) => name === 'id' || isSame(ownValue(old, name), ownValue(document, name)))
}

/** Whether somebody has changed the record here since the other server did. */
function isNewer({ fields }: Definition, old: JsonObject, document: JsonObject): boolean {
  return fields.some((field) => isRenewed(field) && (old[field.name] as string) > (document[field.name] as string))
}

function messageOf({ message, data = {} }: ServiceError): string {
  const wrong = Object.entries(data).map(([name, { message: text }]) => `${name}: ${text as string}`)
  return [message, ...wrong].join(' ')
}
