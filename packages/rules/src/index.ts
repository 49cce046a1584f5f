/** PocketBase's language of rules and filters. */
export type { Argument, Call, Comparison, Expression, Junction, Name, Numeral, Operand, Operator, Text } from './ast.ts'
export { bind, type BindOptions } from './bind.ts'
export { check, type RuleCheck } from './check.ts'
export { RuleError, type RuleErrorKind } from './errors.ts'
export { evaluate, type RowBudget } from './evaluate.ts'
export { COMPARISONS_MAX, FILTER_BYTES_MAX, parse, type ParseOptions } from './parse.ts'
export type { BoundRule } from './plan.ts'
export { print } from './print.ts'
export type { FoundRecords, RuleRecord, RuleRecords } from './records.ts'
export type { RuleRequest } from './request.ts'
export {
  createSchema,
  type Collection,
  type CollectionDefinition,
  type Field,
  type FieldDefinition,
  type Schema,
} from './schema.ts'
