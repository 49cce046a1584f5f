// What `@pannier/rules` offers. Written by `npm run api`.

/** An operand that may stand in a call. */
export type Argument = Name | Text | Numeral;

/** The options of `bind`. */
export interface BindOptions {
    /** The schema of all collections. */
    readonly schema: Schema;
    /** Name or id of the collection that the rule is about. */
    readonly collection: string;
    /** A rule of the collection. It may read hidden fields. */
    readonly rule?: Expression | undefined;
    /** The filter of the caller. Where it reads a row that the rule also reads, both speak of the same row. */
    readonly filter?: Expression | undefined;
    /** Paths that a list is sorted by, for `@pannier/rules/compile`: their collections' list rules apply, too. */
    readonly sort?: readonly string[];
    /** Whether the filter may read hidden fields and all collections, as that of a superuser. False by default. */
    readonly trusted?: boolean;
    /** Whether one who is not trusted sees a field in every record, although the field has a view rule. Nobody does by default. */
    readonly sees?: (collection: Collection, field: Field) => boolean;
    /** The request. What is left out is not known here. */
    readonly request?: RuleRequest;
    /** The rule is asked about a record that is not stored yet, as a create rule is. */
    readonly unsaved?: boolean;
    /** The time of `@now`. */
    readonly now: Date;
}

/** A rule that is resolved for one request. Made by `bind`, used by `evaluate`. */
export interface BoundRule {
    /** The collection that it is about. */
    readonly collection: Collection;
    /** Whether it reads rows beside the record: PocketBase then lists in the order of ids. */
    readonly isJoined: boolean;
    /** The collections of these rows. */
    readonly collections: readonly Collection[];
    /** Whether the sort reads addresses of accounts that may hide them. False for those who are trusted. */
    readonly sortsByEmail: boolean;
}

/** A rule or a filter has at most this number of comparisons. */
export const COMPARISONS_MAX = 200;

/** A function with its arguments. */
export interface Call {
    /** The kind tells a call from other operands. */
    readonly kind: 'call';
    /** The name of the function: `geoDistance`, `strftime` or `search`. */
    readonly name: string;
    /** The arguments between the parentheses. */
    readonly of: readonly Argument[];
    /** The position at which its name begins. */
    readonly at: number;
}

/** A collection of a schema. */
export interface Collection {
    /** The id that relations refer to. */
    readonly id: string;
    /** The name in paths. */
    readonly name: string;
    /** Whether its records are accounts, whose `email` has a visibility. */
    readonly isAuth: boolean;
    /** Whether a field is searchable. */
    readonly isSearchable: boolean;
    /** The fields by name. */
    readonly fields: ReadonlyMap<string, Field>;
    /** `''` admits all, `null` only those who are trusted. */
    readonly listRule: string | null;
}

/** A collection in the form of PocketBase's API. Keys that rules do not need are ignored. */
export interface CollectionDefinition {
    /** The id of the collection; the name by default. Relations refer to it. */
    readonly id?: string;
    /** As in a path: `@collection.NAME`, `NAME_via_field`. Upper and lower case are the same. */
    readonly name: string;
    /** `auth`, `base` or `view`. */
    readonly type?: string;
    /** The fields of the collection. `id` is there anyway. */
    readonly fields: readonly FieldDefinition[];
    /** `null` keeps it from filters of those who are not trusted; a rule is added to their filters. */
    readonly listRule?: string | null;
    /** The statements that create its indexes. Only unique ones of a single relation field matter. */
    readonly indexes?: readonly string[];
}

/** Two operands and the operator between them. */
export interface Comparison {
    /** The kind tells a comparison from a junction. */
    readonly kind: 'comparison';
    /** The operator without its `?`. */
    readonly operator: Operator;
    /** Whether any value is enough: with `?`. Without it, every value of a multi-valued path must match. */
    readonly any: boolean;
    /** The left operand. */
    readonly left: Operand;
    /** The right operand. */
    readonly right: Operand;
}

/** A rule or a filter. */
export type Expression = Comparison | Junction;

/** A filter of PocketBase's list route has at most this number of bytes of UTF-8. Rules have no such limit. */
export const FILTER_BYTES_MAX = 3500;

/** A field of a collection. */
export interface Field {
    /** The name in paths. */
    readonly name: string;
    /** PocketBase's name of the type. */
    readonly type: string;
    /** Whether only those who are trusted may filter by it. */
    readonly isHidden: boolean;
    /** Whether those who are not trusted have to be asked about, as a rule says who sees it. */
    readonly isRuled: boolean;
    /** Whether it is a select, file or relation, for `:each` and `:length`. */
    readonly isListable: boolean;
    /** Whether its value is a list. */
    readonly isMany: boolean;
    /** Whether at most one record has a value: a back-relation then leads to one record. */
    readonly isUnique: boolean;
    /** Id or name of the collection that a relation leads to. */
    readonly to: string;
}

