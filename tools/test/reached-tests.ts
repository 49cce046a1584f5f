/** Which test files can be broken by a change: those that import a changed file, through whatever files. */
import { execFileSync } from 'node:child_process'
import { readModules } from '../checks/module-graph.ts'
import { root } from '../checks/packages.ts'

const TEST = /\.(test|browser)\.ts$|\/suites(\.wired)?\.page\.ts$/

/** Test files that reach one of these files, by path from the root; a test file reaches itself. */
export function testsThatReach(files: readonly string[]): readonly string[] {
  const importers = new Map<string, string[]>()
  for (const { path, imports } of readModules().values())
    for (const { target } of imports) importers.set(target, [...(importers.get(target) ?? []), path])
  const reached = new Set(files)
  // The set grows while it is walked.
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer)
  return [...reached].filter((file) => TEST.test(file)).toSorted()
}

/** Test files that the files changed since a commit can break, those that are not committed yet included. */
export function testsReachedSince(commit: string): readonly string[] {
  const git = (...parameters: string[]): string[] =>
    execFileSync('git', parameters, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const changed = [...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')]
  return testsThatReach(changed)
}
