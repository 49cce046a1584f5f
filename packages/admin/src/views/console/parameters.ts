/** The parameters that a query names. */
import type { ReportParameter } from '@pannier/backend'

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*|\/\*[\s\S]*?\*\//g

/** As they were, as far as they are known. */
export function parametersOf(query: string, known: readonly ReportParameter[]): readonly ReportParameter[] {
  const found = query.replaceAll(QUOTED, ' ').matchAll(/(?<![\w:]):(\w+)/g)
  const names = new Set(Array.from(found, ([, name = '']) => name))
  return Array.from(names, (name) => known.find((one) => one.name === name) ?? { name, type: 'text' })
}

/** With the values that somebody has typed, each of the type that it looks like. Others are NULL. */
export function givenParameters(query: string, values: Readonly<Record<string, string>>): readonly ReportParameter[] {
  return parametersOf(query, []).map(({ name }) => {
    const value = values[name]
    return value === undefined ? { name, type: 'text', default: null } : { name, type: typeOf(value), default: value }
  })
}

/** `007` and `+1` are texts. */
function typeOf(text: string): ReportParameter['type'] {
  if (/^-?(?:0|[1-9]\d{0,17})$/.test(text)) return 'integer'
  return /^-?(?:0|[1-9]\d*)\.\d+$/.test(text) ? 'number' : 'text'
}
