/**
 * Types of paths, selectors and projections by the types of documents; nothing of it is there at run time.
 *
 * A type with a string index (`Record<string, unknown>`) is loose: any path, any condition. Paths are listed to a depth of
 * `Depth` names and are free from there on, so that types that contain themselves end, and large ones stay fast.
 */
import type { JsonValue } from './ast/predicate.ts'
import type { ValueType } from './ast/value-set.ts'

/** Dotted paths of the fields of a document: 'age', 'address.city', 'tags.0'. A dot in a name is written '\\.', unchecked. */
export type FieldPath<T> = IsLoose<T> extends true ? string : PathOf<T, Depth> | FreePath

/** The value at a path; undefined is part of it where the field may be missing. */
export type FieldValue<T, Path extends string> = unknown extends T
  ? unknown
  : string extends Path
    ? unknown
    : T extends readonly (infer Element)[]
      ? Path extends `${number}`
        ? Element | undefined
        : Path extends `${number}.${infer Rest}`
          ? FieldValue<Element, Rest> | undefined
          : undefined
      : T extends object
        ? Path extends keyof T
          ? T[Path]
          : Path extends `${infer Name}.${infer Rest}`
            ? Name extends keyof T
              ? FieldValue<T[Name], Rest>
              : undefined
            : undefined
        : undefined

/** Conditions by field, as in CouchDB's Mango; docs/internals/query-planner.md has all of them. */
export type Selector<T> = FieldConditions<T> & Combinations<T>

/** Selectors that are joined. */
interface Combinations<T> {
  readonly $and?: readonly Selector<T>[]
  readonly $or?: readonly Selector<T>[]
  readonly $nor?: readonly Selector<T>[]
  readonly $not?: Selector<T>
}

/** A condition on a field: a value that it must equal, operators, or conditions on fields inside it. */
export type FieldCondition<Value> = unknown extends Value
  ? unknown
  : EqualTo<Operand<Value>> | (Operators<Operand<Value>> & InnerConditions<ObjectIn<Value>> & QuantifiersOf<Value>)

/** Conditions on a path that ends with a relation. */
export interface Quantifiers<Document> {
  /** Some related document meets all of it. */
  readonly $some?: Selector<Document>
  /** There are related documents, and all of them meet it. */
  readonly $every?: Selector<Document>
  /** No related document meets it. */
  readonly $none?: Selector<Document>
}

/** Marks a related document among the values of a field. */
declare const target: unique symbol

/** A related document where its id stands. */
export interface Target<Document> {
  /** Not there at run time. */
  readonly [target]?: Document
}

type QuantifiersOf<Value> = [TargetOf<Value>] extends [never] ? unknown : Quantifiers<TargetOf<Value>>

type TargetOf<Value> = Value extends Target<infer Document> ? (unknown extends Document ? never : Document) : never

interface Operators<Value> {
  readonly $eq?: Value
  readonly $ne?: Value
  readonly $gt?: Wide<Value> | null
  readonly $gte?: Wide<Value> | null
  readonly $lt?: Wide<Value> | null
  readonly $lte?: Wide<Value> | null
  readonly $in?: readonly Value[]
  readonly $nin?: readonly Value[]
  readonly $exists?: boolean
  readonly $beginsWith?: Text<Value>
  /** Text that stands in it somewhere, upper or lower case. */
  readonly $contains?: Text<Value>
  /** The source of a RegExp; `$options` are its flags. */
  readonly $regex?: Text<Value>
  readonly $options?: Text<Value>
  readonly $type?: ValueType
  readonly $mod?: Extract<Value, number> extends never ? never : readonly [divisor: number, remainder: number]
  readonly $size?: number
  readonly $all?: readonly ElementIn<Value>[]
  /** Conditions on the element itself, or on its fields. */
  readonly $elemMatch?: ElementCondition<ElementIn<Value>>
  readonly $allMatch?: ElementCondition<ElementIn<Value>>
  /** Conditions on the names of an object's fields. */
  readonly $keyMapMatch?: Operators<string>
  readonly $not?: FieldCondition<Value>
  readonly $and?: readonly FieldCondition<Value>[]
  readonly $or?: readonly FieldCondition<Value>[]
  readonly $nor?: readonly FieldCondition<Value>[]
}

/** The operand of equality for a field; any JSON value if its type is unknown. */
export type Equal<Value> = unknown extends Value ? JsonValue : Operand<Value> | null

/** The operand of an order for a field. */
export type Bound<Value> = unknown extends Value ? JsonValue : Wide<Operand<Value>> | null

/** The element of an array. */
export type Element<Value> = unknown extends Value ? JsonValue : ElementIn<NonNullable<Value>>

/** The beginning of a string; never, where the field holds none. */
export type Prefix<Value> = unknown extends Value ? string : Text<Operand<Value>>

