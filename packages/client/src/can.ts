/** Answers `can()` from the rules of the server, on what the device has. Loaded with the first question. docs/internals/client-rules.md */
import { bind, createSchema, evaluate, parse, RuleError } from '@pannier/rules'
import type { Collection, Field, FoundRecords, RuleRecord, RuleRecords, RuleRequest, Schema } from '@pannier/rules'
import type { JsonObject, Transaction } from 'pannier'
import type { Declared } from './declaration.ts'
import { contentOf, Store, type CollectionState, type Rules, type DeviceCollection, type DeviceRule } from './store.ts'
import { isPlainValue } from './plain-values.ts'
import { fieldOf, written, type Values } from './writes.ts'

/** A question to a device: whether the account may write this now. */
export interface Question {
  readonly action: 'create' | 'update' | 'delete'
  readonly collection: string
  /** An update and a delete have it. */
  readonly id?: string | undefined
  /** The values of a create. An update without them is any update. */
  readonly values?: Values | undefined
}

/** Records that were read of the device; undefined: the device does not know. */
type KnownRecords = Map<string, RuleRecord | null | undefined | FoundRecords>

/** Undefined: that can't be known here. */
export async function answerOf(
  tx: Transaction,
  declared: Declared,
  rules: Rules | undefined,
  question: Question,
): Promise<boolean | undefined> {
  const own = rules?.collections.find(({ name }) => name === question.collection)
  if (rules === undefined || own === undefined) return undefined
  const device = new DeviceRecords(tx, declared, rules)
  const asked = await askedOf(device, own, question)
  return asked === undefined ? undefined : device.ask((records) => answer({ rules, own, question, records }, asked))
}

/** The record that the rule is about, and what is sent. */
interface RuleQuestion {
  readonly record: RuleRecord
  readonly body?: Values
}

/** Undefined: the record is not here, or the server would make other values of those that are sent. */
async function askedOf(
  device: DeviceRecords,
  { name, fields }: DeviceCollection,
  { action, id, values }: Question,
): Promise<RuleQuestion | undefined> {
  const { fields: known } = createSchema([{ name, fields }]).collections[0]!
  if (action === 'create') {
    const { id: _, ...body } = values!
    return isPlain(known, body) ? { record: body, body } : undefined
  }
  const record = await device.record(name, id!)
  if (record === null || record === undefined) return undefined
  if (action === 'delete' || values === undefined) return action === 'delete' ? { record, body: {} } : { record }
  const after = written(record, { collection: name, action, id: id!, base: null, values })!
  const names = Object.keys(values).map(fieldOf)
  const isModifiable = Object.keys(values).every(
    (key) =>
      fieldOf(key) === key || known.get(fieldOf(key))?.isMany === true || typeof after[fieldOf(key)] === 'number',
  )
  const body = Object.fromEntries(names.map((field) => [field, after[field]]))
  return isModifiable && isPlain(known, body) ? { record, body } : undefined
}

interface Asking {
  readonly rules: Rules
  readonly own: DeviceCollection
  readonly question: Question
  readonly records: RuleRecords
}

/** The server has cut away what reads the time. */
const NO_TIME = new Date(0)

/** The rule of the collection, and those of the fields that are sent. */
function answer({ rules, own, question, records }: Asking, { record, body }: RuleQuestion): boolean | undefined {
  const schema = createSchema(rules.collections)
  const { action, values } = question
  const { account } = rules
  const auth = account && { collection: String(account['collectionId']), record: account }
  const meets = (rule: DeviceRule): boolean | undefined => {
    if (rule === null || rule === '') return rule === ''
    const request: RuleRequest = { auth, ...(body && { body }) }
    try {
      const unsaved = action === 'create'
      const bound = bind({ schema, collection: own.id, rule: parse(rule), request, unsaved, now: NO_TIME })
      return evaluate(bound, record, records)
    } catch (error) {
      // It reads too much, or other fields than the device knows.
      if (error instanceof RuleError) return undefined
      throw error
    }
  }
  const sent = new Set(Object.keys(values ?? {}).map(fieldOf))
  const ruled = own.fields.filter(({ name, updateRule }) => updateRule !== undefined && sent.has(name))
  const set = ruled.map(({ name, updateRule }) => {
    const maySet = meets(updateRule!)
    // To send the value that is there is no change, which is allowed.
    const isChange = action === 'update' && JSON.stringify(body?.[name]) !== JSON.stringify(record[name])
    return maySet === false && !isChange ? undefined : maySet
  })
  if (set.includes(false)) return false
  return set.includes(undefined) ? undefined : meets(own.rules[action])
}

