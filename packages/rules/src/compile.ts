/** Rules as selections, for a query planner: `@pannier/rules/compile`. Apps that only evaluate do without it. */
export { compile } from './compile-rule.ts'
export type { Compiled } from './selection.ts'
export { requiredText, type RequiredText } from './required-text.ts'
export { compareSortValues, sortPaths, sortValues, type SortPath } from './sort.ts'
