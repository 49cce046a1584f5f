/** Tells the runner on the standard output, in lines, what happens. */
import { writeSync } from 'node:fs'
import type { SerializedError } from 'vitest'
import type { TestCase, TestModule, TestRunEndReason } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'

/** `file`: an absolute path. */
export type Happening =
  | { readonly kind: 'begun'; readonly file: string }
  | { readonly kind: 'failed'; readonly file: string; readonly test: string; readonly message: string }
  | { readonly kind: 'ended'; readonly file: string; readonly passed: boolean }
  | { readonly kind: 'over'; readonly message: string | undefined }

/** Begins the lines. */
export const MARK = '@mutants '
const MESSAGE_CHARS_MAX = 300

export class MutantReporter implements Reporter {
  onTestModuleQueued({ moduleId }: TestModule): void {
    tell({ kind: 'begun', file: moduleId })
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result()
    if (state === 'failed')
      tell({ kind: 'failed', file: test.module.moduleId, test: test.fullName, message: messageOf(errors) })
  }

  onTestModuleEnd(module: TestModule): void {
    const passed = module.ok()
    const errors = module.errors()
    if (errors.length > 0) tell({ kind: 'failed', file: module.moduleId, test: 'the file', message: messageOf(errors) })
    tell({ kind: 'ended', file: module.moduleId, passed })
  }

  onTestRunEnd(_: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    tell({ kind: 'over', message: errors.length > 0 || reason === 'failed' ? messageOf(errors) : undefined })
  }
}

function messageOf(errors: readonly { readonly message?: string }[] = []): string {
  return String(errors[0]?.message ?? 'It failed.').slice(0, MESSAGE_CHARS_MAX)
}

function tell(happening: Happening): void {
  writeSync(1, `${MARK}${JSON.stringify(happening)}\n`)
}
