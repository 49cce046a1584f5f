/**
 * The order in which contenders run: cell by cell, and within a cell in turn (A B A B …). So other load on the machine
 * affects all alike, and repeats can be compared in pairs.
 */
import type { Cell, Suite } from '../suites/suite.ts'

export interface Turn {
  readonly suite: Suite
  readonly cell: Cell
  readonly contender: string
  /** The number of the repeat, from 1. */
  readonly repeat: number
}

export interface ScheduleOptions {
  readonly suites: readonly { readonly suite: Suite; readonly cells: readonly Cell[] }[]
  readonly contenders: readonly string[]
  readonly repeats: number
}

/** Runs every cell once before any cell a second time, so that a run that is stopped early has figures of all cells. */
export function schedule({ suites, contenders, repeats }: ScheduleOptions): Turn[] {
  const turns: Turn[] = []
  for (let repeat = 1; repeat <= repeats; repeat++) {
    for (const { suite, cells } of suites) {
      for (const cell of cells) {
        for (const contender of contenders) turns.push({ suite, cell, contender, repeat })
      }
    }
  }
  return turns
}
