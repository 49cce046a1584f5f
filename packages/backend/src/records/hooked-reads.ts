/** Hooks around what requests read. */
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { JsonText } from '../gateway/json-text.ts'
import { missing } from '../gateway/service-error.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import { HookRecord } from '../hooks/hook-record.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { requestEvent } from '../hooks/request-event.ts'
import type { RecordReads } from './record-reads.ts'
import type { ListOptions, RecordJson, RecordPage, ShowOptions } from './record-types.ts'

interface HookedReadsParts {
  readonly environment: Environment
  readonly reads: RecordReads
  readonly definitions: Definitions
  readonly hooks: Hooks
  readonly app: HookApp
}

export class HookedReads {
  readonly #parts: HookedReadsParts

  constructor(parts: HookedReadsParts) {
    this.#parts = parts
  }

  /** As that of `RecordReads`. Handlers see the page, and may change it. */
  async list(actor: Actor, name: string, options?: ListOptions): Promise<RecordPage> {
    const { reads, hooks, definitions } = this.#parts
    const page = await reads.list(actor, name, options)
    const collection = definitions.find(name)
    if (collection === undefined || !hooks.has(['onRecordsListRequest'], [collection.id, collection.name])) return page
    const result = { ...page, items: [...page.items] }
    const event = { ...requestEvent(this.#parts, actor), collection, result }
    await hooks.trigger('onRecordsListRequest', event, [collection.id, collection.name])
    return result
  }

  /** As `list`, for a door that sends it: its text where no handler sees it and the records have kept ones. */
  listText(actor: Actor, name: string, options: ListOptions): Promise<RecordPage | JsonText> {
    const { reads, hooks } = this.#parts
    return hooks.has(['onRecordsListRequest']) ? this.list(actor, name, options) : reads.listText(actor, name, options)
  }

  /** As that of `RecordReads`. Handlers see the record, and what is shown of it. They may change both. */
  async view(actor: Actor, name: string, id: string, options?: ShowOptions): Promise<RecordJson> {
    const { reads, hooks, definitions, environment } = this.#parts
    const record = await reads.view(actor, name, id, options)
    const collection = definitions.find(name)
    if (collection === undefined || !hooks.has(['onRecordViewRequest'], [collection.id, collection.name])) return record
    const stored = await reads.stored(collection, id)
    // It is deleted meanwhile.
    if (stored === undefined) throw missing('')
    const seen = HookRecord.of(collection, stored, environment)
    const result = { ...record }
    const event = { ...requestEvent(this.#parts, actor), collection, record: seen, result }
    await hooks.trigger('onRecordViewRequest', event, [collection.id, collection.name])
    return seen.enrich(result)
  }
}
