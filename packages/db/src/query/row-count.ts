/** Arguments that are numbers of rows. */

export function checkedCount(rows: number, what: string): number {
  if (!Number.isSafeInteger(rows) || rows < 0)
    throw new TypeError(`${what} takes a number of rows, not ${typeof rows === 'number' ? rows : `a ${typeof rows}`}.`)
  return rows
}
