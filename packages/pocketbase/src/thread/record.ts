/** `Record`: values are here, and the server has the record. Changes go there at once, so that both know the same. */
import { ABSENT_OF_MODELS, refused } from '../protocol/refusals.ts'
import { isTagged, type TaggedRecord } from '../protocol/values.ts'
import type { Collection } from './collection.ts'
import { DateTime, JSONRaw } from './dates.ts'
import { call } from './link.ts'

type Values = globalThis.Record<string, unknown>
type Expanded = Record | Record[]
type About = Pick<TaggedRecord, 'id' | 'collectionId' | 'collectionName' | 'isNew'>

export class Record {
  readonly ref!: number
  #about!: About
  #values!: Values
  #collection: Collection | undefined
  readonly #expand = new Map<string, Expanded>()

  /** A record that is not stored yet, or one of the server with its values. */
  constructor(from: Collection | TaggedRecord, values: Values = {}) {
    if (!isTagged(from)) {
      const made = call('app', 'newRecord', from.id === '' ? from.name : from.id) as Record
      made.#collection = from
      made.load(values)
      return made
    }
    // Nobody lists it as a value.
    Object.defineProperty(this, 'ref', { value: (from as TaggedRecord).ref })
    this.refresh(from as TaggedRecord, values)
  }

  /** The record as the server has it now. */
  refresh({ id, collectionId, collectionName, isNew }: TaggedRecord, values: Values): this {
    this.#about = { id, collectionId, collectionName, isNew }
    this.#values = values
    return this
  }

