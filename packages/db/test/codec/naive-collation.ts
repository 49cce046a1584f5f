/** The order of values, written as plainly as can be: the model that collation.ts and key-encoding.ts are compared with. */

const RANKS = ['missing', 'null', 'false', 'true', 'number', 'string', 'array', 'object']

export function naiveCompare(a: unknown, b: unknown): number {
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return RANKS.indexOf(kind) - RANKS.indexOf(kindOf(b))
  if (kind === 'number') return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
  if (kind === 'string') return compareLists(codePoints(a as string), codePoints(b as string))
  if (kind === 'array') return compareLists(a as unknown[], b as unknown[])
  if (kind === 'object') return compareLists(Object.entries(a as object).flat(), Object.entries(b as object).flat())
  return 0
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object'
  return typeof value
}

function codePoints(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0)!)
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let i = 0; ; i++) {
    if (i === a.length || i === b.length) return a.length - b.length
    const difference = naiveCompare(a[i], b[i])
    if (difference !== 0) return difference
  }
}
