/** CSV (RFC 4180): lines that end with CRLF, and quotes where they are needed. */

export function csvOf(rows: Iterable<readonly (string | number | null)[]>): string {
  return Array.from(rows, (row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}

function cellOf(value: string | number | null): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
