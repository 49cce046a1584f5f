/** Fields of type `date`. */
import type { FieldError } from '../../gateway/service-error.ts'
import { timeOfDateText } from '../date-text.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { dateOption, flagOption } from '../options.ts'
import { ONE_TIME } from '../text-fields.ts'

export interface DateField extends FieldBase, Requirable {
  readonly type: 'date'
  readonly min: string
  readonly max: string
}

export const DATE: FieldType<DateField> = {
  ...ONE_TIME,
  options: { max: dateOption, min: dateOption, required: flagOption },
  check({ required, min, max }, given) {
    const value = given as string
    if (value === '') return required ? BLANK : undefined
    if (min !== '' && value < min) {
      return outOfTime('validation_min_greater_equal_than_required', 'no less', min)
    }
    return max !== '' && value > max
      ? outOfTime('validation_max_less_equal_than_required', 'no greater', max)
      : undefined
  },
  writeType: (_, { date }) => date,
}

/** `date` is in Go's form in the message, and in RFC 3339 in the parameter. */
function outOfTime(code: string, relation: string, date: string): FieldError {
  const [day, time] = new Date(timeOfDateText(date))
    .toISOString()
    .replace(/\.?0*Z$/, '')
    .split('T')
  const error = fieldError(code, `Must be ${relation} than ${day} ${time} +0000 UTC.`)
  return { ...error, params: { threshold: `${day}T${time}Z` } }
}
