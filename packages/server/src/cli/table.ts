/** A table of text. Columns of numbers are aligned to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const isNumeric = head.map((_, column) => rows.every((row) => /^[\d,]*$/.test(row[column]!)))
  const format = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (isNumeric[at] === true ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(format).join('\n')
}
