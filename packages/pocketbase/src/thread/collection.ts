/** `Collection` and its fields: plain values that code changes, and `$app.save(collection)` stores. */

type Values = Record<string, unknown>

/** A field. Its options are its properties; its type is a method, as Go has it. */
class Field {
  name!: string
  id!: string;
  [option: string]: unknown
  readonly #type: string

  constructor(values: Values = {}, type?: string) {
    const { type: given = '', ...options } = values
    Object.assign(this, { name: '', id: '', system: false, hidden: false }, options)
    this.#type = type ?? (given as string)
    // A method is no option.
    Object.defineProperty(this, 'type', { value: () => this.#type, enumerable: false })
  }

  declare type: () => string

  getId(): string {
    return this.id
  }

  setId(id: string): void {
    this.id = id
  }

  getName(): string {
    return this.name
  }

  setName(name: string): void {
    this.name = name
  }

  getSystem(): boolean {
    return this['system'] === true
  }

  getHidden(): boolean {
    return this['hidden'] === true
  }

  setHidden(isHidden: boolean): void {
    this['hidden'] = isHidden
  }

  isMultiple(): boolean {
    return Number(this['maxSelect'] ?? 1) > 1
  }

  toJSON(): Values {
    const options = Object.entries(this).filter(([name, value]) => !(name === 'id' && value === ''))
    return { ...Object.fromEntries(options), type: this.#type }
  }
}

function ofType(type: string): new (values?: Values) => Field {
  return class extends Field {
    constructor(values: Values = {}) {
      super(values, type)
    }
  }
}

const CLASSES = [
  'NumberField',
  'BoolField',
  'TextField',
  'URLField',
  'EmailField',
  'EditorField',
  'PasswordField',
  'DateField',
  'AutodateField',
  'JSONField',
  'RelationField',
  'SelectField',
  'FileField',
  'GeoPointField',
]

/** The type of a field by the name of its class: `URLField` is `url`, `GeoPointField` is `geoPoint`. */
function typeOf(name: string): string {
  const [, capitals = '', rest = ''] = /^([A-Z]+)(\w*?)Field$/.exec(name) ?? []
  return capitals.toLowerCase() + rest
}

/** The classes of fields, by their names. */
export const FIELD_CLASSES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['Field', Field],
  ...CLASSES.map((name): [string, unknown] => [name, ofType(typeOf(name))]),
])

/** The fields of a collection, a list with PocketBase's methods. */
export class FieldsList extends Array<Field> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  getById(id: string): Field | null {
    return this.find((field) => field.id === id) ?? null
  }

  getByName(name: string): Field | null {
    return this.find((field) => field.name === name) ?? null
  }

  fieldNames(): string[] {
    return this.map(({ name }) => name)
  }

  asMap(): Record<string, Field> {
    return Object.fromEntries(this.map((field) => [field.name, field]))
  }

  /** A field of the same id, or without one of the same name, is replaced. */
  add(...fields: readonly (Field | Values)[]): void {
    for (const one of fields) this.#put(undefined, fieldOf(one))
  }

  addAt(at: number, ...fields: readonly (Field | Values)[]): void {
    for (const [index, one] of fields.entries()) this.#put(at + index, fieldOf(one))
  }

  addMarshaledJSON(text: unknown): void {
    this.add(...([JSON.parse(String(text))] as Values[][]).flat())
  }

  addMarshaledJSONAt(at: number, text: unknown): void {
    this.addAt(at, ...([JSON.parse(String(text))] as Values[][]).flat())
  }

  removeById(id: string): void {
    this.#remove((field) => field.id === id)
  }

  removeByName(name: string): void {
    this.#remove((field) => field.name === name)
  }

  #put(at: number | undefined, field: Field): void {
    const old = this.findIndex(({ id, name }) => (field.id === '' ? name === field.name : id === field.id))
    if (old >= 0 && field.id === '') field.id = this[old]!.id
    if (old >= 0 && at === undefined) this[old] = field
    else {
      if (old >= 0) this.splice(old, 1)
      this.splice(Math.min(at ?? this.length, this.length), 0, field)
    }
  }

  #remove(isMeant: (field: Field) => boolean): void {
    const at = this.findIndex(isMeant)
    if (at >= 0) this.splice(at, 1)
  }
}

