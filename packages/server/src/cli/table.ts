/** A table of text: the second to the last but one columns are numbers, and stand to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const last = head.length - 1
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const format = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 || at === last ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(format).join('\n')
}
