/** Reports: SELECTs that superusers keep, and that others may run. docs/internals/reports.md is the contract. */
import { createSchema, type Schema } from '@pannier/rules'
import type { Database, Transaction } from 'pannier'
import type { Environment } from 'pannier/types'
import { Access } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import { checkRule, errorsOf } from '../definitions/check-rule.ts'
import type { BaseDefinition, Definition } from '../definitions/definition.ts'
import type { Definitions, ImportedBeside } from '../definitions/definitions.ts'
import { parameterValues, queryError, reportOf, type ParameterValue, type Report } from '../definitions/report.ts'
import { QueryResults } from '../definitions/views/query-results.ts'
import { SqlRefusal } from '../definitions/views/view-queries.ts'
import { dateText } from '../fields/date-text.ts'
import { NOT_UNIQUE } from '../fields/field-errors.ts'
import { ANSWER_BYTES_MAX } from '../gateway/answer-room.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { jsonSize } from '../gateway/json-text.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import { STATE_COLLECTION } from '../gateway/state.ts'
import type { MigrationFolder } from '../migrations/migration-folder.ts'
import { isPresent } from '../model/model-schema.ts'
import type { JsonRows } from '../model/protocol.ts'
import type { ReadModel, ReadyView } from '../model/read-model.ts'
import type { RecordReads } from '../records/record-reads.ts'
import { admittedOf } from '../records/read/admitted.ts'

interface ReportsParts {
  readonly environment: Environment
  readonly database: Database
  readonly definitions: Definitions
  readonly model: Pick<ReadModel, 'readySelect' | 'selectError' | 'selectRows' | 'upTo'>
  readonly access: Pick<Access, 'revisions'>
  readonly reads: Pick<RecordReads, 'inSnapshot'>
  readonly journal: MigrationFolder | undefined
}

/** The answer of a report. */
export interface ReportResult extends JsonRows {
  /** The newest commit that the rows have, as this server counts them since its start. */
  readonly commit: number
}

const STATE_ID = 'reports'
const REPORTS_MAX = 1000
const ROWS_MAX = 100_000
/** All answers that are kept. */
const KEPT_BYTES_MAX = 4 * ANSWER_BYTES_MAX

/** The rule of a report is about the request only. */
const OF_REPORT: BaseDefinition = {
  id: '$report',
  name: '$report',
  type: 'base',
  system: true,
  listRule: null,
  viewRule: null,
  createRule: null,
  updateRule: null,
  deleteRule: null,
  fields: [],
  indexes: [],
  created: '',
  updated: '',
}

/** Keeps reports, and runs them. Get it from a backend. */
export class Reports {
  readonly #parts: ReportsParts
  readonly #known: RuledReports
  readonly #access: Access
  readonly #results: QueryResults<ReadyView, JsonRows>

  constructor(parts: ReportsParts) {
    this.#parts = parts
    this.#known = new RuledReports(parts.definitions)
    this.#access = new Access(this.#known, parts.access.revisions, parts.environment)
    this.#results = new QueryResults(parts.model, ({ rows }) => jsonSize(rows), KEPT_BYTES_MAX)
  }

