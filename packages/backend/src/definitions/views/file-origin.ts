/** Where a file field of a view comes from. */
import { isMany, type FieldDefinition } from '../../fields/field-definition.ts'
import type { Definition, ViewDefinition } from '../definition.ts'
import { isSameName } from '../index-statement.ts'
import { SqlError } from '../sql/tokens.ts'
import { planOf, tableOfColumn } from './view-plan.ts'

/** A field of a collection that has records. */
export interface FieldOrigin {
  readonly definition: Definition
  readonly field: string
  readonly isMany: boolean
  /** It has a view rule of its own, or is a column of a view of such a field. */
  readonly isRuled: boolean
}

/** Undefined if the view no longer fits what it reads. */
export function fileOrigin(
  { viewQuery }: ViewDefinition,
  name: string,
  all: readonly Definition[],
): FieldOrigin | undefined {
  try {
    const plan = planOf(viewQuery, all)
    const expression = plan.select.columns.find((column) => column.name === name)?.expression
    if (expression?.kind !== 'column') return undefined
    const { definition } = tableOfColumn(plan, expression)
    const field = definition.fields.find((one: FieldDefinition) => isSameName(one.name, expression.name))
    if (field?.type !== 'file') return undefined
    if (definition.type === 'view') return fileOrigin(definition, field.name, all)
    return { definition, field: field.name, isMany: isMany(field), isRuled: field.viewRule !== undefined }
  } catch (error) {
    if (error instanceof SqlError) return undefined
    throw error
  }
}
