/** The parameters that a query names. */
import type { ReportParameter } from '../../api/reports.ts'

const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*|\/\*[\s\S]*?\*\//g

/** As they were, as far as they are known. */
export function parametersOf(query: string, known: readonly ReportParameter[]): readonly ReportParameter[] {
  const found = query.replaceAll(QUOTED, ' ').matchAll(/(?<![\w:]):(\w+)/g)
  const names = new Set(Array.from(found, ([, name = '']) => name))
  return Array.from(names, (name) => known.find((one) => one.name === name) ?? { name, type: 'text' })
}
