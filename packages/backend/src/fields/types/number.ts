/** Fields of type `number`. */
import type { FieldError } from '../../gateway/service-error.ts'
import { toNumber } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption, numberOption } from '../options.ts'
import { isScalar, refuse } from '../program-readers.ts'

export interface NumberField extends FieldBase, Requirable {
  readonly type: 'number'
  readonly min: number | null
  readonly max: number | null
  readonly onlyInt: boolean
}

const ONLY_INT = fieldError('validation_only_int_constraint', 'Decimal numbers are not allowed.')
const NO_NUMBER = fieldError('validation_not_a_number', 'The submitted number is not properly formatted.')

export const NUMBER: FieldType<NumberField> = {
  options: { max: numberOption, min: numberOption, onlyInt: flagOption, required: flagOption },
  column: 'NUMERIC',
  order: 'number',
  isIndexable: true,
  empty: () => 0,
  cast: (_, value) => toNumber(value),
  ofProgram(value, place) {
    if (typeof value === 'bigint') return Number(value)
    return isScalar(value) ? value : refuse('a finite number', value, place)
  },
  check({ required, onlyInt, min, max }, given) {
    const value = given as number
    if (!Number.isFinite(value)) return NO_NUMBER
    if (value === 0) return required ? BLANK : undefined
    if (onlyInt && !isInteger(value)) return ONLY_INT
    if (min !== null && value < min) return tooSmall(min)
    if (max !== null && value > max) {
      return fieldError('validation_max_number_constraint', 'Must be less or equal than {max}.', { max })
    }
    return undefined
  },
  checkOptions({ min, max, onlyInt }) {
    const isDecimal = (option: number | null): boolean => onlyInt && option !== null && !isInteger(option)
    const isLess = min !== null && max !== null && max < min
    return {
      min: isDecimal(min) ? ONLY_INT : undefined,
      max: isDecimal(max) ? ONLY_INT : isLess ? tooSmall(min) : undefined,
    }
  },
  modifiers: ['add', 'remove'],
  modify(_, modifier, value, input) {
    return toNumber(value) + (modifier === 'add' ? 1 : -1) * toNumber(input)
  },
  modifierType: () => 'number',
  readType: () => 'number',
}

function tooSmall(min: number): FieldError {
  return fieldError('validation_min_number_constraint', 'Must be greater or equal than {min}.', { min })
}

/** Whether a number is an integer of 64 bits. */
function isInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}
