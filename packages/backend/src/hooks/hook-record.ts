/** A record as hooks have it: read by `get`, changed by `set`, stored with the write. */
import { badArgument } from 'pannier/internal'
import type { Definition } from '../definitions/definition.ts'
import { ACCOUNT_SECRETS } from '../definitions/system-fields.ts'
import { applyChange, meant } from '../fields/apply-input.ts'
import { toText } from '../fields/cast.ts'
import { emptyValue, ownValue, presentValue, typeOfField, valueIn } from '../fields/field-types.ts'
import { NewFile } from '../fields/new-file.ts'
import { NewPassword } from '../fields/types/password.ts'
import { programValue } from '../fields/program-value.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** A call of `set`. */
export type HookChange = readonly [key: string, value: unknown]

interface RecordState {
  /** The stored document; undefined: the record is new. */
  readonly stored: JsonObject | undefined
  /** The values: all fields have one, `id` too. */
  readonly values: JsonObject
}

/** The types of the records of a collection, as the server writes them for hooks. */
export interface RecordTypes {
  /** The results of `get`, by field. */
  readonly values: object
  /** The arguments of `set`: by field, and by field with a modifier. */
  readonly changes: object
}

/** Records whose fields are not known. */
export interface AnyRecordTypes {
  /** Any name may have a value. */
  readonly values: Record<string, unknown>
  /** The changes: any name may be set. */
  readonly changes: Record<string, unknown>
}

/**
 * A record of a collection, for a hook. `Of`: the types of its fields.
 *
 * @example
 * import type { Hooks } from '@pannier/server'
 *
 * export default ({ onRecordUpdate }: Hooks): void =>
 *   onRecordUpdate((e) => {
 *     e.record.set('edits+', 1)
 *     return e.next()
 *   }, 'posts')
 */
export class HookRecord<Of extends RecordTypes = AnyRecordTypes> {
  readonly #definition: Definition
  readonly #chance: Chance
  readonly #changes: [key: string, value: unknown][] = []
  readonly #hidden = new Set<string>()
  readonly #shown = new Set<string>()
  readonly #custom = new Map<string, unknown>()
  /** The document that the record began with. */
  readonly #first: JsonObject | undefined
  #state: RecordState
  #showsCustom = false

  /** `chance`: draws texts of patterns. */
  constructor(definition: Definition, state: RecordState, chance: Chance) {
    this.#definition = definition
    this.#chance = chance
    this.#state = state
    this.#first = state.stored
  }

  /** A record as it is stored. */
  static of<Of extends RecordTypes = AnyRecordTypes>(
    definition: Definition,
    document: JsonObject,
    chance: Chance,
  ): HookRecord<Of> {
    return new HookRecord<Of>(definition, { stored: document, values: valuesOf(definition, document) }, chance)
  }

  /** The records of documents that were found. */
  static found(definition: Definition, documents: readonly (JsonObject | undefined)[], chance: Chance): HookRecord[] {
    return documents.flatMap((document) =>
      document === undefined ? [] : [HookRecord.of(definition, document, chance)],
    )
  }

  /** A new record, with empty values. */
  static empty<Of extends RecordTypes = AnyRecordTypes>(definition: Definition, chance: Chance): HookRecord<Of> {
    const values = Object.fromEntries(definition.fields.map((field) => [field.name, emptyValue(field)]))
    return new HookRecord<Of>(definition, { stored: undefined, values }, chance)
  }

