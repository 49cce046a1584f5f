/** The fields of a view, as PocketBase derives them from its columns. */
import { checkField } from '../../fields/check-field.ts'
import { completeField } from '../../fields/complete-fields.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { randomText, type Chance } from '../../gateway/chance.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import type { Definition, ViewDefinition } from '../definition.ts'
import { isSameName } from '../index-statement.ts'
import { rawMessage } from '../raw-message.ts'
import { columnsOf, type SqlExpression } from '../sql/expression.ts'
import { SqlError } from '../sql/tokens.ts'
import { planOf, tableOfColumn, type ViewPlan, type ViewTable } from './view-plan.ts'
import type { SelectColumn } from './select.ts'

/** The fields of a view, and why it can't be. */
interface DerivedView {
  readonly fields: readonly FieldDefinition[]
  readonly error: string | undefined
}

export function derivedView(
  view: Pick<ViewDefinition, 'viewQuery' | 'id'>,
  all: readonly Definition[],
  chance: Chance,
): DerivedView {
  try {
    const plan = planOf(view.viewQuery, all)
    checkCircles(view.id, plan, all)
    const fields: FieldDefinition[] = []
    for (const column of plan.select.columns) fields.push(completeField(fieldOf(column, plan, chance), fields))
    return { fields, error: errorIn(fields, all, chance) }
  } catch (error) {
    if (error instanceof SqlError) return { fields: [], error: error.message }
    throw error
  }
}

function errorIn(fields: readonly FieldDefinition[], all: readonly Definition[], chance: Chance): string | undefined {
  if (!fields.some(({ name }) => name === 'id')) return NO_ID
  const typeOf = (id: string): Definition['type'] | undefined => all.find((other) => other.id === id)?.type
  for (const [place, field] of fields.entries()) {
    const errors = checkField(field, { definition: { type: 'view', fields }, old: undefined, typeOf, chance })
    const [first] = Object.entries(errors ?? {})
    if (first !== undefined)
      return `invalid field "${field.name}" (${place}): ${first[0]}: ${rawMessage(first[1] as FieldError)}`
  }
  return undefined
}

const NO_ID = "missing required id column (you can use `(ROW_NUMBER() OVER()) as id` if you don't have one)"

/** A view that reads itself has no rows. */
function checkCircles(
  id: string | undefined,
  plan: ViewPlan,
  all: readonly Definition[],
  seen: readonly string[] = [],
): void {
  for (const { definition } of plan.tables) {
    if (definition.type !== 'view') continue
    if (definition.id === id || seen.includes(definition.id))
      throw new SqlError(`view ${definition.name} is circularly defined`)
    checkCircles(id, planOf(definition.viewQuery, all), all, [...seen, definition.id])
  }
}

/** What `completeField` takes. */
function fieldOf(
  { expression, name }: SelectColumn,
  plan: ViewPlan,
  chance: Chance,
): Readonly<Record<string, unknown>> {
  const isTelling = columnsOf(expression).some((column) => isProtected(plan, column))
  if (name === 'id' && isTelling) throw new SqlError('the id shows a field that not everybody may see')
  if (name === 'id')
    return { name, type: 'text', system: true, required: true, primaryKey: true, pattern: '^[a-z0-9]+$' }
  if (expression.kind === 'column')
    return { ...fieldOfColumn(tableOfColumn(plan, expression), expression.name, chance), name }
  return { name, ...computedField(expression), ...(isTelling && { hidden: true }) }
}

function computedField(expression: SqlExpression): Readonly<Record<string, unknown>> {
  if (expression.kind === 'call' && expression.name === 'count') return INTEGER
  if (expression.kind === 'call' && expression.name === 'total') return NUMBER
  return expression.kind === 'cast' ? (CASTS.get(expression.type) ?? JSON_FIELD) : JSON_FIELD
}

/** Whether what is computed of a column would tell what a rule, or nobody, may show. */
function isProtected(plan: ViewPlan, column: { readonly table: string; readonly name: string }): boolean {
  const { definition } = tableOfColumn(plan, column)
  const field = definition.fields.find((one) => isSameName(one.name, column.name))
  if (field === undefined) return false
  const isSecret = field.type === 'password' || (definition.type === 'auth' && field.name === 'tokenKey')
  return isSecret || field.hidden || field.viewRule !== undefined
}

function fieldOfColumn({ definition }: ViewTable, name: string, chance: Chance): Readonly<Record<string, unknown>> {
  const field = definition.fields.find((one) => isSameName(one.name, name))
  if (field === undefined) return JSON_FIELD
  if (field.name === 'id') return { type: 'relation', maxSelect: 1, collectionId: definition.id }
  const { viewRule, updateRule: _, searchable: __, ...shown } = field
  // A rule is about records of its own collection, and a text index is on that.
  return { ...shown, hidden: field.hidden || viewRule !== undefined, id: `_clone_${randomText(chance, 4)}` }
}

/** `maxSize` is that of PocketBase's JSON; nothing is stored here. */
const JSON_FIELD = { type: 'json', maxSize: 1 }

const NUMBER = { type: 'number' }
const INTEGER = { type: 'number', onlyInt: true }
const BOOL = { type: 'bool' }
const CASTS: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map(
  Object.entries<Readonly<Record<string, unknown>>>({
    real: NUMBER,
    decimal: NUMBER,
    numeric: NUMBER,
    int: INTEGER,
    integer: INTEGER,
    text: { type: 'text' },
    boolean: BOOL,
    bool: BOOL,
  }),
)
