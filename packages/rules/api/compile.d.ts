// What `@pannier/rules/compile` offers. Written by `npm run api`.

import type {
  BoundRule,
  RowBudget,
  RuleRecord,
  RuleRecords,
} from '@pannier/rules'

/** All of them hold, or one of them. An empty `and` is every record, an empty `or` is no record. */
export interface Combination {
    /** Tells it from other selections. */
    readonly kind: 'and' | 'or';
    /** In the order of the rule. */
    readonly of: readonly Selection[];
}

/** What `compile` makes. */
export interface Compiled {
    /** All records that the rule admits, and no others if `isExact`. */
    readonly selection: Selection;
    /** False: ask `evaluate` about each record of the selection. */
    readonly isExact: boolean;
}

/** Every record that the selection does not have. */
export interface Complement {
    /** Tells it from other selections. */
    readonly kind: 'not';
    /** What the record is not in. */
    readonly of: Selection;
}

/** A list has an element. */
export interface ElementSelection {
    /** Tells it from other selections. */
    readonly kind: 'element';
    /** The list. */
    readonly field: string;
    /** What the element meets; its field is `''`. */
    readonly of: Selection;
}

/** A stored value beside a known one of the same type. Texts are in the order of their code points. */
export interface FieldComparison {
    /** Tells it from other selections. */
    readonly kind: 'compare';
    /** The field; `''` is the element of a list. */
    readonly field: string;
    /** Whether the number of a list's elements is compared. */
    readonly isLength: boolean;
    readonly operator: SelectionOperator;
    /** It has the field's type; a length is a number. */
    readonly value: string | number | boolean;
}

/** What no index answers: a function of one record alone. */
export interface RecordTest {
    /** Tells it from other selections. */
    readonly kind: 'test';
    /** The fields that it reads; `''` is the element of a list. */
    readonly fields: readonly string[];
    /** Whether it holds for a record, or for `{ '': ELEMENT }`. */
    readonly holds: (record: RuleRecord) => boolean;
}

/** Some record one step away meets all of `of`. */
export interface RelatedSelection {
    /** Tells it from other selections. */
    readonly kind: 'related';
    /**
     * `to`: the records whose ids are in `field`. `from`: the records whose `field` has this record's id. `any`: all records of the
     * collection.
     */
    readonly step: 'to' | 'from' | 'any';
    /** The related collection. */
    readonly collection: string;
    /** The relation; `''` is the element of a list. */
    readonly field: string;
    /** Pairs of equal texts: a field of the related record, and one of this record. For `any` only. */
    readonly on: readonly (readonly [related: string, own: string])[];
    /** What the related record meets. */
    readonly of: Selection;
}

/** A field of the record, and the text that it must have. */
export interface RequiredText {
    readonly field: string;
    readonly text: string;
}

/** Records of one collection, by their fields and by related records. */
export type Selection = Combination | Complement | FieldComparison | WordSearch | RecordTest | ElementSelection | RelatedSelection;

/** How a stored value is compared. `contains` ignores the case of ASCII only. */
export type SelectionOperator = '=' | '<' | '<=' | '>' | '>=' | 'contains';

/** A field of a record, or of what its single relations lead to. */
export interface SortPath {
    /** `author.name` */
    readonly path: string;
    /** What a missing value counts as. */
    readonly empty: '' | 0 | false;
}

/** The record has the words, in fields that are searchable. */
export interface WordSearch {
    /** Tells it from other selections. */
    readonly kind: 'search';
    /** Words, starts of words and phrases, as written. */
    readonly text: string;
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

/** One of the texts without which the rule does not admit a record; undefined if there may be others. */
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
