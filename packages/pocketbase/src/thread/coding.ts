/** From the values of PocketBase's code to those that the server gets, and back. */
import { copied, isTagged, TAG, type Tagged, type TaggedFile } from '../protocol/values.ts'
import { Collection, Settings } from './collection.ts'
import { DateTime, JSONRaw } from './dates.ts'
import { UploadedFile } from './files.ts'
import { Record as PocketRecord } from './record.ts'

/** Records by the numbers that the server has given them, while a task runs. */
const records = new Map<number, PocketRecord>()

export function forgetRecords(): void {
  records.clear()
}

export function encode(value: unknown): unknown {
  return copied(value, (one) => {
    if (one instanceof PocketRecord) return { [TAG]: 'record', ref: one.ref }
    if (one instanceof DateTime) return one.string()
    if (one instanceof JSONRaw) return one.parsed()
    if (one instanceof Collection) return { [TAG]: 'collection', text: JSON.stringify(one) }
    if (one instanceof Settings) return { [TAG]: 'settings', text: JSON.stringify(one) }
    if (one instanceof UploadedFile) return one.tagged()
    return undefined
  })
}

/** The JSON of an answer, as Go makes it. */
export function answerOf(value: unknown): unknown {
  return copied(value, (one) => {
    if (one instanceof JSONRaw) return one.parsed()
    if (one instanceof DateTime) return one.string()
    return 'toJSON' in one && typeof one.toJSON === 'function' ? answerOf((one.toJSON as () => unknown)()) : undefined
  })
}

export function decode(value: unknown): unknown {
  return copied(value, (one) => (isTagged(one) ? decoded(one) : undefined))
}

function decoded(value: Tagged): unknown {
  switch (value[TAG]) {
    case 'record': {
      const known = records.get(value.ref)
      const values = decode(value.values) as globalThis.Record<string, unknown>
      if (known !== undefined) return known.refresh(value, values)
      const made = new PocketRecord(value, values)
      records.set(value.ref, made)
      return made
    }
    case 'date':
      return DateTime.of(value.text)
    case 'json':
      return new JSONRaw(value.text)
    case 'collection':
      return Collection.of(JSON.parse(value.text) as globalThis.Record<string, unknown>)
    case 'settings':
      return new Settings(JSON.parse(value.text) as globalThis.Record<string, unknown>)
    case 'file':
      return UploadedFile.of(value as TaggedFile)
  }
}
