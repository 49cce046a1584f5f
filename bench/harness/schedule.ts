/**
 * In which order contenders run: cell by cell, and within a cell in turn (A B A B …), so that what else the machine does falls on
 * all alike and repeats can be compared pair by pair.
 */
import type { Cell, Suite } from '../suites/suite.ts'

export interface Turn {
  readonly suite: Suite
  readonly cell: Cell
  readonly contender: string
  /** From 1. */
  readonly repeat: number
}

export interface ScheduleOptions {
  readonly suites: readonly { readonly suite: Suite; readonly cells: readonly Cell[] }[]
  readonly contenders: readonly string[]
  readonly repeats: number
}

/** Every cell once before any a second time: whoever stops early has something of everything. */
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
