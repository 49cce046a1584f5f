/** Rules cut at a record's own fields, for those who keep what many accounts see: `@pannier/rules/cut`. */
export { costOf, type AlternativeCost, type CutCost, type RuleCost } from './cut-cost.ts'
export { cut, type Alternative, type Cut, type CutOptions } from './cut-rule.ts'
export type { OwnRange, OwnSet, SetStep } from './cut-groups.ts'
export type { AtomNumber } from './cut-atoms.ts'
export { holdingsOf, type Holding, type Holdings, type Parameters, type ValueSet } from './holdings.ts'
export { recordSide, Viewer, type RecordSide } from './viewer.ts'