  #call(method: string, ...parameters: readonly unknown[]): unknown {
    return call(`record:${this.ref}`, method, ...parameters)
  }

  get id(): string {
    return this.#about.id
  }

  set id(id: string) {
    this.set('id', id)
  }

  pk(): string {
    return this.id
  }

  collection(): Collection {
    return (this.#collection ??= call('app', 'findCollectionByNameOrId', this.#about.collectionId) as Collection)
  }

  tableName(): string {
    return this.#about.collectionName
  }

  isNew(): boolean {
    return this.#about.isNew
  }

  /** The record as it is stored, or as it was before it was changed. */
  original(): Record {
    return this.#call('original') as Record
  }

  /** The record with its changes, and without what was expanded. */
  fresh(): Record {
    return this.clone()
  }

  clone(): Record {
    return this.#call('clone') as Record
  }

  get(name: string): unknown {
    if (name === 'expand') return this.expand()
    return Object.hasOwn(this.#values, name) ? this.#values[name] : null
  }

  getRaw(name: string): unknown {
    return this.get(name)
  }

  getString(name: string): string {
    return textOf(this.get(name))
  }

  getBool(name: string): boolean {
    const value = this.get(name)
    return typeof value === 'string' ? ['1', 't', 'true'].includes(value.toLowerCase()) : Boolean(value)
  }

  getFloat(name: string): number {
    const value = Number(textOf(this.get(name)))
    return Number.isFinite(value) ? value : 0
  }

  getInt(name: string): number {
    return Math.trunc(this.getFloat(name))
  }

  getDateTime(name: string): DateTime {
    const value = this.get(name)
    return value instanceof DateTime ? value : DateTime.of(textOf(value))
  }

  getGeoPoint(name: string): unknown {
    return this.get(name) ?? { lon: 0, lat: 0 }
  }

  getStringSlice(name: string): string[] {
    const value = this.get(name)
    if (Array.isArray(value) && !(value instanceof JSONRaw)) return value.map(textOf)
    const text = textOf(value)
    return text === '' ? [] : [text]
  }

  /** The value of a JSON field, written into `target`. */
  unmarshalJSONField(name: string, target: unknown): void {
    const value = this.get(name)
    const read = value instanceof JSONRaw ? value.parsed() : value
    if (Array.isArray(target) && Array.isArray(read)) target.splice(0, target.length, ...(read as unknown[]))
    else if (typeof target === 'object' && target !== null) Object.assign(target, read)
  }

  set(name: string, value: unknown): void {
    this.#call('set', name, value)
  }

  setIfFieldExists(name: string, value: unknown): boolean {
    return this.#call('setIfFieldExists', name, value) as boolean
  }

  setRaw(name: string, value: unknown): void {
    this.set(name, value)
  }

  load(values: Values): void {
    if (Object.keys(values).length > 0) this.#call('load', values)
  }

  fieldsData(): Values {
    const names = this.collection().fields.map(({ name }) => name)
    return Object.fromEntries(names.map((name) => [name, this.get(name)]))
  }

  customData(): Values {
    const names = new Set(this.collection().fields.map(({ name }) => name))
    return Object.fromEntries(Object.entries(this.#values).filter(([name]) => !names.has(name)))
  }

  hide(...names: readonly string[]): this {
    this.#call('hide', ...names)
    return this
  }

  unhide(...names: readonly string[]): this {
    this.#call('unhide', ...names)
    return this
  }

  withCustomData(isShown: boolean): this {
    this.#call('withCustomData', isShown)
    return this
  }

  ignoreEmailVisibility(isIgnored: boolean): this {
    if (isIgnored) this.unhide('email')
    return this
  }

  /** The values that everybody may see, as `get` gives them. */
  publicExport(): Values {
    const shown = Object.entries(this.toJSON()).map(([name, value]): [string, unknown] => {
      const own = this.#values[name]
      return [name, own instanceof DateTime || own instanceof JSONRaw ? own : value]
    })
    return Object.fromEntries(shown)
  }

  toJSON(): Values {
    const shown = this.#call('publicExport') as Values
    return this.#expand.size === 0 ? shown : { ...shown, expand: this.expand() }
  }

  // What was expanded.

  expand(): globalThis.Record<string, Expanded> {
    return Object.fromEntries(this.#expand)
  }

  setExpand(expanded: globalThis.Record<string, Expanded>): void {
    this.#expand.clear()
    this.mergeExpand(expanded)
  }

  mergeExpand(expanded: globalThis.Record<string, Expanded>): void {
    for (const [name, records] of Object.entries(expanded)) this.#expand.set(name, records)
  }

  expandedOne(name: string): Record | null {
    const found = this.#expand.get(name)
    return (Array.isArray(found) ? found[0] : found) ?? null
  }

  expandedAll(name: string): Record[] {
    return [this.#expand.get(name) ?? []].flat()
  }

  // Accounts.

  email(): string {
    return this.getString('email')
  }

  setEmail(email: string): void {
    this.set('email', textOf(email))
  }

  emailVisibility(): boolean {
    return this.getBool('emailVisibility')
  }

  setEmailVisibility(isVisible: boolean): void {
    this.set('emailVisibility', isVisible)
  }

  verified(): boolean {
    return this.getBool('verified')
  }

  setVerified(isVerified: boolean): void {
    this.set('verified', isVerified)
  }

  isSuperuser(): boolean {
    return this.#about.collectionName === '_superusers'
  }

  setPassword(password: string): void {
    this.set('password', textOf(password))
  }

  setRandomPassword(): string {
    return this.#call('setRandomPassword') as string
  }

  validatePassword(password: string): boolean {
    return this.#call('validatePassword', textOf(password)) as boolean
  }

  tokenKey(): string {
    return this.getString('tokenKey')
  }

  setTokenKey(key: string): void {
    this.set('tokenKey', key)
  }

  refreshTokenKey(): void {
    this.set('tokenKey:autogenerate', '')
  }

  newAuthToken(): string {
    return this.#call('newAuthToken') as string
  }

  // Files.

  baseFilesPath(): string {
    return `${this.#about.collectionId}/${this.id}`
  }

  findFileFieldByFile(file: string): unknown {
    const fields = this.collection().fields.filter((field) => field.type() === 'file')
    return fields.find(({ name }) => this.getStringSlice(name).includes(file)) ?? null
  }
}

for (const [name, instead] of ABSENT_OF_MODELS)
  Object.defineProperty(Record.prototype, name, {
    value: (): never => {
      throw new Error(refused(`${name}()`, instead))
    },
  })

/** As Go casts a value to a text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof DateTime || value instanceof JSONRaw) return value.string()
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)
}