type ElementIn<Value> = Value extends readonly (infer Element)[] ? Element : never

type ElementCondition<Element> = [Element] extends [never]
  ? never
  : unknown extends Element
    ? Readonly<Record<string, unknown>>
    : Operators<Element> & InnerConditions<ObjectIn<Element>>

/** Exactly these fields of a document; a dotted path gives objects inside it. */
export type Projected<T, Path extends string> =
  IsLoose<T> extends true
    ? Partial<T>
    : string extends Path
      ? Partial<T>
      : T extends unknown
        ? Flat<
            Pick<T, Extract<Path, keyof T>> & {
              [Name in keyof T as Nested<T, Name, Path, true>]: Inner<T[Name], RestOf<Path, Name>>
            } & {
              [Name in keyof T as Nested<T, Name, Path, false>]?: Inner<T[Name], RestOf<Path, Name>>
            }
          >
        : never

/** Names of a path that is checked; longer ones are not. */
type Depth = 4
type Less = [never, 0, 1, 2, 3]

type IsLoose<T> = string extends keyof T ? true : false

/** Unchecked paths: names with dots, and paths of more names than `Depth`. One pattern for all is fast to compare. */
type FreePath = `${string}\\.${string}` | `${string}.${string}.${string}.${string}.${string}`

type PathOf<T, Left extends Less[number] | Depth> = T extends unknown
  ? {
      [Name in keyof T & string]: Name extends `${string}.${string}`
        ? never
        : Name | `${Name}.${PathIn<T[Name], Less[Left]>}`
    }[keyof T & string]
  : never

/** Paths inside the value of a field. Values that are not stored as objects (a Date, a function) have none. */
type PathIn<Value, Left extends Less[number]> = unknown extends Value
  ? string
  : Value extends Primitive | Date
    ? never
    : Value extends readonly (infer Element)[]
      ? [Left] extends [0]
        ? never
        : `${number}` | `${number}.${PathIn<Element, Less[Left]>}`
      : Value extends object
        ? IsLoose<Value> extends true
          ? string
          : [Left] extends [0]
            ? never
            : PathOf<Value, Left>
        : never

type FieldConditions<T> =
  IsLoose<T> extends true
    ? { readonly [Name in NamedKey<T>]?: FieldCondition<T[Name]> } & { readonly [path: string]: unknown }
    : { readonly [Path in FieldPath<T>]?: Path extends FreePath ? unknown : FieldCondition<FieldValue<T, Path>> }

/** The keys of a loose type that it names. */
type NamedKey<T> = keyof {
  [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: unknown
} &
  keyof T

/** The operand of a condition. A condition on an array concerns its elements, or the whole. */
type Operand<Value> = Value extends undefined | Date
  ? never
  : Value extends readonly (infer Element)[]
    ? Value | Element
    : Value

/** Asked before `object`: a branded text or number (`string & { __brand: 'Id' }`) is both. */
type Primitive = string | number | boolean | null | undefined

/** An object is not compared with but has conditions inside. */
type EqualTo<Value> = Value extends Primitive | readonly unknown[] ? Value : Value extends object ? never : Value

type ObjectIn<Value> = Value extends Primitive | readonly unknown[] ? never : Value extends object ? Value : never

type InnerConditions<Value> = [Value] extends [never] ? unknown : FieldConditions<Value>

/** Any string where literals are declared: bounds need not be one of them. */
type Wide<Value> = Value extends string
  ? string
  : Value extends number
    ? number
    : Value extends boolean
      ? boolean
      : Value

type Text<Value> = Extract<Value, string> extends never ? never : string

/** The name of a field if only parts of it are wanted: required if it surely exists, otherwise optional. */
type Nested<T, Name extends keyof T, Path extends string, Sure extends boolean> = Name extends Path
  ? never
  : [RestOf<Path, Name>] extends [never]
    ? never
    : IsSure<T[Name], RestOf<Path, Name>> extends Sure
      ? Name
      : never

type RestOf<Path extends string, Name> = Name extends string
  ? Path extends `${Name}.${infer Rest}`
    ? Rest
    : never
  : never

/** Also parts of an array come as an object. */
type Inner<Value, Path extends string> = unknown extends Value
  ? unknown
  : Value extends readonly (infer Element)[]
    ? { [Index in `${number}`]?: Path extends `${number}` ? Element : unknown }
    : Value extends object
      ? Projected<Value, Path>
      : never

/** Whether the object is there whenever the document is: only with a field that is. */
type IsSure<Value, Path extends string> = unknown extends Value
  ? false
  : [Value] extends [readonly unknown[]]
    ? false
    : [Value] extends [object]
      ? Partial<Record<never, never>> extends Inner<Value, Path>
        ? false
        : true
      : false

type Flat<T> = { [Name in keyof T]: T[Name] }
