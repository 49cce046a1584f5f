/** A change of definitions as a whole: fields of views are derived, then everything is checked. */
import { createSchema } from '@pannier/rules'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { fieldError } from '../fields/field-errors.ts'
import type { Chance } from '../gateway/chance.ts'
import type { ErrorData, FieldError, ServiceError } from '../gateway/service-error.ts'
import { checkDefinition, withChanged } from './check-definition.ts'
import { checkIndexExpressions } from './check-indexes.ts'
import type { Definition, ViewDefinition } from './definition.ts'
import type { DefinitionChange, DefinitionState } from './store.ts'
import { derivedView } from './views/view-fields.ts'
import type { DescribedQuery, ViewQueries } from './views/view-queries.ts'

export interface WrongDefinition {
  readonly definition: Definition
  readonly errors: ErrorData
}

export interface ProposedChange extends DefinitionChange {
  /** The changed definitions that are wrong, and what is. */
  readonly wrong: readonly WrongDefinition[]
  /** Views that can't be read after the change. */
  readonly brokenViews: readonly ViewDefinition[]
  /** Why what is removed must stay. Hooks run as far as that. */
  readonly refusal?: ServiceError | undefined
}

export async function checkChange(
  { all: before }: Pick<DefinitionState, 'all'>,
  change: DefinitionChange,
  queries: ViewQueries,
  chance: Chance,
): Promise<ProposedChange> {
  const gone = new Set(change.removed.map(({ id }) => id))
  const proposed = withChanged(before, change.changed).filter(({ id }) => !gone.has(id))
  const proposedIds = new Set(change.changed.map(({ id }) => id))
  const views = viewsOf(proposed)
  const described = await queries.describe(views, proposed)
  const byView = new Map(views.map(({ id }, place) => [id, described[place]!]))
  const { all, viewErrors } = withViewFields(proposed, proposedIds, byView, chance)
  const old = new Map(before.map((definition) => [definition.id, definition]))
  const [schema, byId] = [createSchema(all), new Map(all.map((definition) => [definition.id, definition]))]
  const wrong: WrongDefinition[] = []
  for (const { id } of change.changed) {
    const definition = byId.get(id)!
    const context = { old: old.get(id), all, schema, viewError: viewErrors.get(id), chance }
    const errors = checkDefinition(definition, context) ?? (await indexErrors(definition, context.old, queries))
    if (errors !== undefined) wrong.push({ definition, errors })
  }
  const changed = all.filter((definition) => proposedIds.has(definition.id) || old.get(definition.id) !== definition)
  return { changed, removed: change.removed, wrong, brokenViews: viewsOf(all).filter(({ id }) => viewErrors.has(id)) }
}

async function indexErrors(
  definition: Definition,
  old: Definition | undefined,
  queries: ViewQueries,
): Promise<ErrorData | undefined> {
  const indexes = await checkIndexExpressions(definition, old, queries)
  return indexes && { indexes }
}

export function viewQueryError(reason: string): FieldError {
  return fieldError('validation_invalid_view_query', `Invalid query - ${reason}.`)
}

/** Fields of views follow their sources. */
function withViewFields(
  proposed: readonly Definition[],
  changedIds: ReadonlySet<string>,
  described: ReadonlyMap<string, DescribedQuery>,
  chance: Chance,
): {
  readonly all: readonly Definition[]
  readonly viewErrors: ReadonlyMap<string, FieldError>
} {
  const views = viewsOf(proposed)
  let all = proposed
  for (let round = 0; round <= views.length; round++) {
    const viewErrors = new Map<string, FieldError>()
    const changed: ViewDefinition[] = []
    for (const { id } of views) {
      const view = all.find((definition) => definition.id === id) as ViewDefinition
      const { fields, error } = derivedView(view.viewQuery, described.get(id)!, all, chance)
      if (error !== undefined) viewErrors.set(id, viewQueryError(error))
      // A view that was right, and does not change, keeps its fields.
      if ((error === undefined || changedIds.has(id)) && !isSame(fields, view.fields)) changed.push({ ...view, fields })
    }
    if (changed.length === 0) return { all, viewErrors }
    all = withChanged(all, changed)
  }
  throw new Error('Fields of views never settle.')
}

function viewsOf(all: readonly Definition[]): readonly ViewDefinition[] {
  return all.filter((definition) => definition.type === 'view')
}

/** Apart from ids, which have no source. */
function isSame(fields: readonly FieldDefinition[], others: readonly FieldDefinition[]): boolean {
  const text = (list: readonly FieldDefinition[]): string => JSON.stringify(list.map((field) => ({ ...field, id: '' })))
  return text(fields) === text(others)
}
