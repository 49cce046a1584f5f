/**
 * How much the subscriptions of one account, or of the guests at one address, may cost: rows that their rules and filters try. So a
 * costly filter can't delay the messages of others for long.
 */
const ROWS_MAX = 500_000
/** The rows that come back in a second. */
const ROWS_A_SECOND = 100_000
/** The most budgets; with more it looks for those that are full again. */
const BUDGETS_MAX = 1000

interface Budget {
  left: number
  atMs: number
}

export class RowBudgets {
  readonly #now: () => number
  readonly #budgets = new Map<string, Budget>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Says whether anything is left. */
  spend(payer: string, rows: number): boolean {
    const budget = this.#filled(payer) ?? { left: ROWS_MAX, atMs: this.#now() }
    budget.left -= rows
    this.#budgets.set(payer, budget)
    if (this.#budgets.size > BUDGETS_MAX) for (const one of this.#budgets.keys()) this.#filled(one)
    return budget.left > 0
  }

  /** After how many seconds the payer may subscribe again; 0: now. */
  secondsUntilFree(payer: string): number {
    const left = this.#filled(payer)?.left ?? ROWS_MAX
    return left > 0 ? 0 : Math.ceil((1 - left) / ROWS_A_SECOND)
  }

  /** The budget of a payer. Forgets budgets that are filled again. */
  #filled(payer: string): Budget | undefined {
    const budget = this.#budgets.get(payer)
    if (budget === undefined) return undefined
    const nowMs = this.#now()
    const left = budget.left + ((nowMs - budget.atMs) / 1000) * ROWS_A_SECOND
    if (left >= ROWS_MAX) {
      this.#budgets.delete(payer)
      return undefined
    }
    budget.left = left
    budget.atMs = nowMs
    return budget
  }
}