function fieldsOf(values: readonly (Values | Field)[]): FieldsList {
  const made = new FieldsList()
  for (const one of values) made.push(fieldOf(one))
  return made
}

function fieldOf(value: Values | Field): Field {
  return value instanceof Field ? value : new Field(value)
}

/** The options of accounts are objects, so that code can set one of them before the collection is stored. */
const AUTH_OPTIONS = [
  'authAlert',
  'oauth2',
  'passwordAuth',
  'mfa',
  'otp',
  'authToken',
  'passwordResetToken',
  'emailChangeToken',
  'verificationToken',
  'fileToken',
  'verificationTemplate',
  'resetPasswordTemplate',
  'confirmEmailChangeTemplate',
]

/** The fields of accounts: PocketBase gives them to a new collection at once, and they come first. */
const AUTH_FIELDS: readonly Values[] = [
  { name: 'id', type: 'text', system: true },
  { name: 'password', type: 'password', system: true, hidden: true },
  { name: 'tokenKey', type: 'text', system: true, hidden: true },
  { name: 'email', type: 'email', system: true },
  { name: 'emailVisibility', type: 'bool', system: true },
  { name: 'verified', type: 'bool', system: true },
]

export class Collection {
  id!: string
  name!: string
  type!: string
  fields!: FieldsList
  indexes!: string[];
  [option: string]: unknown
  /** Whether it is stored: the server has it. */
  readonly #isStored: boolean

  constructor(values: Values = {}, isStored = false) {
    const rules = { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null }
    Object.assign(this, { id: '', name: '', type: 'base', system: false, indexes: [], ...rules }, values)
    if (this.type === 'auth') for (const name of AUTH_OPTIONS) this[name] ??= {}
    const given = (values['fields'] ?? []) as readonly Values[]
    const isNewAuth = !isStored && this.type === 'auth'
    const own = AUTH_FIELDS.filter(({ name }) => isNewAuth && !given.some((one) => one['name'] === name))
    this.fields = fieldsOf([...own, ...given])
    this.#isStored = isStored
  }

  static of(values: Values): Collection {
    return new Collection(values, true)
  }

  /** Merges values, as `unmarshal` does. */
  merge(values: Values): void {
    const { fields, ...options } = values
    Object.assign(this, options)
    if (fields !== undefined) this.fields = fieldsOf(fields as readonly Values[])
  }

  isNew(): boolean {
    return !this.#isStored
  }

  isBase(): boolean {
    return this.type === 'base'
  }

  isAuth(): boolean {
    return this.type === 'auth'
  }

  isView(): boolean {
    return this.type === 'view'
  }

  pk(): string {
    return this.id
  }

  tableName(): string {
    return '_collections'
  }

  string(): string {
    return JSON.stringify(this)
  }

  baseFilesPath(): string {
    return this.id
  }

  getIndex(name: string): string {
    return this.indexes.find((index) => nameOf(index) === name.toLowerCase()) ?? ''
  }

  addIndex(name: string, isUnique: boolean, columns: string, where = ''): void {
    this.removeIndex(name)
    const condition = where === '' ? '' : ` WHERE ${where}`
    this.indexes.push(
      `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX \`${name}\` ON \`${this.name}\` (${columns})${condition}`,
    )
  }

  removeIndex(name: string): void {
    this.indexes = this.indexes.filter((index) => nameOf(index) !== name.toLowerCase())
  }

  toJSON(): Values {
    const known = Object.entries(this).filter(([name, value]) => !(name === 'id' && value === ''))
    // The fields of a view follow from its query.
    return Object.fromEntries(known.filter(([name]) => !(name === 'fields' && this.type === 'view')))
  }
}

/** The settings, as code changes and saves them. */
export class Settings {
  [name: string]: unknown

  constructor(values: Values) {
    Object.assign(this, values)
  }
}

function nameOf(index: string): string {
  return /INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?[`"[']?(\w+)/i.exec(index)?.[1]?.toLowerCase() ?? ''
}