/** A field in the form of PocketBase's API. Keys that rules do not need are ignored. */
export interface FieldDefinition {
    /** As in a path. */
    readonly name: string;
    /** A name of one of PocketBase's 14 types. */
    readonly type: string;
    /** Kept from filters of those who are not trusted. */
    readonly hidden?: boolean;
    /** If it is there and not empty, `sees` of `bind` tells who may filter by the field. */
    readonly viewRule?: string | null;
    /** Whether `search()` looks for words in it. */
    readonly searchable?: boolean;
    /** The value of a select, file or relation is a list if this is more than 1. */
    readonly maxSelect?: number;
    /** Id or name of the collection that a relation leads to. */
    readonly collectionId?: string;
}

/** Records that a step leads to. */
export interface FoundRecords {
    /** The records that are known here. */
    readonly records: readonly RuleRecord[];
    /** Whether it is complete. False if there may be others: what depends on them has no answer. */
    readonly isComplete: boolean;
}

/** Expressions that all have to hold (`&&`), or one of them (`||`). */
export interface Junction {
    /** `and` is `&&`, `or` is `||`. */
    readonly kind: 'and' | 'or';
    /** The expressions of it: at least two. */
    readonly of: readonly Expression[];
}

/** A path of fields, a macro, a value of the request, or `null`, `true` and `false`. */
export interface Name {
    /** The kind tells a name from other operands. */
    readonly kind: 'name';
    /** As written: `author.name`, `@request.auth.id`, `tags:each`. */
    readonly name: string;
    /** The position at which it begins in the text. */
    readonly at: number;
}

/** A number. */
export interface Numeral {
    /** The kind tells a number from other operands. */
    readonly kind: 'number';
    /** The value: never infinite, never -0. */
    readonly value: number;
    /** The position at which it begins in the text. */
    readonly at: number;
}

/** One side of a comparison. */
export type Operand = Argument | Call;

/** The operator by which two operands are compared. `~` is "contains". */
export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~' | '!~';

/** The options of `parse`, beside the text. */
export interface ParseOptions {
    /** The greatest number of bytes, as UTF-8; no limit by default. `FILTER_BYTES_MAX` is PocketBase's for filters. */
    readonly bytesMax?: number;
}

/** How many rows may still be read and tried for all records that are asked about together. */
export interface RowBudget {
    /** Each answer takes its rows from it. */
    left: number;
}

/** The result of `check`. */
export interface RuleCheck {
    /** Mistakes: the rule can't be saved. One for each operand at most. */
    readonly errors: readonly RuleError[];
    /** Problems that are allowed and probably wrong: a name of the request that is nearly a field, or a modifier that will fail. */
    readonly warnings: readonly RuleError[];
}

/**
 * The only error that this package throws because of a rule.
 *
 * @example
 * import { parse, RuleError } from '@pannier/rules'
 *
 * try {
 *   parse('titel == 1')
 * } catch (error) {
 *   if (error instanceof RuleError) console.log(error.position, error.message) // 6 'Unknown operator "==". Write "=".'
 * }
 */
export class RuleError extends Error {
    /** The kind of mistake. */
    readonly kind: RuleErrorKind;
    /** The position in the text. */
    readonly position: number;
    /** The hint: the right form, if it is known. It also ends the message. */
    readonly hint: string;
    constructor(kind: RuleErrorKind, problem: string, position: number, hint?: string);
}

/** The kind of mistake that a `RuleError` reports. */
export type RuleErrorKind = 
/** The text is not a rule. */
'syntax'
/** The rule is longer, or has more comparisons, than allowed. */
 | 'limit'
/** A name, modifier or function leads nowhere. */
 | 'unknown'
/** `search()` where no field is searchable. */
 | 'search'
/** The path leads to what the caller may not ask for: a hidden field, or a collection whose list rule is null. */
 | 'forbidden';

/** A record: its fields by name, as PocketBase's API returns them. A missing field is empty. */
export type RuleRecord = Readonly<Record<string, unknown>>;

