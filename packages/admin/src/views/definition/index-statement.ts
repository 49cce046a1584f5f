/** `CREATE INDEX` statements, as far as the page makes and shows them. What it does not know stays as it was typed. */

interface IndexParts {
  readonly name: string
  readonly isUnique: boolean
  /** The columns as written: `title`, `created DESC`. */
  readonly columns: readonly string[]
  readonly where: string
}

const STATEMENT =
  /^\s*create\s+(unique\s+)?index\s+(?:if\s+not\s+exists\s+)?(\S+)\s+on\s+(\S+)\s*\(([^()]*)\)\s*(?:where\s+([\s\S]+))?$/i

/** Undefined: it has expressions, or is no such statement. */
export function indexParts(statement: string): IndexParts | undefined {
  const [whole, unique, name = '', , columns = '', where = ''] = STATEMENT.exec(statement) ?? []
  if (whole === undefined) return undefined
  const written = columns.split(',').map((column) =>
    column
      .trim()
      .replaceAll(/[`"[\]]/g, '')
      .replaceAll(/\s+/g, ' '),
  )
  return {
    name: name.replaceAll(/[`"[\]]/g, ''),
    isUnique: unique !== undefined,
    columns: written,
    where: where.trim(),
  }
}

/** `columns`: names, with `-` before them for the other direction. */
export function indexStatement(table: string, name: string, isUnique: boolean, columns: readonly string[]): string {
  const list = columns.map((column) => (column.startsWith('-') ? `\`${column.slice(1)}\` DESC` : `\`${column}\``))
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX \`${name}\` ON \`${table}\` (${list.join(', ')})`
}

/** A name that no other index has: indexes of all collections share one space of names. */
export function newIndexName(table: string, columns: readonly string[], taken: readonly string[]): string {
  const names = new Set(taken.map((statement) => indexParts(statement)?.name.toLowerCase()))
  const base = `idx_${table}_${columns.map((column) => column.replace(/^-/, '')).join('_')}`.slice(0, 60)
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}_${number}`
    if (!names.has(name.toLowerCase())) return name
  }
}

/** Whether an index reads a field. */
export function readsColumn(statement: string, name: string): boolean {
  return new RegExp(`[(,\\s\`"[]${name}[)\\],\\s\`"]`, 'i').test(statement.slice(statement.indexOf('(')))
}

/** Fields with other names, in the columns and the condition. Texts in quotes stay. */
export function withRenamedColumns(statement: string, names: ReadonlyMap<string, string>): string {
  const open = statement.indexOf('(')
  if (open < 0 || names.size === 0) return statement
  const rest = statement.slice(open).replaceAll(/'(?:[^']|'')*'|\w+/g, (word) => names.get(word) ?? word)
  return statement.slice(0, open) + rest
}
