/** A record as a client sees it: its fields by name, without hidden ones. */
import type { Definition } from '../../definitions/definition.ts'
import { ACCOUNT_SECRETS } from '../../definitions/system-fields.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { ownValue, presentValue } from '../../fields/field-types.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { JsonText, safeJson, WHOLE_CHARS } from '../../gateway/json-text.ts'
import type { RecordJson, RecordPage, ShowOptions } from '../record-types.ts'

/** A record on its way to a client. Each expanded path adds to it. */
export interface ShownRecord {
  readonly definition: Definition
  readonly document: JsonObject
  /** Shown although `emailVisibility` is off. */
  readonly hasEmail: boolean
  /** Fields whose view rules do not admit the actor. */
  readonly without: ReadonlySet<string>
  /** By the keys of a request's `expand`; undefined: nothing was asked for that leads somewhere. */
  expand: Map<string, ShownRecord | readonly ShownRecord[]> | undefined
  /** The JSON with the changes of hooks. */
  enrich?: (json: RecordJson) => RecordJson
}

/** A key of a record, and the field that it shows. */
type Entry = readonly [key: string, field: FieldDefinition | undefined]

/** By definition: for superusers, and for others. */
const entries = new WeakMap<Definition, Map<boolean, readonly Entry[]>>()

/** The keys are sorted, as PocketBase sorts them. */
function entriesOf(definition: Definition, isAdmin: boolean): readonly Entry[] {
  const known = entries.get(definition) ?? new Map<boolean, readonly Entry[]>()
  entries.set(definition, known)
  const found = known.get(isAdmin)
  if (found !== undefined) return found
  const shown = definition.fields.filter(
    ({ name, hidden }) => (isAdmin || !hidden) && !(definition.type === 'auth' && ACCOUNT_SECRETS.has(name)),
  )
  const made: Entry[] = [
    ...shown.map((field) => [field.name, field] as const),
    ...['collectionId', 'collectionName', 'expand'].map((key) => [key, undefined] as const),
  ]
  known.set(
    isAdmin,
    made.sort(([one], [other]) => (one < other ? -1 : 1)),
  )
  return made
}

export function recordJson(record: ShownRecord, isAdmin: boolean): RecordJson {
  const { definition, document, expand } = record
  const json: Record<string, unknown> = {}
  for (const [key, field] of entriesOf(definition, isAdmin)) {
    if (field === undefined) {
      if (key !== 'expand') json[key] = key === 'collectionId' ? definition.id : definition.name
      else if (expand !== undefined) json[key] = expandJson(expand, isAdmin)
    } else if (key === 'id') json[key] = document['_id']
    else if (record.without.has(key)) continue
    else if (key !== 'email' || definition.type !== 'auth' || record.hasEmail || document['emailVisibility'] === true)
      json[key] = presentValue(field, ownValue(document, key))
  }
  return record.enrich?.(json) ?? json
}

/**
 * The parts on which the JSON of these documents depends. Whatever `recordJson` reads beside the document stands here. Undefined:
 * expanded records depend on more.
 */
export function dependsOn(
  records: readonly ShownRecord[],
  isAdmin: boolean,
  { fields = '' }: ShowOptions,
): string | undefined {
  if (records.some(({ expand }) => expand !== undefined)) return undefined
  return JSON.stringify([isAdmin, fields, records.map(({ hasEmail, without }) => [hasEmail, [...without]])])
}

/** Bytes of the JSON of records, about. */
export function bytesOf(records: readonly ShownRecord[]): number {
  let bytes = 0
  for (const { document, expand } of records) {
    bytes += JSON.stringify(document).length
    for (const related of expand?.values() ?? []) bytes += bytesOf([related].flat())
  }
  return bytes
}

/** Memory of texts that are kept, about. */
const TEXTS_BYTES_MAX: number = 16 * 1024 * 1024
/** In memory, of one text beside its characters. */
const TEXT_BYTES = 200
const WIDE = /[^\0-\xff]/

interface KeptText {
  readonly definition: Definition
  readonly rev: string
  readonly text: string
  readonly bytes: number
}

/**
 * The texts of records as JSON. Each is kept until another revision of the record is shown, or the memory is full: the oldest text goes
 * first. (The order of use would change the map with each text.) A definition that changes is another object, so its texts count no more.
 */
export class RecordTexts {
  readonly #kept = new Map<string, KeptText>()
  readonly #bytesMax: number
  /** The bytes of memory that they take, about. */
  bytes = 0

  constructor(bytesMax: number = TEXTS_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /**
   * The text of a page of records that no hook enriches. Undefined: what is shown of one depends on more than its revision. Or the page is
   * so long that it is sent in pieces.
   */
  page(records: readonly ShownRecord[], isAdmin: boolean, rest: Omit<RecordPage, 'items'>): JsonText | undefined {
    const texts: string[] = []
    let chars = 0
    for (const record of records) {
      const { definition, without, expand } = record
      if (definition.type !== 'base' || without.size > 0 || expand !== undefined) return undefined
      const text = this.#of(record, isAdmin)
      if ((chars += text.length) > WHOLE_CHARS) return undefined
      texts.push(text)
    }
    return new JsonText(`{"items":[${texts.join(',')}],${safeJson(rest).slice(1)}`)
  }

  #of(record: ShownRecord, isAdmin: boolean): string {
    const { definition, document } = record
    const { _id: id, _rev: rev } = document as { readonly _id: string; readonly _rev?: string }
    const key = `${definition.id} ${isAdmin} ${id}`
    const known = this.#kept.get(key)
    if (known !== undefined && known.definition === definition && known.rev === rev) return known.text
    const text = safeJson(recordJson(record, isAdmin))
    if (rev === undefined) return text
    this.#forget(key)
    const bytes = TEXT_BYTES + text.length * (WIDE.test(text) ? 2 : 1)
    this.#kept.set(key, { definition, rev, text, bytes })
    this.bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.bytes <= this.#bytesMax) break
      this.#forget(oldest)
    }
    return text
  }

  #forget(key: string): void {
    this.bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }
}

function expandJson(expand: NonNullable<ShownRecord['expand']>, isAdmin: boolean): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const [key, of] of [...expand].sort(([one], [other]) => (one < other ? -1 : 1)))
    json[key] = 'definition' in of ? recordJson(of, isAdmin) : of.map((record) => recordJson(record, isAdmin))
  return json
}