  /** In the order of their names. @throws ServiceError FORBIDDEN */
  async list(principal: Principal): Promise<readonly Report[]> {
    checkSuperuser(principal)
    return (await this.#all()).toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  /** @throws ServiceError FORBIDDEN, INVALID with data */
  create(principal: Principal, input: unknown): Promise<Report> {
    return this.#change(principal, undefined, input, 'Failed to create report.')
  }

  /** Changes a report; parts that are left out stay. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID with data */
  async update(principal: Principal, name: string, input: unknown): Promise<Report> {
    checkSuperuser(principal)
    return this.#change(principal, await this.#get(name), input, 'Failed to update report.')
  }

  /** @throws ServiceError FORBIDDEN, NOT_FOUND */
  async delete(principal: Principal, name: string): Promise<void> {
    checkSuperuser(principal)
    await this.#store(await this.#get(name), undefined)
  }

  /** Makes all reports of a list, or changes those of their names. `deleteMissing` deletes others. @throws ServiceError FORBIDDEN, INVALID with data */
  async import(principal: Principal, list: readonly unknown[], deleteMissing: boolean): Promise<void> {
    const importing = this.importing(principal, list, deleteMissing)
    await importing.check(this.#parts.definitions.all())
    await this.#parts.database.transaction((transaction) => importing.store(transaction))
  }

  /** As `import`, with an import of definitions. */
  importing(principal: Principal, list: readonly unknown[], deleteMissing: boolean): ImportedBeside {
    const reports = new Map<string, Report>()
    return {
      check: async (definitions) => {
        const all = await this.list(principal)
        for (const [at, input] of list.entries()) {
          const old = all.find(({ name }) => name === (input as { readonly name?: unknown } | null)?.name)
          const report = await this.#checked(input, old, 'Failed to import reports.', { definitions, at })
          if (reports.has(report.name)) throw invalid(`The list has two reports "${report.name}". Leave one out.`)
          reports.set(report.name, report)
        }
      },
      store: (transaction) => {
        const isKept = ({ name }: Report): boolean => !deleteMissing && !reports.has(name)
        return replace(transaction, (now) => [...now.filter(isKept), ...reports.values()])
      },
    }
  }

  /**
   * Runs a report with the parameters of the request. The rules of collections are not asked: that of the report is.
   *
   * @throws ServiceError NOT_FOUND; UNAUTHENTICATED, FORBIDDEN; INVALID with data for a parameter, or with what SQLite says
   */
  async run(actor: Actor, name: string): Promise<ReportResult> {
    const report = await this.#get(name)
    const { isAdmin, account } = actor.principal
    if (report.rule === null && !isAdmin) throw notAdmitted(account !== undefined)
    const values = parameterValues(report, actor.request.query)
    if (!isAdmin && !(await this.#admits(actor, report, values))) throw notAdmitted(account !== undefined)
    return this.#answer(report, values, actor)
  }

  /** Answers a report that is not stored, with the defaults of its parameters. @throws ServiceError FORBIDDEN, INVALID with data */
  async preview(actor: Actor, input: JsonObject): Promise<ReportResult> {
    checkSuperuser(actor.principal)
    const report = await this.#checked({ ...input, name: 'preview' }, undefined, 'The query is refused.')
    return this.#answer(report, parameterValues(report, {}), actor)
  }

  async #answer(
    { name, query }: Report,
    values: ReadonlyMap<string, ParameterValue>,
    { principal, budget }: Actor,
  ): Promise<ReportResult> {
    try {
      const ready = await this.#parts.model.readySelect(query)
      const asked = (hasPresent(values) ? ready.atPresent : undefined) ?? ready
      const key = JSON.stringify([query, ...Array.from(values, ([one, value]) => [one, String(value), typeof value])])
      const { result, at } = await this.#results.get(key, asked, (commit) => this.#read(ready, values, commit))
      budget?.take(jsonSize(result.rows))
      return { ...result, commit: at }
    } catch (error) {
      if (!(error instanceof SqlRefusal)) throw error
      // What SQLite says may name what only superusers know of.
      const reason = principal.isAdmin ? `: ${error.message}` : '.'
      throw new ServiceError('INVALID', `The report "${name}" can't be run${reason}`, { cause: error })
    }
  }

  async #read(ready: ReadyView, values: ReadonlyMap<string, ParameterValue>, commit: number): Promise<JsonRows> {
    const limited = { ...ready, request: { ...ready.request, limit: ROWS_MAX + 1 } }
    const result = await this.#parts.model.selectRows(limited, Object.fromEntries(values), commit)
    if (result.rows.length > ROWS_MAX)
      throw new SqlRefusal(`it has more than ${ROWS_MAX} rows: aggregate them, or set a LIMIT`)
    return result
  }

  /** The rule reads the parameters as `@request.query`: the values that SQLite gets, as texts. */
  async #admits(actor: Actor, { name, rule }: Report, values: ReadonlyMap<string, ParameterValue>): Promise<boolean> {
    const query = Object.fromEntries(Array.from(values, ([one, value]) => [one, String(value ?? '')]))
    const asking = { ...actor, request: { ...actor.request, query } }
    const definition = { ...OF_REPORT, viewRule: rule }
    if (this.#access.isLocked(asking, definition, 'view')) return false
    const { definitions, reads } = this.#parts
    const asked = { actor: asking, definition, action: 'view' as const, documents: [{ _id: name }] }
    const admitted = await definitions.steadily(() =>
      reads.inSnapshot((snapshot) => admittedOf(snapshot, this.#access, asked)),
    )
    return admitted?.length === 1
  }

  async #all(): Promise<readonly Report[]> {
    return reportsIn(await this.#parts.database.collection<JsonObject>(STATE_COLLECTION).get(STATE_ID))
  }

  async #get(name: string): Promise<Report> {
    const report = (await this.#all()).find((one) => one.name === name)
    if (report === undefined) throw missing(`There is no report "${name}".`)
    return report
  }

  async #change(principal: Principal, old: Report | undefined, input: unknown, message: string): Promise<Report> {
    checkSuperuser(principal)
    const report = await this.#checked(input, old, message)
    await this.#store(old, report, message)
    return report
  }

  /** @throws ServiceError INVALID with data */
  async #checked(
    input: unknown,
    old: Report | undefined,
    message: string,
    { definitions = this.#parts.definitions.all(), at }: CheckOptions = {},
  ): Promise<Report> {
    const { report, errors } = reportOf(input, old)
    const data = errors ?? (await this.#deepErrors(report, definitions))
    if (data !== undefined)
      throw new ServiceError('INVALID', message, { data: at === undefined ? data : { reports: { [at]: data } } })
    const now = dateText(this.#parts.environment.wallClock())
    return { ...report, created: old?.created ?? now, updated: now }
  }

  /** Errors that only SQLite and the definitions know. */
  async #deepErrors(
    { query, rule }: Pick<Report, 'query' | 'rule'>,
    definitions: readonly Definition[],
  ): Promise<ServiceError['data']> {
    const refusal = await this.#parts.model.selectError(query, definitions)
    const schema = createSchema([...definitions, OF_REPORT])
    return errorsOf({
      query: refusal === undefined ? undefined : queryError(refusal),
      rule: checkRule(rule, schema, OF_REPORT.id),
    })
  }

  /** @throws ServiceError INVALID with data if another report has the name */
  async #store(before: Report | undefined, after: Report | undefined, message = ''): Promise<void> {
    const entry = await this.#parts.journal?.beginReport({ before, after })
    try {
      await this.#parts.database.transaction(async (transaction) => {
        await replace(transaction, (all) => {
          const others = all.filter(({ name }) => name !== before?.name)
          if (others.some(({ name }) => name === after?.name))
            throw new ServiceError('INVALID', message, { data: { name: NOT_UNIQUE } })
          return after === undefined ? others : [...others, after]
        })
        await entry?.note(transaction)
      })
    } catch (error) {
      await entry?.undo()
      throw error
    }
  }
}

interface CheckOptions {
  /** The stored ones when left out. */
  readonly definitions?: readonly Definition[]
  /** The place in a list. */
  readonly at?: number
}

async function replace(transaction: Transaction, change: (all: readonly Report[]) => readonly Report[]): Promise<void> {
  const documents = transaction.collection<JsonObject>(STATE_COLLECTION)
  const reports = change(reportsIn(await documents.get(STATE_ID)))
  if (reports.length > REPORTS_MAX) throw invalid(`There are ${REPORTS_MAX} reports already. Delete some first.`)
  await documents.upsert({ _id: STATE_ID, reports })
}

/** All definitions, and that of a report. */
class RuledReports implements KnownDefinitions {
  readonly #definitions: Definitions
  #made: { readonly of: Schema; readonly schema: Schema } | undefined

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  find(nameOrId: string): ReturnType<Definitions['find']> {
    return nameOrId === OF_REPORT.id ? OF_REPORT : this.#definitions.find(nameOrId)
  }

  all(): ReturnType<Definitions['all']> {
    return this.#definitions.all()
  }

  get schema(): Schema {
    const of = this.#definitions.schema
    if (this.#made?.of !== of) this.#made = { of, schema: createSchema([...this.all(), OF_REPORT]) }
    return this.#made.schema
  }
}

function reportsIn(document: JsonObject | undefined): readonly Report[] {
  return (document?.['reports'] ?? []) as readonly Report[]
}

function hasPresent(values: ReadonlyMap<string, ParameterValue>): boolean {
  return Array.from(values.values()).some((value) => typeof value === 'string' && isPresent(value))
}

function notAdmitted(isAccount: boolean): ServiceError {
  return isAccount
    ? forbidden('The authorized record is not allowed to run this report.')
    : new ServiceError('UNAUTHENTICATED', 'The report requires valid record authorization token.')
}

function checkSuperuser({ isAdmin }: Principal): void {
  if (!isAdmin) throw forbidden('Only superusers can perform this action.')
}