  /** Empty until a new record is stored, if none was set. */
  get id(): string {
    return toText(this.#state.values['id'])
  }

  /** The definition of its collection. */
  collection(): Definition {
    return this.#definition
  }

  /** Whether it has never been stored. */
  isNew(): boolean {
    return this.#state.stored === undefined
  }

  /** The record as it was before it was changed, also when the change is stored. That of a new one has empty values. */
  original(): HookRecord<Of> {
    const [definition, first, chance] = [this.#definition, this.#first, this.#chance]
    return first === undefined ? HookRecord.empty(definition, chance) : HookRecord.of(definition, first, chance)
  }

  /** The value of a field, or what `set` gave under a name that is no field; undefined if there is neither. A password is a text only while it is new. */
  get<Name extends keyof Of['values'] & string>(name: Name): Of['values'][Name] {
    return this.#get(name) as Of['values'][Name]
  }

  #get(name: string): unknown {
    if (this.#custom.has(name)) return this.#custom.get(name)
    const value = ownValue(this.#state.values, name)
    if (value instanceof NewPassword) return value.text
    if (value instanceof NewFile) return value.name
    return Array.isArray(value) && value.some((one) => one instanceof NewFile)
      ? value.map((one: unknown) => (one instanceof NewFile ? one.name : one))
      : structuredClone(value)
  }

  /** As a text; empty for what has no value. */
  getString(name: keyof Of['values'] & string): string {
    return toText(this.#get(name))
  }

  /** True only for `true`. */
  getBool(name: keyof Of['values'] & string): boolean {
    return this.#get(name) === true
  }

  /** 0 for what is no number. */
  getFloat(name: keyof Of['values'] & string): number {
    const value = Number(this.#get(name))
    return Number.isFinite(value) ? value : 0
  }

  /** Gets a number without decimals, as an integer. */
  getInt(name: keyof Of['values'] & string): number {
    return Math.trunc(this.getFloat(name))
  }

  /** The texts of a field that has many; one for a field that has one. */
  getStringSlice(name: keyof Of['values'] & string): string[] {
    const value = this.#get(name)
    if (Array.isArray(value)) return value.map(toText)
    return value === undefined || value === '' || value === null ? [] : [toText(value)]
  }

  /**
   * Changes a field. A value of JSON is read as that of a request. A date takes a `Date`, a file takes a `File`, a `Blob`, bytes or an upload.
   * A relation takes a record, a JSON field takes a `Map` or a `Set`. A value that the field can't take throws.
   * A name may have a modifier: `tags+`, `+tags`, `tags-`, `slug:autogenerate`.
   * A name that is no field is kept for `withCustomData`, and never stored.
   *
   * @throws TypeError for a value that the field can't take
   */
  set<Name extends keyof Of['changes'] & string>(name: Name, value: Of['changes'][Name]): void {
    this.#set(name, value)
  }

  #set(name: string, given: unknown): void {
    const { stored, values } = this.#state
    const { fields } = this.#definition
    const [field, modifier] = meant(fields, name) ?? []
    if (field === undefined) {
      this.#custom.set(name, given)
      return
    }
    const value = programValue(field, given, { call: 'set()', name, chance: this.#chance })
    const changed = applyChange(fields, values, name, value, this.#chance)!
    // A text is drawn once: what the hook sees is stored.
    this.#changes.push(modifier === 'generate' ? [field.name, changed[field.name]] : [name, value])
    this.#state = { stored, values: changed }
  }

  /** Sets many. */
  load(values: Readonly<Partial<Of['changes']>>): void {
    for (const [name, value] of Object.entries(values)) if (value !== undefined) this.#set(name, value)
  }

  /** Keeps fields from clients, in `onRecordEnrich`. */
  hide(...names: readonly (keyof Of['values'] & string)[]): this {
    for (const name of names) {
      this.#hidden.add(name)
      this.#shown.delete(name)
    }
    return this
  }

  /** Shows hidden fields to clients, in `onRecordEnrich`. Passwords and keys of tokens stay hidden. */
  unhide(...names: readonly (keyof Of['values'] & string)[]): this {
    for (const name of names) {
      this.#hidden.delete(name)
      if (!ACCOUNT_SECRETS.has(name)) this.#shown.add(name)
    }
    return this
  }

  /** Shows what was set under names that are no fields, in `onRecordEnrich`. */
  withCustomData(isShown: boolean): this {
    this.#showsCustom = isShown
    return this
  }

  /** The fields that everybody may see of a record that everybody may see. */
  publicExport(): Readonly<Record<string, unknown>> {
    const { fields, id, name, type } = this.#definition
    const hasEmail = type !== 'auth' || this.#get('emailVisibility') === true
    const shown = fields.filter(
      (field) =>
        !field.hidden &&
        field.viewRule === undefined &&
        !ACCOUNT_SECRETS.has(field.name) &&
        (field.name !== 'email' || hasEmail),
    )
    const entries = shown.map((field) => [field.name, presentValue(field, this.#get(field.name))] as const)
    return this.enrich({ ...Object.fromEntries(entries), collectionId: id, collectionName: name })
  }

  /** As `publicExport`. */
  toJSON(): Readonly<Record<string, unknown>> {
    return this.publicExport()
  }

  /** The JSON that a client would see, with the changes of hooks. */
  enrich(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { stored, values } = this.#state
    const isChanged = (name: string): boolean =>
      name !== 'id' && this.#changes.length > 0 && ownValue(stored, name) !== ownValue(values, name)
    const entries = Object.entries(json).filter(([name]) => !this.#hidden.has(name))
    const shown = new Map(
      entries.map(([name, value]) => [name, isChanged(name) && Object.hasOwn(values, name) ? this.#get(name) : value]),
    )
    for (const name of this.#shown) if (Object.hasOwn(this.#state.values, name)) shown.set(name, this.#get(name))
    if (this.#showsCustom) for (const [name, value] of this.#custom) shown.set(name, value)
    return Object.fromEntries([...shown].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** The values that hooks have set, in order. */
  get changes(): readonly HookChange[] {
    return this.#changes
  }

  /** As it is stored, after the last time that it was. Undefined: the record is new. */
  get document(): JsonObject | undefined {
    return this.#state.stored
  }

  /** The record has been stored: what was set is in it. */
  settle(document: JsonObject): void {
    this.#changes.length = 0
    this.#state = { stored: document, values: valuesOf(this.#definition, document) }
  }
}

function valuesOf(definition: Definition, document: JsonObject): JsonObject {
  const entries = definition.fields.map((field) => {
    const { name } = field
    // A hash is nobody's business.
    return [
      name,
      typeOfField(field).isHashed ? '' : name === 'id' ? document['_id'] : valueIn(document, field),
    ] as const
  })
  return Object.fromEntries(entries)
}

/** @throws TypeError for what is no record, such as a collection */
export function asRecord(call: string, value: unknown): HookRecord {
  if (value instanceof HookRecord) return value
  const must =
    'record must be one of a find or of newRecord() (change a collection in a migration, by updateCollection())'
  throw badArgument(call, must, value)
}
