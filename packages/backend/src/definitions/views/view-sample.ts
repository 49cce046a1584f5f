/** The sample of a view, before it is made. */
import type { Environment } from 'pannier/types'
import { BLANK, tooLong } from '../../fields/field-errors.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { presentValue } from '../../fields/field-types.ts'
import { randomText } from '../../gateway/chance.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { ServiceError, type FieldError } from '../../gateway/service-error.ts'
import type { Definition, ViewDefinition } from '../definition.ts'
import { idOf, VIEW_SCAFFOLD } from '../scaffolds.ts'
import { documentMaker } from './view-documents.ts'
import { derivedView } from './view-fields.ts'
import { SqlRefusal, type ViewQueries } from './view-queries.ts'

export interface ViewSample {
  readonly fields: readonly FieldDefinition[]
  /** As records are shown. */
  readonly sample: readonly JsonObject[]
}

interface SampleSource {
  readonly queries: ViewQueries
  readonly environment: Environment
}

const SAMPLE_ROWS = 10
const QUERY_CHARS_MAX = 5000

/** @throws ServiceError INVALID */
export async function sampleOf(query: string, all: readonly Definition[], source: SampleSource): Promise<ViewSample> {
  const wrong = queryError(query)
  if (wrong !== undefined)
    throw new ServiceError('INVALID', 'An error occurred while validating the submitted data.', {
      data: { query: wrong },
    })
  const name = `temp_view_${randomText(source.environment, 5)}`
  const scaffold = { ...VIEW_SCAFFOLD, id: idOf('view', name), name, viewQuery: query }
  const [described] = await source.queries.describe([scaffold], all)
  const { fields, error } = derivedView(query, described!, all, source.environment)
  if (error !== undefined) throw invalidQuery(error)
  const view = { ...scaffold, fields }
  const rows = await sampleRows(view, all, source).catch((failure: unknown) => {
    throw failure instanceof SqlRefusal ? invalidQuery(failure.message) : failure
  })
  const wrongIds = errorOfIds(rows)
  if (wrongIds !== undefined) throw invalidQuery(wrongIds)
  return { fields, sample: rows.map((row) => shown(row, view)) }
}

/** The error of the ids of the first rows. A view that takes too long is not looked at. */
export async function idsError(
  view: ViewDefinition,
  all: readonly Definition[],
  source: SampleSource,
): Promise<string | undefined> {
  try {
    return errorOfIds(await sampleRows(view, all, source))
  } catch (error) {
    if (error instanceof SqlRefusal) return undefined
    throw error
  }
}

function errorOfIds(rows: readonly JsonObject[]): string | undefined {
  const ids = rows.map(({ _id }) => _id)
  if (ids.includes('')) return 'the query could return records with empty or invalid ids'
  return new Set(ids).size < ids.length ? 'the query could return records with non-unique ids' : undefined
}

async function sampleRows(
  view: ViewDefinition,
  all: readonly Definition[],
  { queries }: SampleSource,
): Promise<readonly JsonObject[]> {
  const { columns, rows } = await queries.sample(view, all, SAMPLE_ROWS)
  return rows.map(documentMaker(view, columns))
}

function shown({ _id, ...values }: JsonObject, { id, name, fields }: ViewDefinition): JsonObject {
  const shownValues = fields.map((field) => [
    field.name,
    field.name === 'id' ? _id : presentValue(field, values[field.name]),
  ])
  const record: JsonObject = { ...Object.fromEntries(shownValues), collectionId: id, collectionName: name }
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function queryError(query: string): FieldError | undefined {
  if (query === '') return BLANK
  return query.length <= QUERY_CHARS_MAX ? undefined : tooLong(QUERY_CHARS_MAX)
}

function invalidQuery(reason: string): ServiceError {
  return new ServiceError('INVALID', `Invalid view query. Raw error: \n${reason}.`)
}
