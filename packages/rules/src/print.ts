/** Writes an expression as text. `parse(print(expression))` is the same expression, except for positions. */
import type { Expression, Operand } from './ast.ts'

/**
 * Writes a rule in its shortest form: no comments, no needless parentheses.
 *
 * @example
 * print(parse('( title ~ "a" ) // draft')) // "title ~ 'a'"
 */
export function print(expression: Expression): string {
  if (expression.kind === 'comparison') {
    const { operator, any, left, right } = expression
    return `${printOperand(left)} ${any ? '?' : ''}${operator} ${printOperand(right)}`
  }
  const { kind, of } = expression
  const parts = of.map((part) =>
    part.kind === 'comparison' || (part.kind === 'and' && kind === 'or') ? print(part) : `(${print(part)})`,
  )
  return parts.join(kind === 'and' ? ' && ' : ' || ')
}

function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'name':
      return operand.name
    case 'text':
      return `'${operand.value.replaceAll(/[\\'\n\r\t]/g, (character) => ESCAPES[character as keyof typeof ESCAPES])}'`
    case 'number':
      return printNumber(operand.value)
    default:
      return `${operand.name}(${operand.of.map(printOperand).join(', ')})`
  }
}

const ESCAPES = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Without an exponent, which the language does not have. */
function printNumber(value: number): string {
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)\.?(\d*)(?:e(.+))?$/.exec(String(value))!
  if (exponent === undefined) return String(value)
  const point = whole.length + Number(exponent)
  const digits = whole + fraction
  return point > 0 ? sign + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`
}
