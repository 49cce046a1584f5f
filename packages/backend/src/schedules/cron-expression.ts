/** Cron expressions as PocketBase reads them: a macro, or five segments of numbers. */

const MACROS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
])

/** Minute, hour, day of the month, month, day of the week. */
const RANGES: readonly (readonly [min: number, max: number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
]

const WRONG_FORM = 'must be a valid macro or to have exactly 5 space separated segments'
const WRONG_RANGE = 'the range must have 1 or 2 parts'
const NUMBER = /^[+-]?\d+$/

/** The error of the expression, in PocketBase's words; undefined if it is right. */
export function cronProblem(expression: string): string | undefined {
  if (MACROS.has(expression)) return undefined
  const segments = expression.split(' ')
  if (segments.length !== RANGES.length) return `invalid cron expression - ${WRONG_FORM}`
  for (const [at, [min, max]] of RANGES.entries())
    for (const part of segments[at]!.split(',')) {
      const problem = partProblem(part, min, max)
      if (problem !== undefined) return problem
    }
  return undefined
}

function partProblem(part: string, min: number, max: number): string | undefined {
  const [range = '', step, ...more] = part.split('/')
  if (more.length > 0) return 'invalid segment step format - must be in the format */n or 1-30/n'
  if (step !== undefined) {
    if (!NUMBER.test(step)) return notANumber(step)
    if (Number(step) < 1 || Number(step) > max)
      return `invalid segment step boundary - the step must be between 1 and the ${max}`
  }
  if (range === '*') return undefined
  const [first = '', last, ...others] = range.split('-')
  if (others.length > 0) return `invalid segment range format - ${WRONG_RANGE}`
  if (last === undefined) return valueProblem(first, step ?? '1', min, max)
  if (!NUMBER.test(first)) return notANumber(first)
  if (Number(first) < min || Number(first) > max)
    return `invalid segment range minimum - must be between ${min} and ${max}`
  if (!NUMBER.test(last)) return notANumber(last)
  if (Number(last) < Number(first) || Number(last) > max)
    return `invalid segment range maximum - must be between ${Number(first)} and ${max}`
  return undefined
}

function valueProblem(value: string, step: string, min: number, max: number): string | undefined {
  if (Number(step) !== 1) return 'invalid segment step - step > 1 could be used only with the wildcard or range format'
  if (!NUMBER.test(value)) return notANumber(value)
  return Number(value) < min || Number(value) > max
    ? 'invalid segment value - must be between the min and max of the segment'
    : undefined
}

/** In Go's words. */
function notANumber(text: string): string {
  return `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
}
