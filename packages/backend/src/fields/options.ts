/** Readers of options of fields, as JSON has them: a value of a wrong type is not taken for another. */
import { readDate } from './date-text.ts'

export function textOption(value: unknown): unknown {
  return read(value, '', typeof value === 'string')
}

export function flagOption(value: unknown): unknown {
  return read(value, false, typeof value === 'boolean')
}

export function integerOption(value: unknown): unknown {
  return read(value, 0, Number.isInteger(value))
}

/** `null` if the option is missing. */
export function numberOption(value: unknown): unknown {
  return read(value, null, typeof value === 'number')
}

/** `null` if the option is missing. */
export function textsOption(value: unknown): unknown {
  if (!Array.isArray(value)) return read(value, null, false)
  // Go reads null as the empty text.
  const texts: unknown[] = value.map((each: unknown) => each ?? '')
  return texts.every((each) => typeof each === 'string') ? texts : undefined
}

export function dateOption(value: unknown): unknown {
  return typeof value === 'string' ? readDate(value) : read(value, '', false)
}

/** Undefined: it is of a wrong type. */
function read(value: unknown, otherwise: unknown, isRight: boolean): unknown {
  if (value === undefined || value === null) return otherwise
  return isRight ? value : undefined
}
