/** Starts the files that take longest first, so that all workers end at about the same time. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { laneOf, type Lane } from './lanes.ts'

const ORDER: readonly Lane[] = ['real', 'wired', 'pure']

export class LongFirst extends BaseSequencer {
  /** Within a lane as vitest sorts them: by what they took before, else by size. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId))
  }
}

function rankOf(path: string): number {
  return ORDER.indexOf(laneOf(path))
}
