/** Reading of records for actors: lists, single records, and their shown forms. */
import { RuleError } from '@pannier/rules'
import { isPannierError, type Database, type Explanation } from 'pannier'
import { pauseIn, readSnapshot, type SnapshotReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { ruleFor, type Access, type ReadAction } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { ViewRows } from '../definitions/views/view-reader.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { jsonSize } from '../gateway/json-text.ts'
import type { JsonText } from '../gateway/json-text.ts'
import { LoneBudget, UNLIMITED } from '../gateway/answer-room.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import { aggregateRecords, pathsRead, readAggregate, type AggregateRequest } from './read/aggregate-records.ts'
import { admittedOf } from './read/admitted.ts'
import { sortField } from './read/cursor.ts'
import { expandRecords } from './read/expand.ts'
import { isPath, readListRequest, type ListRequest } from './read/list-request.ts'
import { fieldsWithheld } from './read/field-rules.ts'
import { fieldPicker, namesRevision, REVISION } from './read/pick-fields.ts'
import { RecordSnapshot } from './read/record-snapshot.ts'
import { queryOf, selectRecords, type WantedRecords } from './read/select-records.ts'
import type { Enricher } from './read/enrich-records.ts'
import { bytesOf, dependsOn, recordJson, RecordTexts, type ShownRecord } from './read/shown-record.ts'
import type { ListOptions, RecordJson, RecordPage, ShowOptions } from './record-types.ts'

interface ReadsOptions {
  readonly database: Database
  readonly environment: Environment
  /** The definitions. A fixed set of definitions has no `steadily`. */
  readonly definitions: KnownDefinitions & Partial<Pick<Definitions, 'steadily'>>
  readonly access: Access
  /** Reads views. */
  readonly viewReader: ViewRows
  /** Lets hooks change what is shown. */
  readonly enrich?: Enricher
}

/** Documents of one collection, and who sees them in which context. */
interface AskedRecords {
  readonly actor: Actor
  readonly definition: Definition
  readonly documents: readonly JsonObject[]
  readonly context: string
}

/** A document, and the fields of it that are not shown. */
type WithoutFields = Pick<ShownRecord, 'document' | 'without'>

interface SelectOptions {
  readonly filter?: string
  readonly sort?: string
  readonly limit?: number
  readonly offset?: number
}

/** A limit that no collection reaches. */
const ALL = 2 ** 31 - 1

/** Records that are read, and not shown yet. */
export interface FoundRecords {
  /** Whether hooks change what this actor sees of them. */
  readonly isEnriched: boolean
  /** Actors with the same text are shown the same of the same documents. Undefined: `show` for each. */
  readonly sameFor: string | undefined
  /** Bytes of their JSON, about. */
  bytes(): number
  /** @throws what a hook throws: ServiceError UNAVAILABLE if it takes too long */
  show(): Promise<RecordJson[]>
}

/** How a list would be answered. */
interface ListExplanation {
  /** False: each document of the plan is asked about. */
  readonly isExact: boolean
  /** Empty if the sort is computed for each record. */
  readonly order: readonly string[]
  /** The plan, as the library's explanation. */
  readonly plan: Explanation
}

export class RecordReads {
  readonly #options: ReadsOptions
  readonly #texts = new RecordTexts()

  constructor(options: ReadsOptions) {
    this.#options = options
  }

  /**
   * A page of the records that the list rule admits.
   *
   * @throws ServiceError NOT_FOUND, FORBIDDEN if the collection is locked, INVALID for a wrong filter, sort or `fields`
   */
  async list(actor: Actor, name: string, options: ListOptions = {}): Promise<RecordPage> {
    return (await this.#list(actor, name, options, false)) as RecordPage
  }

  /** As `list`, for a door that sends it: its text where the records have kept ones. */
  listText(actor: Actor, name: string, options: ListOptions): Promise<RecordPage | JsonText> {
    return this.#list(actor, name, options, true)
  }

  async #list(actor: Actor, name: string, options: ListOptions, asText: boolean): Promise<RecordPage | JsonText> {
    const groups = readAggregate(options)
    if (groups !== undefined) return this.#steadily(() => this.#aggregate(actor, name, options, groups))
    const { found, wanted, total, nextCursor } = await this.#steadily(async () => {
      const definition = this.#openTo(actor, name, 'list')
      const wanted = this.#wantedOf(actor, definition, options)
      return this.inSnapshot(async (snapshot) => {
        const { documents, ...rest } = await selectRecords(snapshot, wanted)
        return { found: await this.#found(snapshot, actor, definition, documents, options), wanted, ...rest }
      })
    })
    const rest = { ...pageWith(wanted, total), ...(nextCursor === undefined ? {} : { nextCursor }) }
    const isWhole = asText && (options.fields ?? '') === '' && this.#options.enrich?.isFor(found) !== true
    const text = isWhole ? this.#texts.page(found, actor.principal.isAdmin, rest) : undefined
    if (text !== undefined) return text
    return { items: await this.#shown(actor, found, options), ...rest }
  }

  /** The documents of a list as they are stored, from `offset` on; all of them without a limit. @throws ServiceError as `list` */
  async select(
    actor: Actor,
    name: string,
    { limit = ALL, offset = 0, ...options }: SelectOptions,
  ): Promise<readonly JsonObject[]> {
    return this.#steadily(async () => {
      const definition = this.#openTo(actor, name, 'list')
      const wanted = this.#wantedOf(actor, definition, { ...options, skipTotal: true })
      return this.inSnapshot(async (snapshot) => {
        const { documents } = await selectRecords(snapshot, { ...wanted, skip: offset, limit, budget: UNLIMITED })
        return documents
      })
    })
  }

  /** How many records meet a filter. @throws ServiceError as `list` */
  async count(actor: Actor, name: string, filter: string): Promise<number> {
    const { totalItems } = await this.list(actor, name, { filter, perPage: 1 })
    return totalItems
  }

  /** @throws ServiceError NOT_FOUND: also if the view rule does not admit the record; FORBIDDEN if the collection is locked */
  async view(actor: Actor, name: string, id: string, options: ShowOptions = {}): Promise<RecordJson> {
    const { access } = this.#options
    const found = await this.#steadily(async () => {
      const definition = this.#openTo(actor, name, 'view')
      return this.inSnapshot(async (snapshot) => {
        const [document] = await snapshot.get(definition, [id])
        if (document === undefined) throw missing('')
        const asked = { actor, definition, action: 'view' as const, documents: [document] }
        const admitted = await admittedOf(snapshot, access, asked)
        if (admitted?.length !== 1) throw missing('')
        actor.budget?.take(jsonSize(document))
        return this.#found(snapshot, actor, definition, [document], options)
      })
    })
    const [json] = await this.#shown(actor, found, options)
    return json!
  }

  /** The actor's view of stored documents of one collection. No rule but that of expanded records is asked. */
  async show(
    actor: Actor,
    definition: Definition,
    documents: readonly JsonObject[],
    options: ShowOptions = {},
  ): Promise<RecordJson[]> {
    const found =
      shownAlone(definition, documents, options) ??
      (await this.inSnapshot((snapshot) => this.#found(snapshot, actor, definition, documents, options)))
    return this.#shown(actor, found, options)
  }

  /** As `show`, where it is known which fields of each document are not shown. No rule is asked. */
  showWithout(
    actor: Actor,
    definition: Definition,
    documents: readonly WithoutFields[],
    options: ShowOptions = {},
  ): Promise<RecordJson[]> {
    const shown = documents.map(({ document, without }): ShownRecord => {
      return { definition, document, without, hasEmail: true, expand: undefined }
    })
    return this.#shown(actor, shown, options)
  }

  /** A record, or a row of a view, as it is stored. No rule is asked. */
  async stored(definition: Definition, id: string): Promise<JsonObject | undefined> {
    return this.inSnapshot(async (snapshot) => (await snapshot.get(definition, [id]))[0])
  }

  /** A state of the database that is held, for `findIn` and for rules. */
  snapshotOf(reader: SnapshotReader): RecordSnapshot {
    return new RecordSnapshot(reader, this.#options)
  }

  /** The records that `show` shows, in a given state. The state may end before hooks run. */
  async findIn(
    snapshot: RecordSnapshot,
    actor: Actor,
    definition: Definition,
    documents: readonly JsonObject[],
    options: ShowOptions,
  ): Promise<FoundRecords> {
    fieldPicker(options.fields)
    const found = await this.#found(snapshot, actor, definition, documents, options)
    const isEnriched = this.#options.enrich?.isFor(found) ?? false
    return {
      isEnriched,
      sameFor: isEnriched ? undefined : dependsOn(found, actor.principal.isAdmin, options),
      bytes: () => bytesOf(found),
      show: () => this.#shown(actor, found, options),
    }
  }

  /** Whether a rule admits a document, as it is stored. Nothing is locked to superusers. */
  async admits(actor: Actor, definition: Definition, action: ReadAction, document: JsonObject): Promise<boolean> {
    const { access } = this.#options
    if (access.isLocked(actor, definition, action)) return false
    return this.inSnapshot(async (snapshot) => {
      const admitted = await admittedOf(snapshot, access, { actor, definition, action, documents: [document] })
      return admitted?.length === 1
    })
  }

  /**
   * How a list would be answered now: what the library plans.
   *
   * @throws ServiceError FORBIDDEN for all but superusers, INVALID for a view, and as `list`
   */
  async explain(actor: Actor, name: string, options: ListOptions = {}): Promise<ListExplanation> {
    if (!actor.principal.isAdmin) throw forbidden('Only superusers can perform this action.')
    const definition = this.#openTo(actor, name, 'list')
    if (definition.type === 'view') throw invalid('The rows of a view are read one by one.')
    const wanted = this.#wantedOf(actor, definition, options)
    return this.inSnapshot(async (snapshot) => {
      await snapshot.prepare(wanted.bound)
      const { query, order: keys = [], isExact } = await queryOf(snapshot, wanted)
      const order = keys.map(sortField)
      const sorted = order.length === 0 ? query : query.sort(...order)
      return { isExact, order, plan: await sorted.skip(wanted.skip).limit(wanted.limit).explain() }
    })
  }

  /** An actor that may sort by a field may group by it; addresses may be hidden one by one. */
  #aggregate(actor: Actor, name: string, options: ListOptions, request: AggregateRequest): Promise<RecordPage> {
    const definition = this.#openTo(actor, name, 'list')
    const list = this.#wantedOf(actor, definition, { ...options, sort: '' }, pathsRead(request))
    const pick = fieldPicker(options.fields)
    return this.inSnapshot(async (snapshot) => {
      const { items, total } = await aggregateRecords(snapshot, list, request)
      const picked = pick === undefined ? items : items.map((item) => pick(item) as RecordJson)
      return { items: picked, ...pageWith(list, total) }
    })
  }

  /** `paths`: what is resolved in place of the sort. */
  #wantedOf(
    actor: Actor,
    definition: Definition,
    options: ListOptions,
    paths?: readonly string[],
  ): WantedRecords & ListRequest {
    const request = readListRequest(actor, options)
    const { page, perPage, sort } = request
    const { access, definitions } = this.#options
    const bound = asInvalid(() =>
      access.bindList(actor, definition, {
        action: 'list',
        filter: options.filter ?? '',
        sort: paths ?? sort.map(({ by }) => by).filter(isPath),
      }),
    )
    // The order would tell what is hidden: anybody can sign up with addresses that lie beside it.
    if (bound.sortsByEmail) throw invalid('Only superusers can sort or group by e-mail addresses, or aggregate them.')
    const withTotal = options.skipTotal !== true
    const { budget = new LoneBudget() } = actor
    const skip = (page - 1) * perPage
    return { ...request, definition, definitions, bound, skip, limit: perPage, withTotal, budget }
  }

  async #steadily<T>(read: () => Promise<T>): Promise<T> {
    const { definitions } = this.#options
    return definitions.steadily === undefined ? read() : definitions.steadily(read)
  }

  /** Runs what reads one state of the database. @throws ServiceError INVALID if a rule reads or tries too much */
  async inSnapshot<T>(read: (snapshot: RecordSnapshot) => Promise<T>): Promise<T> {
    try {
      return await readSnapshot(this.#options.database, (reader) => read(this.snapshotOf(reader)))
    } catch (error) {
      // A rule reads too many records at once, or tries too many rows.
      throw isPannierError(error, 'PANNIER_LIMIT_EXCEEDED') || error instanceof RuleError
        ? invalid(error.message)
        : error
    }
  }

  #openTo(actor: Actor, name: string, action: ReadAction): Definition {
    const definition = this.#options.definitions.find(name)
    if (definition === undefined) throw missing('Missing collection context.')
    if (this.#options.access.isLocked(actor, definition, action))
      throw forbidden('Only superusers can perform this action.')
    return definition
  }

  /** The records to show, with expanded ones. */
  async #found(
    snapshot: RecordSnapshot,
    actor: Actor,
    definition: Definition,
    documents: readonly JsonObject[],
    { expand = '' }: ShowOptions,
  ): Promise<ShownRecord[]> {
    const { access, definitions } = this.#options
    const show = (of: Definition, found: readonly JsonObject[], context: string): Promise<ShownRecord[]> =>
      this.#withoutHidden(snapshot, { actor, definition: of, documents: found, context })
    const found = await show(definition, documents, actor.request.context)
    const { budget = new LoneBudget() } = actor
    if (expand !== '') await expandRecords(found, expand, { actor, access, definitions, snapshot, show, budget })
    return found
  }

  /** Records as the client is shown them. Hooks run here, outside of a snapshot that could be read again. */
  async #shown(actor: Actor, shown: readonly ShownRecord[], options: ShowOptions): Promise<RecordJson[]> {
    fieldPicker(options.fields)
    await this.#options.enrich?.run(actor, shown)
    return this.#jsonOf(actor, shown, options)
  }

  /** An address is shown to superusers, to the account itself, and to those whom the manage rule admits. */
  async #withoutHidden(snapshot: RecordSnapshot, asked: AskedRecords): Promise<ShownRecord[]> {
    const { actor, definition, documents } = asked
    const { isAdmin, account } = actor.principal
    const isShown = (document: JsonObject): boolean => isAdmin || document['_id'] === account?.record['_id']
    const withheld = await fieldsWithheld(snapshot, this.#options.access, asked)
    const managed = await this.#managed(snapshot, asked)
    return documents.map((document) => ({
      definition,
      document,
      hasEmail: isShown(document) || managed.has(document),
      without: withheld(document),
      expand: undefined,
    }))
  }

  /** A manage rule that admits everybody shows no addresses. */
  async #managed(snapshot: RecordSnapshot, asked: AskedRecords): Promise<ReadonlySet<JsonObject>> {
    const { principal } = asked.actor
    const rule = ruleFor(principal, asked.definition, 'manage')
    if (principal.isAdmin || rule === null || rule === '') return new Set()
    return new Set(await admittedOf(snapshot, this.#options.access, { ...asked, action: 'manage' }))
  }

  /** The fields that were asked for. An excerpt of a long text takes some time. */
  async #jsonOf({ principal }: Actor, shown: readonly ShownRecord[], { fields }: ShowOptions): Promise<RecordJson[]> {
    const pick = fieldPicker(fields)
    const withRevision = namesRevision(fields)
    const released = pauseIn(this.#options.environment)
    const picked: RecordJson[] = []
    for (const record of shown) {
      const seen = recordJson(record, principal.isAdmin)
      const { _id: id, _rev: rev } = record.document as { readonly _id: string; readonly _rev?: string }
      const { revisions } = this.#options.access
      const hasRevision = withRevision && rev !== undefined
      const revision = hasRevision ? { [REVISION]: revisions.of(principal, record.definition, id, rev) } : undefined
      const json = revision === undefined ? seen : { ...revision, ...seen }
      picked.push(pick === undefined ? json : (pick(json) as RecordJson))
      await released()
    }
    return picked
  }
}

const NO_FIELDS: ReadonlySet<string> = new Set()

/** Documents in whose showing no rule and no other record has a say. Undefined: one of them has. */
function shownAlone(
  definition: Definition,
  documents: readonly JsonObject[],
  { expand = '' }: ShowOptions,
): readonly ShownRecord[] | undefined {
  const { type, fields } = definition
  if (type !== 'base' || expand !== '' || fields.some(({ viewRule }) => viewRule !== undefined)) return undefined
  return documents.map((document) => {
    return { definition, document, without: NO_FIELDS, hasEmail: false, expand: undefined }
  })
}

function pageWith({ page, perPage }: ListRequest, total: number | undefined): Omit<RecordPage, 'items'> {
  const totalPages = total === undefined ? -1 : Math.ceil(total / perPage)
  return { page, perPage, totalItems: total ?? -1, totalPages }
}

/** A wrong filter or sort; a rule that names what is no longer there, too. PocketBase gives no reason. */
function asInvalid<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new ServiceError('INVALID', error.kind === 'search' ? error.message : '', { cause: error })
  }
}
