// What `@pannier/rules/cut` offers. Written by `npm run api`.

import type {
  Collection,
  Expression,
  RuleError,
  RuleRecord,
  RuleRecords,
  Schema,
} from '@pannier/rules'

/** An alternative: conditions that must hold together. */
export interface Alternative {
    /** Equal keys have equal `ground`, `range` and `own` of every record, also between accounts of several collections. */
    readonly key: string;
    /** Conditions on own values alone. */
    readonly record: readonly AtomNumber[];
    /** Conditions on the account alone. */
    readonly account: readonly AtomNumber[];
    /** The set that finds the records; undefined if all records have to be asked. */
    readonly ground: OwnSet | undefined;
    /** The range of a bound that finds them, too. */
    readonly range: OwnRange | undefined;
    /** Other sets that an own value must be in. */
    readonly sets: readonly OwnSet[];
    /** Other conditions on own values and the account or the clock. */
    readonly tests: readonly {
        readonly atoms: readonly AtomNumber[];
        readonly clock: boolean;
    }[];
    /** The own fields that `sets` and `tests` read, by name. */
    readonly own: readonly string[];
    /** Whether what the account computes may change with time alone. */
    readonly isTimed: boolean;
}

/** One alternative, in the comparisons of the rule. */
export interface AlternativeCost {
    /** The kind of the alternative, as the letters above. */
    readonly cost: CutCost;
    /** How its records are found: `project is one of the ids of "projects"`; '' if all are. */
    readonly foundBy: string;
    /** Comparisons that the record decides alone. */
    readonly record: readonly string[];
    /** Comparisons that the account decides alone. */
    readonly account: readonly string[];
    /** Comparisons that are tested for each record that is found. */
    readonly tested: readonly string[];
    /** Where in the rule the comparison begins that makes it class D, from 0. `null`: it is of another class. */
    readonly position: number | null;
}

/** A comparison of a rule, or its match-all: twice the place of the comparison, and one more for the match-all. */
export type AtomNumber = number;

/** A rule that is cut, for the accounts of one collection or for guests. */
export interface Cut extends CutOptions {
    /** A record is admitted if one of them admits it. */
    readonly alternatives: readonly Alternative[];
    /** The parts that can't be cut, with positions in the rule. If there is one, the alternatives say nothing. */
    readonly problems: readonly RuleError[];
    /** The collections of other records that the rule reads. */
    readonly collections: readonly Collection[];
}

/**
 * A: found by a set of values, exactly. B: found by it, and each is tested. C: found by a bound. D: each record of the collection is
 * tested, for each account. E: it can't be synced.
 */
export type CutCost = 'A' | 'B' | 'C' | 'D' | 'E';

/** The options of `cut`. */
export interface CutOptions {
    /** The schema of all collections. */
    readonly schema: Schema;
    /** Name or id of the collection that the rule is about. */
    readonly collection: string;
    /** A rule of the collection, such as its list rule. */
    readonly rule: Expression;
    /** The collection of the accounts that ask; `null` for guests. */
    readonly accounts: string | null;
}

/** The holding of one alternative. It is plain data, and equal holdings have equal texts. */
export interface Holding {
    /** The values of the ground; undefined if it has none. Sorted. */
    readonly grounds?: readonly string[];
    /** The bound of a range by the account. */
    readonly bound?: SqlValue;
    /** The set of values for each of `sets`. */
    readonly sets: readonly ValueSet[];
    /** The values of the account and of related records that `tests` read. */
    readonly account?: Parameters;
}

/** The holding of each alternative; `null` where the account holds nothing of it. */
export type Holdings = readonly (Holding | null)[];

/** An own value beside one of the account or of the clock. */
export interface OwnRange {
    /** The own field. */
    readonly field: string;
    /** The operator between the own value and the other one. */
    readonly operator: '<' | '<=' | '>' | '>=';
    /** The source of the other value. */
    readonly by: 'account' | 'clock';
    /** The number of the comparison (atom) that it stands for. */
    readonly atoms: readonly AtomNumber[];
}

/** A test of the record's own values beside a set of values that an account computes from other records. */
export interface OwnSet {
    /** One own field, or several whose values stand together. */
    readonly fields: readonly string[];
    /** Where the values of the set come from. */
    readonly step: SetStep;
    /** Whether each value of the field must pass, or one. */
    readonly isEvery: boolean;
    /** Whether the set depends on the account; else everybody has the same one. */
    readonly ofAccount: boolean;
    /** The numbers of the comparisons (atoms) that it stands for. */
    readonly atoms: readonly AtomNumber[];
}

