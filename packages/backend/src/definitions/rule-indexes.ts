/** Indexes that a collection has by itself, as its list rule compares these fields with a value. */
import { crc32 } from 'node:zlib'
import { parse, RuleError, type Comparison, type Expression, type Operand } from '@pannier/rules'
import { isMany } from '../fields/field-definition.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Definition } from './definition.ts'

/** An index of a rule, as the library takes it. */
interface RuleIndex {
  readonly on: string
  readonly multi: boolean
  readonly name: string
}

/** Indexes for each field that the list rule compares by `=`, `<`, `<=`, `>` or `>=` with a value, or a name of the request. */
export function ruleIndexesOf({ listRule, fields }: Pick<Definition, 'listRule' | 'fields'>): readonly RuleIndex[] {
  const compared = new Set(listRule === null || listRule === '' ? [] : lookUps(listRule).flatMap(pathsOf))
  return fields.flatMap((field) => {
    const { name } = field
    const { isIndexable } = typeOfField(field)
    const multi = isMany(field)
    if (name === 'id' || !isIndexable || !compared.has(multi ? `${name}:each` : name)) return []
    return [{ on: name, multi, name: `rule ${name} ${crc32(`${name} ${multi}`)}` }]
  })
}

const LOOKED_UP: ReadonlySet<Comparison['operator']> = new Set(['=', '<', '<=', '>', '>='])

/** The comparisons that an index answers by one range of it. */
function lookUps(rule: string): readonly Comparison[] {
  try {
    return comparisonsOf(parse(rule)).filter(({ operator }) => LOOKED_UP.has(operator))
  } catch (error) {
    if (error instanceof RuleError) return []
    throw error
  }
}

function comparisonsOf(expression: Expression): readonly Comparison[] {
  return expression.kind === 'comparison' ? [expression] : expression.of.flatMap(comparisonsOf)
}

/** The side that is a path, if the other one does not depend on the record. */
function pathsOf({ left, right }: Comparison): string[] {
  const [one, other] = [pathOf(left), pathOf(right)]
  return one === undefined || other === undefined ? [one ?? other ?? ''] : []
}

function pathOf(operand: Operand): string | undefined {
  if (operand.kind === 'call') return ''
  const isPath = operand.kind === 'name' && !/^(@|(null|true|false)$)/i.test(operand.name)
  return isPath ? operand.name : undefined
}
