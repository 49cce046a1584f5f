/** Records, files and errors of one run, by the numbers that its thread knows them by. */
import { ServiceError, type Definition, type UploadedFile } from '@pannier/backend'
import { HookRecord, presentDefinition, typeOfField } from '@pannier/backend/internal'
import type { ErrorData } from '../protocol/messages.ts'
import { copied, isTagged, TAG, type Tagged } from '../protocol/values.ts'

/** A collection that code saves: a definition that may be new or changed. */
export class CollectionInput {
  readonly values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.values = values
  }
}

/** Settings that code saves. */
export class SettingsInput extends CollectionInput {}

const STATUS: Readonly<Partial<Record<ServiceError['code'], number>>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  TOO_LARGE: 413,
  TOO_MANY_REQUESTS: 429,
  UNAVAILABLE: 503,
}

export class Objects {
  readonly #byRef: unknown[] = []
  readonly #refs = new Map<unknown, number>()

  refOf(value: object): number {
    const known = this.#refs.get(value)
    if (known !== undefined) return known
    this.#refs.set(value, this.#byRef.length)
    return this.#byRef.push(value) - 1
  }

  record(ref: number): HookRecord {
    return this.#byRef[ref] as HookRecord
  }

  /** A value for the thread. */
  encode(value: unknown): unknown {
    return copied(value, (one) => {
      if (one instanceof HookRecord) return this.#encodedRecord(one)
      if (isUpload(one)) return { [TAG]: 'file', name: one.name, size: one.size, ref: this.refOf(one) }
      return undefined
    })
  }

  /** A value from the thread. */
  decode(value: unknown): unknown {
    return copied(value, (one) => (isTagged(one) ? this.#decoded(one) : undefined))
  }

  errorData(error: unknown): ErrorData {
    if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
    const { name, message } = error
    const known = { name, message, ref: this.refOf(error) }
    return error instanceof ServiceError ? { ...known, status: STATUS[error.code] ?? 400, data: error.data } : known
  }

  /** The error that the thread was given, if it comes back. */
  errorOf({ ref }: ErrorData): Error | undefined {
    return ref === undefined ? undefined : (this.#byRef[ref] as Error)
  }

  #encodedRecord(record: HookRecord): Tagged {
    const { id, name, fields } = record.collection()
    const values: Record<string, unknown> = {}
    for (const field of fields) values[field.name] = shown(field, record.get(field.name))
    return {
      [TAG]: 'record',
      ref: this.refOf(record),
      id: record.id,
      collectionId: id,
      collectionName: name,
      isNew: record.isNew(),
      values: { ...values, ...(this.encode(customOf(record, values)) as object) },
    }
  }

  #decoded(value: Tagged): unknown {
    switch (value[TAG]) {
      case 'record':
        return this.record(value.ref)
      case 'collection':
        return new CollectionInput(JSON.parse(value.text) as Record<string, unknown>)
      case 'settings':
        return new SettingsInput(JSON.parse(value.text) as Record<string, unknown>)
      case 'file':
        return value.ref === undefined ? new File([Uint8Array.from(value.bytes!)], value.name) : this.#byRef[value.ref]
      default:
        return value.text
    }
  }
}

/** A collection for the thread. */
export function encodedDefinition(definition: Definition): unknown {
  return { [TAG]: 'collection', text: JSON.stringify(presentDefinition(definition)) }
}

/** Names that code has set, and that are no fields. */
const custom = new WeakMap<HookRecord, Set<string>>()

/** Sets a value as PocketBase does: what the field can't take clears it. */
export function setAsThere(record: HookRecord, name: string, value: unknown): void {
  custom.set(record, (custom.get(record) ?? new Set()).add(name))
  try {
    record.set(name, value ?? null)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    record.set(name, null)
  }
}

function customOf(record: HookRecord, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = [...(custom.get(record) ?? [])].filter((name) => !Object.hasOwn(values, name))
  return Object.fromEntries(names.map((name) => [name, record.get(name)]))
}

function shown(field: Definition['fields'][number], value: unknown): unknown {
  const { isTime, isAutomatic, takesAll } = typeOfField(field)
  if (isTime || isAutomatic) return { [TAG]: 'date', text: typeof value === 'string' ? value : '' }
  return takesAll ? { [TAG]: 'json', text: JSON.stringify(value ?? null) } : value
}

function isUpload(value: object): value is UploadedFile {
  return 'stream' in value && 'size' in value && 'name' in value
}