/** The part of an account and of its records that a rule reads. */
export interface Parameters {
    /** The account itself, cut to what is read. */
    readonly record: RuleRecord;
    /** By collection. */
    readonly records: Readonly<Record<string, readonly RuleRecord[]>>;
}

/** The record's side of an alternative: the same for all accounts. */
export interface RecordSide {
    /** The values of the ground; `['*']` if it has none. */
    readonly grounds: readonly string[];
    /** The value of the range; `null` without one. */
    readonly range: SqlValue;
    /** The own fields that sets and tests read. */
    readonly own: RuleRecord;
}

/** The cost of a cut rule. */
export interface RuleCost {
    /** The cost of the dearest alternative. */
    readonly cost: CutCost;
    /** The cost of each alternative of the rule; empty for class E. */
    readonly alternatives: readonly AlternativeCost[];
}

/** Which values a set has, by what leads from the record's own field to other records. */
export type SetStep = 
/** Values of the account itself. */
{
    readonly kind: 'account';
}
/** Ids of related records. */
 | {
    readonly kind: 'to';
    readonly collection: string;
}
/** Ids that a relation of other records has. */
 | {
    readonly kind: 'from';
    readonly collection: string;
    readonly field: string;
}
/** Values that other records have in these fields, in the order of the own ones. */
 | {
    readonly kind: 'any';
    readonly collection: string;
    readonly fields: readonly string[];
};

/** A set of values, or what is not in one. Several own fields have their values as the text of a list. */
export interface ValueSet {
    /** False: the values are those that are not in the set. */
    readonly isIn: boolean;
    /** The values, sorted. */
    readonly values: readonly string[];
}

/** The view of an account with these holdings at a time. */
export class Viewer {
    constructor(rule: Cut, holdings: Holdings, now: Date);
    /** Whether the account sees a record. */
    shows(record: RuleRecord): boolean;
    /** Whether an alternative shows a record. */
    showsBy(index: number, record: RuleRecord): boolean;
    /** Whether the account has a ground of an alternative. */
    holds(index: number, ground: string): boolean;
    /** Whether the values beside the ground meet the range, the sets and the tests of an alternative. */
    admits(index: number, { range: value, own }: Pick<RecordSide, 'range' | 'own'>): boolean;
    /** The bound of the range of an alternative; `null` if nothing is within it, or there is no range. */
    bound(index: number): SqlValue;
}

/**
 * Says what a cut rule costs.
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { costOf, cut } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const { cost, alternatives } = costOf(cut({ schema, collection: 'tasks', rule, accounts: 'users' }))
 * // 'A', [{ cost: 'A', foundBy: 'project is one of the ids of "projects"', … }]
 */
export function costOf(rule: Cut): RuleCost;

/**
 * Cuts a rule. The result depends on the schema and on the collection of the accounts, and on no account and no record.
 *
 * @throws RuleError unknown: a name leads nowhere
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { cut } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const { alternatives } = cut({ schema, collection: 'tasks', rule, accounts: 'users' })
 * alternatives[0]?.ground // { fields: ['project'], step: { kind: 'to', collection: 'projects' }, … }
 */
export function cut(options: CutOptions): Cut;

/**
 * Computes what an account holds. All records must be known, and of one state.
 *
 * @example
 * import { parse } from '@pannier/rules'
 * import { cut, holdingsOf } from '@pannier/rules/cut'
 *
 * const rule = parse('project.members.id ?= @request.auth.id')
 * const tasks = cut({ schema, collection: 'tasks', rule, accounts: 'users' })
 * const holdings = holdingsOf(tasks, { id: 'ann' }, records, new Date())
 * holdings[0]?.grounds // the ids of the projects that Ann is a member of
 */
export function holdingsOf(rule: Cut, account: RuleRecord | null, records: RuleRecords, now: Date): Holdings;

/** The record's side of an alternative; undefined if its own values do not meet it. */
export function recordSide(rule: Cut, alternative: Alternative, record: RuleRecord): RecordSide | undefined;

/** A value of SQLite. Booleans are 1 and 0, lists and objects are their JSON. */
type SqlValue = string | number | null;
