/** Arguments that are numbers of rows. */

export function checkedCount(rows: number, what: string): number {
  if (!Number.isSafeInteger(rows) || rows < 0)
    throw new TypeError(`${what} takes a number of rows, not ${String(rows)}.`)
  return rows
}
