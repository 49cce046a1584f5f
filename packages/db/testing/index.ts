/** Suites and stores for those who write a page store of their own, or anything else that has to keep our contracts. */
export { assertDefined, assertEqual, assertRejects, assertThrows, assertTrue, CheckError } from './check.ts'
export type { ExpectedError } from './check.ts'
export { prefixed } from './suite.ts'
export type { SuiteContext, Test } from './suite.ts'
