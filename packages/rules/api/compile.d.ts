// What `@pannier/rules/compile` offers. Written by `npm run api`.

import type {
  BoundRule,
  RowBudget,
  RuleRecord,
  RuleRecords,
} from '@pannier/rules'

/** The result of `compile`. */
export interface Compiled {
    /** All records that the rule admits, and no others if `isExact`. */
    readonly selection: Selection;
    /** False: ask `evaluate` about each record of the selection. */
    readonly isExact: boolean;
}

/** A field of the record, and the text that it must have. */
export interface RequiredText {
    /** The name of a field of the record. */
    readonly field: string;
    /** The text that the field has. */
    readonly text: string;
}

/** A field of a record, or of what its single relations lead to. */
export interface SortPath {
    /** The path: `author.name` */
    readonly path: string;
    /** The empty value that a missing one counts as. */
    readonly empty: '' | 0 | false;
}

/** The order of two lists of values, up to the first that differs. */
export function compareSortValues(one: readonly unknown[], other: readonly unknown[], descending: readonly boolean[]): number;

/**
 * Compiles a rule for a query planner. What depends on the request and the account alone is answered at once.
 *
 * @example
 * import { compile } from '@pannier/rules/compile'
 *
 * const { selection, isExact } = compile(bound, records)
 * // author.name ?= 'Ann': { kind: 'related', step: 'to', field: 'author', collection: 'users', of: { kind: 'compare', … } }
 */
export function compile(bound: BoundRule, records: RuleRecords): Compiled;

/** A text without which the rule does not admit a record; undefined if there may be other ones. */
export function requiredText(rule: BoundRule): RequiredText | undefined;

/** The `sort` of `bind` as paths, for a query planner. Undefined if one of them is computed: lists, JSON, `:length` and `:lower`. */
export function sortPaths(rule: BoundRule): readonly SortPath[] | undefined;

/**
 * The values that a record is sorted by, for `compareSortValues`. Rows must meet the rule: the first one of a list
 * counts, and the least one by a back-relation.
 *
 * @throws RuleError limit: it tries too many rows
 * @example
 * import { bind, parse } from '@pannier/rules'
 * import { sortValues } from '@pannier/rules/compile'
 *
 * const bound = bind({ schema, collection: 'posts', filter: parse('public = true'), sort: ['tags:length'], now: new Date() })
 * sortValues(bound, post, records) // [2]
 */
export function sortValues(bound: BoundRule, record: RuleRecord, records: RuleRecords, budget?: RowBudget): readonly unknown[];