/**
 * Gives an evaluator the records that a rule leads to. All answers must be of one state of the database.
 *
 * @example
 * import type { RuleRecords } from '@pannier/rules'
 *
 * const all = (collection: string) => [...(tables.get(collection)?.values() ?? [])]
 * const records: RuleRecords = {
 *   get: (collection, id) => tables.get(collection)?.get(id) ?? null,
 *   via: (collection, field, id) => ({
 *     records: all(collection).filter((record) => [record[field]].flat().includes(id)),
 *     isComplete: true,
 *   }),
 *   all: (collection) => ({ records: all(collection), isComplete: true }),
 * }
 */
export interface RuleRecords {
    /** The record with an id; `null` if no record has it, and undefined if that is not known here. */
    get(collection: string, id: string): RuleRecord | null | undefined;
    /** All records of a collection whose relation has the id. */
    via(collection: string, field: string, id: string): FoundRecords;
    /** All records of a collection, for `@collection`. */
    all(collection: string): FoundRecords;
    /** Whether a record has the words of `search()`; undefined if that is not known here. Without it, that never is. */
    finds?(collection: string, record: RuleRecord, words: string): boolean | undefined;
    /** Whether the values of a field are known here; all are, by default. An app does not have hidden fields. */
    knows?(collection: string, field: string): boolean;
}

/**
 * The request that a rule is about. What is left out is not known here, as in an app that asks what a server would say.
 * Conditions on it have no answer then.
 */
export interface RuleRequest {
    /** The account that asks, and its collection. `null` is a guest. */
    readonly auth?: {
        readonly collection: string;
        readonly record: RuleRecord;
    } | null;
    /** `@request.body.*` */
    readonly body?: Readonly<Record<string, unknown>>;
    /** `@request.query.*` */
    readonly query?: Readonly<Record<string, string>>;
    /** `@request.headers.*`: names in lower case, with `_` for `-`. */
    readonly headers?: Readonly<Record<string, string>>;
    /** `@request.method`: `GET`, `POST` and so on. */
    readonly method?: string;
    /** `@request.context`: `default`, `oauth2`, `otp`, `password`, `realtime`, `protectedFile`, `batch` or `expand`. */
    readonly context?: string;
}

/** Made by `createSchema`. */
export interface Schema {
    /** Finds a collection by its name, in any case, or by its id. */
    find(nameOrId: string): Collection | undefined;
    /** All collections. */
    readonly collections: readonly Collection[];
}

/** A text in quotes. */
export interface Text {
    /** The kind tells a text from other operands. */
    readonly kind: 'text';
    /** The value without quotes, its escapes resolved. */
    readonly value: string;
    /** The position at which its quote begins. */
    readonly at: number;
}

/**
 * Makes a rule, a filter or both ready for `evaluate`. Throws a `RuleError` where a name leads nowhere.
 *
 * @example
 * const bound = bind({ schema, collection: 'posts', rule: parse('author = @request.auth.id'), request: { auth: null }, now: new Date() })
 * evaluate(bound, post, records) // false: a guest is not the author
 */
export function bind(options: BindOptions): BoundRule;

/**
 * Checks a rule against a schema, with positions and the nearest names.
 *
 * @example
 * const { errors } = check("titel = 'a' && author.nam != ''", schema, 'posts')
 * errors.map(({ position, hint }) => [position, hint]) // [[0, 'Write "title".'], [22, 'Write "name".']]
 */
export function check(rule: string | Expression, schema: Schema, collection: string): RuleCheck;

/**
 * Reads definitions of collections, as PocketBase exports them.
 *
 * @example
 * const schema = createSchema([{ name: 'posts', fields: [{ name: 'title', type: 'text' }] }])
 * check("titel = 'a'", schema, 'posts') // [RuleError: Unknown field "titel". Write "title".]
 */
export function createSchema(definitions: readonly CollectionDefinition[]): Schema;

/**
 * Whether a rule admits a record: true, false, or undefined where that can't be known here.
 * @throws RuleError limit: it reads or tries too many rows
 *
 * @example
 * const answer = evaluate(bound, post, records)
 * if (answer === undefined) askTheServer()
 */
export function evaluate(bound: BoundRule, record: RuleRecord, records: RuleRecords, budget?: RowBudget): boolean | undefined;

/**
 * Parses a rule or a filter. Throws a `RuleError` with the position of the mistake, and never another error.
 *
 * @example
 * const rule = parse('published = true || author = @request.auth.id')
 * print(rule) // 'published = true || author = @request.auth.id'
 */
export function parse(text: string, { bytesMax }?: ParseOptions): Expression;

/**
 * Writes a rule in its shortest form: no comments, no needless parentheses.
 *
 * @example
 * print(parse('( title ~ "a" ) // draft')) // "title ~ 'a'"
 */
export function print(expression: Expression): string;
