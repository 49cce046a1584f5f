/** CSV (RFC 4180) for spreadsheets: lines that end with CRLF, and quotes where they are needed. No text is a formula. */

export function csvOf(rows: Iterable<readonly (string | number | null)[]>): string {
  return Array.from(rows, (row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}

/**
 * A spreadsheet computes a text that begins so, and a formula may open addresses. Numbers of telephones and the like are none. The
 * apostrophes are of texts that were formulas before.
 */
const FORMULA = /^'*(?:[=@\t\r]|[+-](?![\d\s().,/+-]*(?:e[+-]?\d+)?$))/

/** An apostrophe makes a formula a text. The import of the admin page takes it away. */
function cellOf(value: string | number | null): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