/** Whether the server stores these values as they are. */
function isPlain(fields: ReadonlyMap<string, Field>, values: Values): boolean {
  return Object.entries(values).every(([name, value]) => {
    const field = fields.get(name)
    return field === undefined || value === undefined || isPlainValue(field, value)
  })
}

/** The records of the device, which come one after another: what is missing is read, and the question is asked again. */
class DeviceRecords {
  readonly #store: Store
  readonly #declared: Declared
  readonly #rules: Rules
  readonly #schema: Schema
  readonly #known: KnownRecords = new Map()

  constructor(tx: Transaction, declared: Declared, rules: Rules) {
    this.#store = new Store(tx)
    this.#declared = declared
    this.#rules = rules
    this.#schema = createSchema(rules.collections)
  }

  async ask(question: (records: RuleRecords) => boolean | undefined): Promise<boolean | undefined> {
    for (;;) {
      const missing = new Map<string, () => Promise<RuleRecord | null | undefined | FoundRecords>>()
      const read = <T>(
        key: string,
        load: () => Promise<T & (RuleRecord | null | undefined | FoundRecords)>,
      ): T | undefined => {
        if (this.#known.has(key)) return this.#known.get(key) as T
        missing.set(key, load)
        return undefined
      }
      const found = question({
        get: (collection, id) => read(JSON.stringify([collection, id]), () => this.record(collection, id)),
        via: (collection, field, id) =>
          read(JSON.stringify([collection, field, id]), () => this.#via(collection, field, id)) ?? NOT_READ,
        all: (collection) => read(collection, () => this.#found(collection, {})) ?? NOT_READ,
      })
      if (found !== undefined || missing.size === 0) return found
      for (const [key, load] of missing) this.#known.set(key, await load())
    }
  }

  /** Null: no record has this id. */
  async record(collection: string, id: string): Promise<RuleRecord | null | undefined> {
    const isSynced = this.#declared.names.includes(collection)
    const shown = isSynced ? await this.#store.records(collection).get(id) : undefined
    if (shown !== undefined) return this.#plain(collection, shown)
    const { account } = this.#rules
    if (account?.['collectionName'] === collection && account['id'] === id) return account
    return (await this.#isWhole(collection)) ? null : undefined
  }

  #via(collection: string, field: string, id: string): Promise<FoundRecords> {
    const { isMany } = this.#schema.find(collection)!.fields.get(field)!
    return this.#found(collection, { [field]: isMany ? { $all: [id] } : id })
  }

  async #found(collection: string, selector: JsonObject): Promise<FoundRecords> {
    if (!this.#declared.names.includes(collection)) return NOT_READ
    const shown = await this.#store.records(collection).find(selector).toArray()
    const records = shown.map((one) => this.#plain(collection, one)).filter((one) => one !== undefined)
    return { records, isComplete: records.length === shown.length && (await this.#isWhole(collection)) }
  }

  /** Undefined: the server makes something else of what this device has written. */
  #plain(collection: string, shown: Values): RuleRecord | undefined {
    const record = contentOf(shown)
    return isPlain((this.#schema.find(collection) as Collection).fields, record) ? record : undefined
  }

  /** The device has every record that the server has. */
  async #isWhole(collection: string): Promise<boolean> {
    const { names, filters } = this.#declared
    const isOpen = this.#rules.collections.find(({ name }) => name === collection)?.isOpen === true
    const isSynced = isOpen && names.includes(collection) && filters[collection] === undefined
    return isSynced && (await this.#store.state<CollectionState>(collection))?.isShown === true
  }
}

const NOT_READ: FoundRecords = { records: [], isComplete: false }
